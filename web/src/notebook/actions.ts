// SPDX-License-Identifier: Apache-2.0
// What a user does with a notebook, by key, button or drop.
import type { SessionInfo, SessionOptions } from "adder-client";
import { Conflict } from "../../../clients/typescript/src/errors.js";
import { caller } from "../app/caller.js";
import { go } from "../app/router.js";
import { saveBlob } from "../output/save.js";
import { say } from "../parts/toasts.js";
import { Cell } from "./cell.js";
import { fromIpynb, toIpynb } from "./ipynb.js";
import { forget, newSession } from "./sessions.js";
import { sessionTitle } from "./words.js";
import { adopt, type Workspace } from "./workspace.js";

const LONGEST_INLINE = 8 * 1024 * 1024; // bytes of a file that is sent with a cell

/** Runs CELL, and goes on to the next one, stays, or begins a new one below. */
export function runCell({ notebook, runner }: Workspace, cell: Cell, then: "next" | "stay" | "insert"): void {
  if (cell.type.peek() === "markdown") cell.editing.value = false;
  else if (notebook.ended.peek()) say("The session has ended. Start a new one to run cells.", true);
  else runner.enqueue([cell]);
  notebook.select(cell);
  if (then === "insert") notebook.insertBeside(1, true);
  if (then !== "next") return;
  const isLast = notebook.at(cell) === notebook.cells.peek().length - 1;
  if (isLast) notebook.insertBeside(1, true);
  else notebook.step(1);
}

export function runAll({ notebook, runner }: Workspace): void {
  runner.enqueue(notebook.cells.peek());
}

/** Begins to edit the selected cell. */
export function editCell({ notebook }: Workspace, cell: Cell | undefined): void {
  if (!cell) return;
  if (cell.type.peek() === "markdown") cell.editing.value = true;
  notebook.select(cell, true);
}

export function exportNotebook({ notebook }: Workspace): void {
  const { cells, metadata } = notebook.stored();
  const name = sessionTitle({ name: notebook.name, session_id: notebook.sessionId });
  saveBlob(new Blob([toIpynb(cells, metadata)], { type: "application/x-ipynb+json" }), `${name}.ipynb`);
}

/** A new session with the cells of an .ipynb file. Fails with one sentence if it is none. */
export async function importNotebook(file: File): Promise<void> {
  const { cells, metadata } = fromIpynb(await file.text());
  const info = await namedSession(nameOf(file.name), {});
  const workspace = await adopt(info, (notebook) => {
    notebook.metadata = metadata;
    notebook.take(cells);
  });
  go("notebook", [workspace.notebook.sessionId]);
  say(`${file.name} is open in the new session ${sessionTitle(info)}. Nothing has run yet.`);
}

/** A new session in place of one that has ended, with its files and its cells; then all of them run. */
export async function startAgain(workspace: Workspace): Promise<void> {
  const { notebook } = workspace;
  const before = notebook.sessionId;
  const options = { environment: notebook.environment ?? undefined, profile: notebook.profile ?? undefined };
  const info = await withUploads(notebook.name, options, workspace);
  const { wallMs, uploads, metadata } = notebook;
  const next = await adopt(info, (fresh) => {
    Object.assign(fresh, { wallMs, uploads, metadata });
    fresh.cells.value = notebook.cells.peek();
    fresh.selected.value = notebook.selected.peek();
  });
  go("notebook", [info.session_id], { replace: true });
  await forget(before);
  runAll(next);
}

/** The uploaded files are placed again; without them if the daemon does not have them any more. */
async function withUploads(name: string | null, options: SessionOptions, { notebook }: Workspace): Promise<SessionInfo> {
  const files = Object.fromEntries(notebook.uploads.map((upload) => [upload.name, upload]));
  if (notebook.uploads.length === 0) return namedSession(name, options);
  try {
    return await namedSession(name, { ...options, files });
  } catch {
    say("The uploaded files are no longer stored. Upload them again if cells need them.", true);
    return namedSession(name, options);
  }
}

/** A new session of that name, or without one if another session has it. */
async function namedSession(name: string | null, options: SessionOptions): Promise<SessionInfo> {
  try {
    return await newSession({ ...options, name: name ?? undefined });
  } catch (error) {
    if (name === null || !(error instanceof Conflict)) throw error;
    return newSession(options);
  }
}

/** "my notebook (1).ipynb" -> "my_notebook_1". */
function nameOf(file: string): string | null {
  const name = file.replace(/\.ipynb$/i, "").replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 64);
  return name === "" ? null : name;
}

/** Places FILE in the directory of the session. */
export async function uploadFile({ notebook, runner }: Workspace, file: File): Promise<void> {
  const session = notebook.session();
  if (caller.peek()?.keeps_files) {
    const { file_id } = await session.files.put(file, { name: file.name });
    notebook.uploads = [...notebook.uploads.filter(({ name }) => name !== file.name), { name: file.name, file_id }];
  } else {
    if (file.size > LONGEST_INLINE) throw new Error(`cannot upload ${file.name}: it is longer than 8 MiB, and this daemon does not store files`);
    (await session.run("", { files: { [file.name]: file } })).check();
  }
  notebook.changed();
  runner.onSettled();
}
