// SPDX-License-Identifier: Apache-2.0
// The daemon that served this page. The cookie of the sign-in travels with each request.
import { Adder, type SessionInfo } from "adder-client";
import { pathOf, queryOf } from "../../../clients/typescript/src/bodies.js";
import { Busy, ConnectionFailed, ServerError, Unauthorized } from "../../../clients/typescript/src/errors.js";
import { type Asking, Http } from "../../../clients/typescript/src/http.js";
import { Session } from "../../../clients/typescript/src/sessions.js";
import { web } from "../../../clients/typescript/src/web.js";
import { signedOut } from "./caller.js";

export { pathOf, queryOf };

/** What the page says when a request fails, in one sentence. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const options = {
  url: location.origin,
  maxRetries: 0,
  async fetch(url: RequestInfo | URL, request?: RequestInit): Promise<Response> {
    const response = await fetch(url, { ...request, credentials: "same-origin" });
    if (response.status === 401 && !String(url).endsWith("/v1/sign-in")) signedOut();
    return response;
  },
};

/** Runs, sessions, files, records, tools, approvals and reviews, typed from the daemon's own description. */
export const adder = new Adder(options);

export const http = new Http(web(options), options);

/** What acts on the session ID, which is not asked for before. */
export function sessionOf(id: string): Session {
  return new Session(http, { session_id: id } as SessionInfo);
}

/** Any other operation: METHOD and PATH as docs/http-routes.md has them. */
export async function ask<T>(method: string, path: string, asking: Asking = {}): Promise<T> {
  return http.ask<T>(method, path, asking);
}

/** Whether the request that failed with ERROR may succeed later: the daemon is busy, has a fault, or was not reached. */
export function mayPass(error: unknown): boolean {
  return [Busy, ServerError, ConnectionFailed].some((kind) => error instanceof kind);
}

/** Whether ERROR says that nobody is signed in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof Unauthorized;
}
