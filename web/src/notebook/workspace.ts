// SPDX-License-Identifier: Apache-2.0
// The notebooks that are open. They stay while another view is shown, so that their cells go on.
import type { SessionInfo, Variable } from "adder-client";
import { signal } from "@preact/signals";
import { Ended, NotFound } from "../../../clients/typescript/src/errors.js";
import { adder } from "../app/api.js";
import { oncePerFrame } from "./frames.js";
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
  /** What the session was like when its variables were last read. Reading them changes nothing of it, but is told as a change. */
  #known = "";
  readonly #soon = oncePerFrame(() => void this.refresh().catch(() => undefined));

  constructor(notebook: Notebook) {
    this.notebook = notebook;
    this.runner = new Runner(notebook);
    this.runner.onSettled = () => {
      this.#known = "";
      this.filesVersion.value++;
      this.#soon();
    };
  }

  /** Looks soon how the session is. */
  refreshSoon(): void {
    this.#soon();
  }

  /** Looks how the session is, which variables it has, and which cells ran elsewhere. */
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
    const { notebook } = this;
    const info = await sessionInfo(notebook.sessionId);
    if (!info) {
      if (!notebook.ended.peek() && notebook.info.peek()) notebook.info.value = { ...(notebook.info.peek() as SessionInfo), state: "ended" };
      return;
    }
    notebook.know(info);
    if (info.state === "ended" || this.runner.running.peek()) return;
    const now = `${info.cells} ${info.variables}`;
    if (now === this.#known) return;
    await takeHistory(notebook).catch(() => undefined);
    if (info.state !== "idle") return;
    this.#known = now;
    const session = await adder.sessions.get(notebook.sessionId);
    this.variables.value = await session.variables().catch(() => this.variables.peek());
  }
}

/** undefined: there is none, or it is not known any more. Fails where the daemon does not answer. */
export async function sessionInfo(session: string): Promise<SessionInfo | undefined> {
  try {
    return (await adder.sessions.get(session)).info;
  } catch (error) {
    if (error instanceof NotFound || error instanceof Ended) return undefined;
    throw error;
  }
}

const opened = new Map<string, Workspace>();

/** The workspace of the session, from what this browser keeps and from what the session ran. undefined: neither is there. */
export async function openWorkspace(session: string): Promise<Workspace | undefined> {
  const there = opened.get(session);
  if (there) {
    there.refreshSoon();
    return there;
  }
  const info = await sessionInfo(session).catch(() => undefined);
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
  await workspace.refresh().catch(() => undefined);
  const [first] = notebook.cells.peek();
  if (!notebook.current && first) notebook.selected.value = first.id;
  const interrupted = notebook.cells.peek().find((cell) => cell.runId);
  if (interrupted && !notebook.ended.peek()) void workspace.runner.resume(interrupted);
  return workspace;
}

/** A workspace for a session that was made just now. */
export async function adopt(info: SessionInfo, fill: (notebook: Notebook) => void): Promise<Workspace> {
  const notebook = new Notebook(info.session_id);
  notebook.know(info);
  notebook.take([]);
  fill(notebook);
  const workspace = new Workspace(notebook);
  opened.set(info.session_id, workspace);
  await notebook.save();
  workspace.refreshSoon();
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
