// SPDX-License-Identifier: Apache-2.0
// What the session knows about code while it is typed. Cursors count characters there, and UTF-16 units here.
import type { Session } from "adder-client";
import type { Completion, Inspection } from "../../../clients/typescript/src/api.js";

const LONGEST_CODE = 100_000;

/** What may stand at CURSOR. undefined: the session is at work, or does not answer. */
export async function completionsAt(session: Session, code: string, cursor: number, signal: AbortSignal): Promise<Completion | undefined> {
  const answer = await answered(code, cursor, (at) => session.complete(code, at, { signal }));
  return answer && { ...answer, start: unitsOf(code, answer.start), end: unitsOf(code, answer.end) };
}

/** The object whose name stands at CURSOR. */
export async function inspectionAt(session: Session, code: string, cursor: number): Promise<Inspection | undefined> {
  const answer = await answered(code, cursor, (at) => session.inspect(code, at));
  return answer?.found ? answer : undefined;
}

async function answered<T extends { busy: boolean }>(code: string, cursor: number, question: (at: number) => Promise<T>): Promise<T | undefined> {
  if (code.length > LONGEST_CODE) return undefined;
  try {
    const answer = await question([...code.slice(0, cursor)].length);
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
