// SPDX-License-Identifier: Apache-2.0
// What the session knows about code while it is typed. Cursors count characters there, and UTF-16 units here.
import { ask, pathOf } from "../app/api.js";

export interface Match {
  text: string;
  kind: string;
  signature: string | null;
}

export interface Completion {
  start: number;
  end: number;
  matches: Match[];
}

export interface Inspection {
  found: boolean;
  name: string;
  type: string;
  signature: string | null;
  documentation: string | null;
  value: string | null;
}

const LONGEST_CODE = 100_000;

/** What may stand at CURSOR. undefined: the session is at work, or does not answer. */
export async function completionsAt(session: string, code: string, cursor: number, signal?: AbortSignal): Promise<Completion | undefined> {
  const answer = await question<Completion>(session, "complete", code, cursor, signal);
  return answer && { ...answer, start: unitsOf(code, answer.start), end: unitsOf(code, answer.end) };
}

/** The object whose name stands at CURSOR. */
export async function inspectionAt(session: string, code: string, cursor: number): Promise<Inspection | undefined> {
  const answer = await question<Inspection>(session, "inspect", code, cursor);
  return answer?.found ? answer : undefined;
}

async function question<T>(session: string, what: string, code: string, cursor: number, signal?: AbortSignal): Promise<T | undefined> {
  if (code.length > LONGEST_CODE) return undefined;
  const body = { code, cursor: [...code.slice(0, cursor)].length };
  try {
    const answer = await ask<T & { busy?: boolean }>("POST", pathOf("v1", "sessions", session, what), { body, signal });
    return answer.busy ? undefined : answer;
  } catch {
    return undefined; // completion is a convenience: it never disturbs
  }
}

function unitsOf(code: string, characters: number): number {
  let units = 0;
  let left = characters;
  for (const character of code) {
    if (left-- <= 0) break;
    units += character.length;
  }
  return units;
}
