// SPDX-License-Identifier: Apache-2.0
// What the notebook says of sessions and outcomes.
import type { SessionInfo } from "adder-client";

/** "memory_limit" -> "memory limit". */
export function outcomeText(outcome: string): string {
  return outcome.replace(/_/g, " ");
}

/** The session's name, or the beginning of its id. */
export function sessionTitle(session: { name: string | null; session_id: string }): string {
  return session.name ?? shortId(session.session_id);
}

/** The end of an id: sessions made together begin alike. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** "science, profile standard". */
export function sessionKind(info: Pick<SessionInfo, "environment" | "profile">): string {
  return [info.environment, info.profile && `profile ${info.profile}`].filter(Boolean).join(", ");
}
