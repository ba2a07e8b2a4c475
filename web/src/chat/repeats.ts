// SPDX-License-Identifier: Apache-2.0
// Notices a model that makes the same call again and again, as src/apps/agent/repeats.c does.

const REFUSED = 3; // the third time running is refused
const OVER = 5; // and the fifth ends the turn

export type Verdict = "run" | "refuse" | "over";

export class Repeats {
  #last = "";
  #times = 0;

  /** What to do with a call; the order of its arguments means nothing. */
  see(name: string, given: Record<string, unknown>): Verdict {
    const now = `${name} ${JSON.stringify(sorted(given))}`;
    this.#times = now === this.#last ? this.#times + 1 : 1;
    this.#last = now;
    if (this.#times >= OVER) return "over";
    return this.#times >= REFUSED ? "refuse" : "run";
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, sorted(each)]));
}
