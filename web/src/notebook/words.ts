// SPDX-License-Identifier: Apache-2.0
// What the notebook says of sessions.
import type { SessionInfo } from "adder-client";

/** The session's name, or the end of its id: sessions made together begin alike. */
export function sessionTitle(session: { name: string | null; session_id: string }): string {
  return session.name ?? session.session_id.slice(-8);
}

/** "science, profile standard". */
export function sessionKind(info: Pick<SessionInfo, "environment" | "profile">): string {
  return [info.environment, info.profile && `profile ${info.profile}`].filter(Boolean).join(", ");
}
