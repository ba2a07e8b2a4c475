// SPDX-License-Identifier: Apache-2.0
// A server by fetch: in browsers, and wherever the caller gives a fetch of their own.
import { AdderError } from "./errors.js";
import type { AdderOptions, Connection, WireRequest } from "./http.js";

export function web(options: AdderOptions): Connection {
  if (options.url === undefined)
    throw new AdderError("new Adder() needs a url here: new Adder({ url, token })");
  const base = baseOf(options.url);
  const ask = options.fetch ?? globalThis.fetch.bind(globalThis);
  // Who asks is in the token alone, and a server that sends it elsewhere is none of Adder's.
  const fixed = { credentials: "omit", redirect: "error", cache: "no-store" } as const;
  const send = ({ url, signal, ...request }: WireRequest) => {
    return ask(url, { ...fixed, ...request, body: request.body ?? null, signal: signal ?? null });
  };
  return { base, place: base, token: options.token, send };
}

/** URL of http or https without what ends it. */
export function baseOf(url: string): string {
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  if (protocol !== "http:" && protocol !== "https:") {
    throw new AdderError(
      `the URL of Adder begins with http://, https:// or, in Node, unix:, and is not "${url}"`,
    );
  }
  return url.replace(/\/+$/, "");
}
