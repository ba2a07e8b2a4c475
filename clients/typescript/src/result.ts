// SPDX-License-Identifier: Apache-2.0
// What became of a run, with what programs and models want of it.
import type { ResultData, RunState as RunStateData } from "./api.js";
import { displayText, type Picture, pictureOf } from "./display.js";
import { RunFailed } from "./errors.js";
import { forModel, type ForModelOptions } from "./for_model.js";

/** The members of a result, as the server answers them. */
export interface Result extends ResultData {}

/** What became of a run. docs/results.md of Adder describes each member. */
export class Result {
  constructor(data: ResultData) {
    for (const [name, value] of Object.entries(data)) {
      if (!(name in this)) Object.defineProperty(this, name, { value, enumerable: true, writable: true });
    }
  }

  /** Whether the code ran to its end. */
  get ok(): boolean {
    return this.outcome === "ok";
  }

  /** The value of the last expression as plain text; without one, what was printed, less its last newline. */
  get text(): string {
    if (this.value) return String(this.value["text/plain"] ?? displayText(this.value));
    return this.stdout.replace(/\n$/, "");
  }

  /** The pictures that the code displayed. */
  get pictures(): Picture[] {
    return this.displays.flatMap((display) => pictureOf(display) ?? []);
  }

  /** The result itself; throws `RunFailed` when the outcome is another than `ok`. */
  check(): this {
    if (!this.ok) throw new RunFailed(this);
    return this;
  }

  /**
   * All that a model should know, as one text: output, value, what was displayed, the error with its
   * traceback and hint, what was refused, names of files, warnings. What is too long loses its middle.
   */
  forModel(options: ForModelOptions = {}): string {
    return forModel(this, options);
  }
}

/** A run as it is: `result` while the server holds it, `record` where records are kept. */
export interface RunState extends Omit<RunStateData, "result"> {
  result: Result | null;
}

export function runState(data: RunStateData): RunState {
  return { ...data, result: data.result && new Result(data.result) };
}
