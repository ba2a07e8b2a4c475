// SPDX-License-Identifier: Apache-2.0
// The sessions of the caller, and the notebooks of those that have ended.
import type { SessionInfo, SessionOptions } from "adder-client";
import { computed, effect, signal } from "@preact/signals";
import { adder, sessionOf } from "../app/api.js";
import { caller } from "../app/caller.js";
import { type FeedEvent, onFeed, resyncs } from "../app/feed.js";
import { hearingTime, hearSession, heardSince, knownSession, sessions, takeSession, takeSessions } from "./live_sessions.js";
import { closeWorkspace, openedWorkspace, openedWorkspaces } from "./workspace.js";
import { forgetNotebook, listNotebooks, type StoredNotebook } from "./store.js";

export { sessions };

const stored = signal<StoredNotebook[]>([]);
/** Notebooks that this browser keeps of sessions that have ended. */
export const kept = computed(() => stored.value.filter(({ sessionId }) => !sessions.value?.some((session) => session.session_id === sessionId)));

async function readStored(): Promise<void> {
  stored.value = await listNotebooks().catch(() => []);
}

/** Reads both lists anew. */
export async function loadSessions(): Promise<void> {
  const then = hearingTime();
  const [all] = await Promise.all([adder.sessions.list(), readStored()]);
  takeSessions(all, then);
  for (const workspace of openedWorkspaces()) {
    const id = workspace.notebook.sessionId;
    const info = all.find((session) => session.session_id === id);
    if (heardSince(id, then)) continue;
    if (info) workspace.learn(info);
    // Another daemon may not know it any more; an admin may look at somebody else's.
    else void workspace.ask().catch(() => undefined);
  }
}

/** Follows the daemon's events, and reads the lists at first and whenever some were missed; the value stops that. */
export function followSessions(failed: (error: unknown) => void): () => void {
  const stopFeed = onFeed((event) => {
    if (event.kind === "session") hear(event);
  });
  const stopResyncs = effect(() => {
    if (resyncs.value >= 0 && caller.value) void loadSessions().catch(failed);
  });
  return () => {
    stopFeed();
    stopResyncs();
  };
}

function hear({ id, object }: FeedEvent): void {
  const info = (object as unknown as SessionInfo | null) ?? undefined;
  // An admin hears of everybody's.
  if (info?.owner === caller.peek()?.owner || knownSession(id)) hearSession(id, info);
  const workspace = openedWorkspace(id);
  workspace?.learn(info);
  if (!info || info.state === "ended") void (workspace?.notebook.save() ?? Promise.resolve()).then(readStored);
}

export async function newSession(options: SessionOptions): Promise<SessionInfo> {
  const then = hearingTime();
  const { info } = await adder.sessions.new(options);
  takeSession(info, then);
  return knownSession(info.session_id) ?? info;
}

export async function endSession(sessionId: string): Promise<void> {
  const info = await sessionOf(sessionId).end();
  hearSession(sessionId, undefined);
  const workspace = openedWorkspace(sessionId);
  workspace?.learn({ ...info, state: "ended" });
  await workspace?.notebook.save();
  await readStored();
}

/** Removes the notebook of a session that has ended. */
export async function forget(sessionId: string): Promise<void> {
  closeWorkspace(sessionId);
  await forgetNotebook(sessionId);
  await readStored();
}
