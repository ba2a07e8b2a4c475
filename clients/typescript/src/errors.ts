// SPDX-License-Identifier: Apache-2.0
// What can go wrong, each kind a class.
import type { Result } from "./result.js";

/**
 * The base of all errors of this package. What is known of an HTTP problem is in `status`, `code` and
 * `detail`.
 */
export class AdderError extends Error {
  /** The HTTP status, where the server answered. */
  readonly status: number | undefined = undefined;
  /** What it is in one word, such as `invalid` or `not_found`. */
  readonly code: string | undefined = undefined;
  /** What it is in a sentence. */
  readonly detail: string;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.detail = message;
  }
}

/** The server could not be reached, or went away. */
export class ConnectionFailed extends AdderError {}

/** The server did not answer within `timeoutMs` of the client. */
export class RequestTimeout extends ConnectionFailed {}

/** A stream of events ended before its last event. */
export class StreamBroken extends ConnectionFailed {}

/** An answer that is none of Adder's. */
export class UnexpectedReply extends AdderError {}

/** The outcome of a run is another than `ok`; `result` has all that is known. `Result.check` throws it. */
export class RunFailed extends AdderError {
  readonly result: Result;

  constructor(result: Result) {
    const why = result.error ? `: ${result.error.type}: ${result.error.message}` : "";
    super(`the run ended as ${result.outcome}${why}`);
    this.result = result;
  }
}

/** A problem document (RFC 9457) that the server answered. */
export class ProblemError extends AdderError {
  override readonly status: number;
  override readonly code: string | undefined;
  override readonly detail: string;
  /** The whole document. */
  readonly problem: Record<string, unknown>;
  /** Seconds after which to try again, where the server says so. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: Record<string, unknown>, retryAfter?: number) {
    const title = text(problem["title"]) ?? `HTTP status ${status}`;
    const detail = text(problem["detail"]) ?? title;
    super(detail);
    this.status = status;
    this.code = text(problem["code"]);
    this.detail = detail;
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

/** Something about the request is wrong; nothing ran. */
export class InvalidRequest extends ProblemError {}

/** The request is larger than the server takes: put long files in first, with `files.put`. */
export class TooLarge extends InvalidRequest {}

/** No token, or one that is not known any more. */
export class Unauthorized extends ProblemError {}

/** The caller may not do that. */
export class Forbidden extends ProblemError {}

/** There is no such thing, or it is another owner's. */
export class NotFound extends ProblemError {}

/** It exists already, or is not in a state in which that can be done. */
export class Conflict extends ProblemError {}

/** The session has ended; `detail` says why. */
export class Ended extends ProblemError {}

/** The server's host, or the session, cannot do that. */
export class Unsupported extends ProblemError {}

/** No room at present, or too many requests: try again after `retryAfter` seconds. */
export class Busy extends ProblemError {}

/** It was cancelled. */
export class Cancelled extends ProblemError {}

/** A fault of the server's or its host's. */
export class ServerError extends ProblemError {}

/** It took the server too long. */
export class TimedOut extends ServerError {}

const classes: Record<number, typeof ProblemError> = {
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  410: Ended,
  413: TooLarge,
  422: Unsupported,
  429: Busy,
  499: Cancelled,
  503: Busy,
  504: TimedOut,
};

export function problemError(
  status: number,
  problem: Record<string, unknown>,
  retryAfter?: number,
): ProblemError {
  const kind = classes[status] ?? (status < 500 ? InvalidRequest : ServerError);
  return new kind(status, problem, retryAfter);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
