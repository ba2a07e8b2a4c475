// SPDX-License-Identifier: Apache-2.0
// One server: requests, retries, deadlines, and streams of events and of bytes.
import type { ResultData } from "./api.js";
import { type CallOptions, pathOf } from "./bodies.js";
import {
  AdderError,
  ConnectionFailed,
  problemError,
  RequestTimeout,
  StreamBroken,
  UnexpectedReply,
} from "./errors.js";
import { type AdderEvent, EventParser, eventOf } from "./events.js";
import { Result } from "./result.js";

/** How a client is made. */
export interface AdderOptions {
  /**
   * `http://...`, `https://...` or, in Node, `unix:/path/of/a/socket`. In Node the default is
   * `$ADDER_URL`, else this user's own daemon, which is started when it does not run.
   */
  url?: string | undefined;
  /** What `adder token new` printed. In Node the default is `$ADDER_TOKEN`. A Unix socket needs none. */
  token?: string | undefined;
  /**
   * Milliseconds in which the server has to answer, 30000 by default. Running code has no deadline here:
   * its own limits end it.
   */
  timeoutMs?: number | undefined;
  /**
   * How often to try again when the server says that it is busy (429), 2 by default and 10 at most.
   * Nothing ran then.
   */
  maxRetries?: number | undefined;
  /** Asks in place of this package's own way, for proxies and tests. */
  fetch?: typeof fetch | undefined;
}

/** A request as the platform sends it. */
export interface WireRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | FormData | undefined;
  signal?: AbortSignal | undefined;
}

/** A server and the way to it. */
export interface Connection {
  /** What begins each URL. */
  base: string;
  /** Where the server is, in words. */
  place: string;
  token?: string | undefined;
  headers?: Record<string, string> | undefined;
  send(request: WireRequest): Promise<Response>;
}

/** What differs between Node and browsers. */
export type Platform = (options: AdderOptions) => Connection;

/** How one request is made. */
export interface Asking extends CallOptions {
  body?: object | FormData | undefined;
  query?: URLSearchParams | undefined;
  headers?: Record<string, string>;
  /** Code runs meanwhile, or bytes of any length come: there is no deadline. */
  endless?: boolean;
  /** The result of a run that the server had no room for is an answer too. */
  busyIsResult?: boolean;
}

/** Where events come from, and how far they have come. */
export interface EventSource {
  path: string;
  /** Of the request that begins the run. Without one, `path` is where the events of a run are. */
  body?: object | undefined;
  /** The number of the last event that came; 0 before the first. */
  lastEventId: number;
}

const TIMEOUT_MS = 30_000;
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const MOST_RETRIES = 10;
const LONGEST_PAUSE_S = 30;
// Seconds before each try to resume a stream; an event starts them again.
const RESUMING_PAUSES_S = [0, 0.5, 1, 2, 4];
const JSON_TYPES = "application/json, application/problem+json";

export class Http {
  readonly #connection: Connection;
  readonly #timeoutMs: number;
  readonly #retries: number;

  constructor(connection: Connection, options: AdderOptions) {
    this.#connection = connection;
    this.#timeoutMs = bounded("timeoutMs", options.timeoutMs ?? TIMEOUT_MS, 1, LONGEST_TIMEOUT_MS);
    this.#retries = bounded("maxRetries", options.maxRetries ?? 2, 0, MOST_RETRIES);
  }

  /** Where the server is, in words. */
  get place(): string {
    return this.#connection.place;
  }

  /** The object that is answered. */
  async ask<T>(method: string, path: string, options: Asking = {}): Promise<T> {
    return this.#answered(method, path, options, async (response) => objectOf(await response.text()) as T);
  }

  /** Waits for the answer's end, which tells nothing. */
  async tell(method: string, path: string, options: Asking = {}): Promise<void> {
    await this.#answered(method, path, options, (response) => response.arrayBuffer());
  }

  /** The bytes that are answered. */
  async bytes(path: string, options: Asking = {}): Promise<Uint8Array> {
    const read = async (response: Response) => new Uint8Array(await response.arrayBuffer());
    return this.#answered("GET", path, { ...options, endless: true }, read);
  }

  /** The same in pieces, as they come. */
  async *pieces(path: string, options: Asking = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const response = await this.#answered("GET", path, { ...options, endless: true }, async (each) => each);
    yield* this.#read(response, options.signal);
  }

  /** The result of the run that BODY asks for at PATH. */
  async run(path: string, body: object, options: CallOptions): Promise<Result> {
    const asking = { ...options, body, endless: true, busyIsResult: true };
    return new Result(await this.ask<ResultData>("POST", path, asking));
  }

  /**
   * The events of SOURCE, up to the one of type LAST. Leaving the loop closes the connection. Those of a run
   * that goes on without a client are asked for again where the connection broke.
   */
  async *events(
    source: EventSource,
    last: string,
    options: CallOptions,
  ): AsyncGenerator<AdderEvent, void, undefined> {
    for (let tries = 0; ; tries++) {
      let broken = new StreamBroken("the server ended the stream before the last event");
      try {
        for await (const event of this.#eventsOnce(source, last, options)) {
          tries = 0;
          yield event;
          if (event.type === last) return;
        }
      } catch (error) {
        if (!(error instanceof ConnectionFailed)) throw error;
        broken = error;
      }
      const seconds = RESUMING_PAUSES_S[tries];
      if (source.body || seconds === undefined) throw broken;
      await pause(seconds, options.signal);
    }
  }

  /** The same over one connection. */
  async *#eventsOnce(
    source: EventSource,
    last: string,
    options: CallOptions,
  ): AsyncGenerator<AdderEvent, void, undefined> {
    const { path, body, lastEventId } = source;
    const accepted = { Accept: "text/event-stream, " + JSON_TYPES };
    const headers = body ? accepted : { ...accepted, "Last-Event-ID": String(lastEventId) };
    const sent = body && { ...body, stream: true };
    const asking = { ...options, body: sent, headers, endless: true, busyIsResult: last === "result" };
    const response = await this.#answered(body ? "POST" : "GET", path, asking, async (each) => each);
    if (response.status === 429) {
      yield { type: "result", result: new Result(objectOf(await response.text()) as unknown as ResultData) };
      return;
    }
    const parser = new EventParser(lastEventId);
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    for await (const piece of this.#read(response, options.signal)) {
      for (const [type, data] of parser.feed(decoder.decode(piece, { stream: true }))) {
        const event = eventOf(type, data);
        source.lastEventId = parser.lastId;
        const detached = body && "detach" in body && body.detach;
        if (event?.type === "started" && detached) follow(source, event.run_id);
        if (event) yield event;
      }
    }
  }

  /** What READ makes of the answer; the error that it tells where it is none of success. */
  async #answered<T>(
    method: string,
    path: string,
    options: Asking,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    for (let tries = 0; ; tries++) {
      const deadline = new Deadline(options.signal, options.endless ? undefined : this.#timeoutMs);
      try {
        const response = await this.#connection.send(this.#request(method, path, options, deadline.signal));
        if (response.status === 429 && tries < this.#retries) {
          await response.body?.cancel();
          await pause(retryAfter(response) ?? 1, options.signal);
          continue;
        }
        const isResult = options.busyIsResult && response.status === 429 && !isProblem(response);
        if (!response.ok && !isResult) throw await failed(response);
        return await read(response);
      } catch (error) {
        throw deadline.late ?? this.#translated(error, options.signal);
      } finally {
        deadline.end();
      }
    }
  }

  #request(method: string, path: string, options: Asking, signal: AbortSignal | undefined): WireRequest {
    const { body, query } = options;
    const headers: Record<string, string> = {
      Accept: JSON_TYPES,
      ...this.#connection.headers,
      ...options.headers,
    };
    if (this.#connection.token !== undefined) headers["Authorization"] = `Bearer ${this.#connection.token}`;
    const plain = body !== undefined && !(body instanceof FormData);
    if (plain) headers["Content-Type"] = "application/json";
    const search = query?.size ? `?${query}` : "";
    return {
      method,
      url: this.#connection.base + path + search,
      headers,
      body: plain ? JSON.stringify(body) : (body as FormData | undefined),
      signal,
    };
  }

  /** The pieces of a body; leaving the loop closes the connection. */
  async *#read(
    response: Response,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = response.body?.getReader();
    if (!reader) return;
    const stop = () => void reader.cancel(signal?.reason).catch(() => undefined);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      for (;;) {
        signal?.throwIfAborted();
        const { done, value } = await reader.read();
        signal?.throwIfAborted();
        if (done) return;
        yield value;
      }
    } catch (error) {
      throw this.#translated(error, signal);
    } finally {
      signal?.removeEventListener("abort", stop);
      stop();
    }
  }

  /** ERROR in this package's words, or the reason of SIGNAL where that is why. */
  #translated(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof AdderError) return error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const words = (cause instanceof Error && cause.message) || String(cause);
    return new ConnectionFailed(`the connection to ${this.place} failed: ${words}`, { cause: error });
  }
}

/** From now on SOURCE is the events of the run that its request began. */
function follow(source: EventSource, runId: string): void {
  source.path = pathOf("v1", "runs", runId, "events");
  source.body = undefined;
}

/** The caller's signal and a time, whichever comes first. */
class Deadline {
  readonly signal: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  /** What to throw when the time was first. */
  late: RequestTimeout | undefined;

  constructor(outer: AbortSignal | undefined, ms: number | undefined) {
    outer?.throwIfAborted();
    this.signal = outer;
    if (ms === undefined) return;
    const controller = new AbortController();
    this.signal = outer ? AbortSignal.any([outer, controller.signal]) : controller.signal;
    this.#timer = setTimeout(() => {
      if (outer?.aborted) return;
      this.late = new RequestTimeout(`no answer within ${ms} ms`);
      controller.abort(this.late);
    }, ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

async function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      },
      Math.min(Math.max(seconds, 0), LONGEST_PAUSE_S) * 1000,
    );
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function retryAfter(response: Response): number | undefined {
  const said = response.headers.get("Retry-After");
  const seconds = said === null ? NaN : Number(said);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

function isProblem(response: Response): boolean {
  return !(response.headers.get("Content-Type") ?? "").startsWith("application/json");
}

async function failed(response: Response): Promise<AdderError> {
  const text = await response.text();
  let problem: Record<string, unknown> = {};
  try {
    problem = objectOf(text);
  } catch {
    // Something on the way answered: the status says what it is.
  }
  return problemError(response.status, problem, retryAfter(response));
}

function objectOf(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UnexpectedReply("an answer that is no JSON: is that Adder?", { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UnexpectedReply("an answer that is no object: is that Adder?");
  }
  return value as Record<string, unknown>;
}

function bounded(name: string, value: number, least: number, most: number): number {
  if (!Number.isFinite(value) || value < least || value > most) {
    throw new RangeError(`${name} is a number from ${least} to ${most}, not ${value}`);
  }
  return value;
}
