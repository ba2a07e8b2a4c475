// SPDX-License-Identifier: Apache-2.0
/// <reference lib="esnext.disposable" preserve="true" />
// Streams of events as async iterators.
import type { CallOptions } from "./bodies.js";
import { bodyOf } from "./bodies.js";
import { AdderError } from "./errors.js";
import type { AdderEvent, ReplayingEvent, RunEvent, ToolEvent } from "./events.js";
import type { EventSource, Http } from "./http.js";
import type { Result } from "./result.js";

/**
 * Events as they come. Nothing begins before the first is asked for. Leaving the loop cancels what runs,
 * unless it is detached or in the background: such a stream connects again when the connection breaks, and
 * goes on after the last event that came.
 */
export class EventStream<Event extends AdderEvent> implements AsyncIterable<Event> {
  readonly #events: AsyncGenerator<Event, void, undefined>;
  readonly #left = new AbortController();
  readonly #source: EventSource;

  /** BODY, with OPTIONS, begins what runs at PATH; without one PATH has the events after AFTER of a run. */
  constructor(
    http: Http,
    path: string,
    body: object | undefined,
    last: string,
    options: CallOptions,
    after = 0,
  ) {
    this.#source = { path, body, lastEventId: after };
    this.#events = this.#read(http, last, options);
  }

  /** The number of the last event that came; 0 before the first. */
  get lastEventId(): number {
    return this.#source.lastEventId;
  }

  async *#read(http: Http, last: string, options: CallOptions): AsyncGenerator<Event, void, undefined> {
    const source = this.#source;
    const own = this.#left.signal;
    const signal = options.signal ? AbortSignal.any([options.signal, own]) : own;
    try {
      if (source.body) source.body = { ...(await bodyOf(options)), ...source.body };
      for await (const event of http.events(source, last, { signal })) {
        this.noticed(event as Event);
        yield event as Event;
      }
    } catch (error) {
      if (!own.aborted) throw error;
    }
  }

  /** For classes that keep something of what comes. */
  protected noticed(_event: Event): void {}

  /** One iteration: a second loop goes on where the first stopped without leaving. */
  [Symbol.asyncIterator](): AsyncIterator<Event, void, undefined> {
    return this.#events;
  }

  /**
   * Closes the connection, which cancels what runs unless it goes on without this program. A loop that waits
   * for the next event ends.
   */
  async cancel(): Promise<void> {
    this.#left.abort();
    await this.#events.return();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancel();
  }
}

/** The events of a run; its result at the end. */
export class RunStream extends EventStream<RunEvent> {
  #result: Result | undefined;

  protected override noticed(event: RunEvent): void {
    if (event.type === "result") this.#result = event.result;
  }

  /** Reads what is left, and gives the result. */
  async result(): Promise<Result> {
    for await (const event of this) void event;
    if (!this.#result) throw new AdderError("the stream was left before the run had a result");
    return this.#result;
  }
}

/** The events of a tool's call. */
export type ToolStream = EventStream<ToolEvent>;

/** The events of a replay. */
export type ReplayStream = EventStream<ReplayingEvent>;
