// SPDX-License-Identifier: Apache-2.0
// A run to its end, and one in the background.
import type { RunState as RunStateData } from "./api.js";
import type { CallOptions } from "./bodies.js";
import { bodyOf, pathOf, queryOf } from "./bodies.js";
import type { Http } from "./http.js";
import { type Result, type RunState, runState } from "./result.js";
import { RunStream } from "./streams.js";

/**
 * Called with each piece of text as it is written. An exception of it, or a rejected promise, cancels the
 * run.
 */
export type Listener = (text: string) => unknown;

/** What hears of a run while it is under way. */
export interface Listeners {
  /** What the code writes to standard output. */
  onStdout?: Listener | undefined;
  /** What it writes to standard error. */
  onStderr?: Listener | undefined;
}

/** Runs what BODY says at PATH to its end. */
export async function runOf(
  http: Http,
  path: string,
  body: object,
  options: Listeners & CallOptions,
): Promise<Result> {
  const { onStdout, onStderr, ...others } = options;
  if (!onStdout && !onStderr) return http.run(path, { ...(await bodyOf(others)), ...body }, others);
  const stream = new RunStream(http, path, body, "result", others);
  for await (const event of stream) {
    if (event.type === "stdout") await onStdout?.(event.text);
    if (event.type === "stderr") await onStderr?.(event.text);
  }
  return stream.result();
}

const ONE_WAIT_MS = 60_000;

/** A run in the background. It goes on without this program. */
export class Run {
  readonly #http: Http;
  /** As it was when it was last asked for. */
  state: RunState;

  constructor(http: Http, data: RunStateData) {
    this.#http = http;
    this.state = runState(data);
  }

  get id(): string {
    return this.state.run_id;
  }

  /** Whether it has ended. */
  get ended(): boolean {
    return this.state.state === "ended";
  }

  /** Asks how it is; with `waitMs` when it has ended, or the time is over. */
  async refresh(options: { waitMs?: number | undefined } & CallOptions = {}): Promise<RunState> {
    const query = queryOf({ wait_ms: options.waitMs });
    const asking = { query, endless: options.waitMs !== undefined, signal: options.signal };
    this.state = runState(await this.#http.ask<RunStateData>("GET", pathOf("v1", "runs", this.id), asking));
    return this.state;
  }

  /** Waits until it has ended. Aborting the wait does not end the run. */
  async wait(options: CallOptions = {}): Promise<RunState> {
    while (!this.ended) await this.refresh({ waitMs: ONE_WAIT_MS, signal: options.signal });
    return this.state;
  }

  /**
   * Its events, live: all that the server holds, or those after the one numbered `after` (`lastEventId` of an
   * earlier stream). Leaving them ends nothing.
   */
  stream(options: { after?: number | undefined } & CallOptions = {}): RunStream {
    const { after = 0, ...others } = options;
    const path = pathOf("v1", "runs", this.id, "events");
    return new RunStream(this.#http, path, undefined, "result", others, after);
  }

  /** Cancels it. */
  async cancel(options: CallOptions = {}): Promise<RunState> {
    this.state = runState(
      await this.#http.ask<RunStateData>("DELETE", pathOf("v1", "runs", this.id), options),
    );
    return this.state;
  }
}
