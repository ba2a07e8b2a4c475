// SPDX-License-Identifier: Apache-2.0
// The notebooks that are open. They stay while another view is shown, so that their cells go on.
import type { SessionInfo, Variable } from "adder-client";
import { signal } from "@preact/signals";
import { Ended, NotFound } from "../../../clients/typescript/src/errors.js";
import { adder } from "../app/api.js";
import { oncePerFrame } from "../parts/frames.js";
import { hearingTime, heardSince, knownSession } from "./live_sessions.js";
import { Notebook } from "./notebook.js";
import { Runner } from "./runner.js";
import { takeHistory } from "./session_history.js";
import { loadNotebook, type StoredNotebook } from "./store.js";

/** One notebook with all that works on it. */
export class Workspace {
  readonly notebook: Notebook;
  readonly runner: Runner;
  readonly variables = signal<Variable[]>([]);
  /** Grows when files of the session may have changed. */
  readonly filesVersion = signal(0);
  #refreshing = false;
  #again = false;
  /** What the session was like when its cells and variables were last read. */
  #known = "";
  readonly #soon = oncePerFrame(() => void this.refresh().catch(() => undefined));

  constructor(notebook: Notebook) {
    this.notebook = notebook;
    this.runner = new Runner(notebook);
    this.runner.onSettled = () => {
      this.filesVersion.value++;
      this.#soon();
    };
  }

  /** Takes how the session is now. undefined: there is none any more. */
  learn(info: SessionInfo | undefined): void {
    const { notebook } = this;
    const before = notebook.info.peek();
    if (info) notebook.know(info);
    else if (before) notebook.know({ ...before, state: "ended" });
    this.#soon();
  }

  /** Asks how the session is, where no event will tell. */
  async ask(): Promise<void> {
    this.learn(await sessionInfo(this.notebook.sessionId));
  }

  /** Reads which cells ran elsewhere, and which variables there are, if the session has changed. */
  async refresh(): Promise<void> {
    if (this.#refreshing) {
      this.#again = true;
      return;
    }
    this.#refreshing = true;
    try {
      do {
        this.#again = false;
        await this.#look();
      } while (this.#again);
    } finally {
      this.#refreshing = false;
    }
  }

  async #look(): Promise<void> {
    const { notebook, runner } = this;
    const info = notebook.info.peek();
    if (!info || notebook.ended.peek() || runner.running.peek()) return;
    const isBusy = info.state === "busy";
    const now = `${info.cells} ${info.variables}`;
    if (now === this.#known && !isBusy) return;
    // When a cell of the page began meanwhile, its end brings this here again.
    if (notebook.seen.size < info.cells - Number(isBusy) && !(await takeHistory(notebook, runner))) return;
    if (isBusy) return;
    this.variables.value = info.variables > 0 ? await notebook.session().variables() : [];
    this.#known = now;
  }
}

/** undefined: there is none, or it is not known any more. Fails where the daemon does not answer. */
async function sessionInfo(session: string): Promise<SessionInfo | undefined> {
  try {
    return (await adder.sessions.get(session)).info;
  } catch (error) {
    if (error instanceof NotFound || error instanceof Ended) return undefined;
    throw error;
  }
}

/** The same, and no event told of it meanwhile. */
async function currentInfo(session: string): Promise<SessionInfo | undefined> {
  for (;;) {
    const then = hearingTime();
    const info = await sessionInfo(session);
    if (!info || !heardSince(info.session_id, then)) return info;
  }
}

const opened = new Map<string, Workspace>();

/** The workspace of the session, from what this browser keeps and from what the session ran. undefined: neither is there. */
export async function openWorkspace(session: string): Promise<Workspace | undefined> {
  const there = opened.get(session);
  if (there) return there;
  const info = await currentInfo(session).catch(() => undefined);
  const stored = await loadNotebook(info?.session_id ?? session).catch(() => undefined);
  if (!info && !stored) return undefined;
  return begin(info, stored);
}

async function begin(info: SessionInfo | undefined, stored: StoredNotebook | undefined): Promise<Workspace> {
  const id = info?.session_id ?? (stored as StoredNotebook).sessionId;
  const there = opened.get(id);
  if (there) return there;
  const notebook = stored ? Notebook.restored(stored) : new Notebook(id);
  const workspace = new Workspace(notebook);
  opened.set(id, workspace);
  if (info) notebook.know(info);
  if (!stored) notebook.take([]);
  const interrupted = notebook.cells.peek().find((cell) => cell.runId);
  // Before the history is read, which may have that run already.
  if (interrupted && info && !notebook.ended.peek()) void workspace.runner.resume(interrupted);
  else if (info?.state === "ended") await takeHistory(notebook, workspace.runner).catch(() => undefined);
  else await workspace.refresh().catch(() => undefined);
  return workspace;
}

/** The workspace of a session that was made just now, which may be shown already. */
export async function adopt(info: SessionInfo, fill: (notebook: Notebook) => void): Promise<Workspace> {
  const workspace = opened.get(info.session_id) ?? new Workspace(new Notebook(info.session_id));
  const { notebook } = workspace;
  opened.set(info.session_id, workspace);
  if (!notebook.info.peek()) notebook.know(knownSession(info.session_id) ?? info);
  notebook.take([]);
  fill(notebook);
  await notebook.save();
  void workspace.refresh().catch(() => undefined);
  return workspace;
}

export function openedWorkspace(sessionId: string): Workspace | undefined {
  return opened.get(sessionId);
}

export function openedWorkspaces(): Workspace[] {
  return [...opened.values()];
}

export function closeWorkspace(sessionId: string): void {
  opened.delete(sessionId);
}
