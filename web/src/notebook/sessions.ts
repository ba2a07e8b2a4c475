// SPDX-License-Identifier: Apache-2.0
// The sessions of the caller, and the notebooks of those that have ended.
import type { SessionInfo, SessionOptions } from "adder-client";
import { effect, signal } from "@preact/signals";
import { adder } from "../app/api.js";
import { caller } from "../app/caller.js";
import { onFeed, resyncs } from "../app/feed.js";
import { oncePerFrame } from "./frames.js";
import { closeWorkspace, openedWorkspace, openedWorkspaces } from "./workspace.js";
import { forgetNotebook, listNotebooks, type StoredNotebook } from "./store.js";

/** Live ones, oldest first. undefined: not known yet. */
export const sessions = signal<SessionInfo[] | undefined>(undefined);
/** Notebooks that this browser keeps of sessions that have ended. */
export const kept = signal<StoredNotebook[]>([]);

// A daemon that does not answer is tried again by the feed.
const reloadSoon = oncePerFrame(() => void loadSessions().catch(() => undefined));

/** Reads both lists anew. */
export async function loadSessions(): Promise<void> {
  const [all, notebooks] = await Promise.all([adder.sessions.list(), listNotebooks().catch(() => [])]);
  const live = all.filter((session) => session.state !== "ended").sort((a, b) => a.session_id.localeCompare(b.session_id));
  sessions.value = live;
  kept.value = notebooks.filter((notebook) => !live.some((session) => session.session_id === notebook.sessionId));
  for (const info of all) compare(info);
  // Another daemon may not know a session any more.
  for (const workspace of openedWorkspaces()) {
    if (!workspace.notebook.ended.peek() && !live.some((session) => session.session_id === workspace.notebook.sessionId)) workspace.refreshSoon();
  }
}

/** A list may be older than what a notebook knows already, so where they differ the notebook looks itself. */
function compare(info: SessionInfo): void {
  const workspace = openedWorkspace(info.session_id);
  const known = workspace?.notebook.info.peek();
  if (known?.state !== info.state || known.cells !== info.cells || known.name !== info.name) workspace?.refreshSoon();
}

/** Follows the daemon's events; the value stops that. */
export function followSessions(): () => void {
  const stopFeed = onFeed((event) => {
    if (event.kind === "session") {
      reloadSoon();
      openedWorkspace(event.id)?.refreshSoon();
    }
    if (event.kind === "run") ranElsewhere(event.id, event.object);
  });
  const stopResyncs = effect(() => {
    if (resyncs.value >= 0 && caller.value) reloadSoon();
  });
  return () => {
    stopFeed();
    stopResyncs();
  };
}

/** A cell of an open notebook that this page did not run. */
function ranElsewhere(runId: string, run: Record<string, unknown>): void {
  const workspace = typeof run["session"] === "string" ? openedWorkspace(run["session"]) : undefined;
  if (workspace && !workspace.runner.own.has(runId)) workspace.refreshSoon();
}

export async function newSession(options: SessionOptions): Promise<SessionInfo> {
  const session = await adder.sessions.new(options);
  await loadSessions();
  return session.info;
}

export async function endSession(sessionId: string): Promise<void> {
  await (await adder.sessions.get(sessionId)).end();
  await openedWorkspace(sessionId)?.notebook.save();
  await loadSessions();
}

/** Removes the notebook of a session that has ended. */
export async function forget(sessionId: string): Promise<void> {
  closeWorkspace(sessionId);
  await forgetNotebook(sessionId);
  await loadSessions();
}
