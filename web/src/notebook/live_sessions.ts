// SPDX-License-Identifier: Apache-2.0
// What is known of live sessions. Events tell how a session is, in order; the answer to a request counts only if no event came meanwhile.
import type { SessionInfo } from "adder-client";
import { signal } from "@preact/signals";

/** Those of the caller, oldest first. undefined: not known yet. */
export const sessions = signal<SessionInfo[] | undefined>(undefined);

const live = new Map<string, SessionInfo>();
const times = new Map<string, number>();
let time = 0;

/** The present, for `heardSince`. */
export function hearingTime(): number {
  return time;
}

/** Whether an event about the session came after TIME. */
export function heardSince(id: string, then: number): boolean {
  return (times.get(id) ?? 0) > then;
}

/** Takes what an event told of a session of the caller. undefined: it has ended. */
export function hearSession(id: string, info: SessionInfo | undefined): void {
  times.set(id, ++time);
  place(id, info);
  if (sessions.peek()) publish();
}

/** Takes the answer to a request for all of them that was made at THEN. */
export function takeSessions(infos: SessionInfo[], then: number): void {
  for (const id of [...live.keys()]) if (!heardSince(id, then)) live.delete(id);
  for (const info of infos) if (!heardSince(info.session_id, then)) place(info.session_id, info);
  publish();
}

/** Takes the answer to a request for one that was made at THEN. */
export function takeSession(info: SessionInfo, then: number): void {
  if (!heardSince(info.session_id, then)) place(info.session_id, info);
  if (sessions.peek()) publish();
}

export function knownSession(id: string): SessionInfo | undefined {
  return live.get(id);
}

function place(id: string, info: SessionInfo | undefined): void {
  if (info && info.state !== "ended") live.set(id, info);
  else live.delete(id);
}

/** Ids of version 7 begin with the time. */
function publish(): void {
  sessions.value = [...live.values()].sort((a, b) => a.session_id.localeCompare(b.session_id));
}
