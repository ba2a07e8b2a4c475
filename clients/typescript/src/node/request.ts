// SPDX-License-Identifier: Apache-2.0
// One request by node:http. Not by fetch: that of Node reaches no Unix socket, and gives up when an answer
// takes longer than five minutes, as a run may.
import { Agent, type ClientRequest, type IncomingMessage, request as overHttp } from "node:http";
import { Agent as TlsAgent, request as overTls } from "node:https";
import { pipeline, Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";
import type { WireRequest } from "../http.js";

/** The socket instead of the host of the URL. */
export interface Place {
  socketPath?: string;
}

// A connection is kept for a moment: less than a server keeps it, so that none closes it under a request.
// Keep-alive of TCP notices a host that is gone while code runs silently.
const kept = { keepAlive: true, keepAliveMsecs: 30_000, timeout: 4_000 };
const agent = new Agent(kept);
const tlsAgent = new TlsAgent(kept);

export function request(
  { method, url, headers, body, signal }: WireRequest,
  place: Place,
): Promise<Response> {
  signal?.throwIfAborted();
  const secure = url.startsWith("https:");
  const encoded = body instanceof FormData ? new Response(body) : undefined;
  const type = encoded?.headers.get("Content-Type");
  const length = typeof body === "string" ? { "Content-Length": Buffer.byteLength(body) } : {};
  const options = {
    method,
    headers: { ...headers, ...length, ...(type && { "Content-Type": type }) },
    agent: secure ? tlsAgent : agent,
    ...place,
  };
  return new Promise<Response>((resolve, reject) => {
    const sent: ClientRequest = (secure ? overTls : overHttp)(url, options);
    const stop = () => sent.destroy(signal?.reason as Error);
    signal?.addEventListener("abort", stop, { once: true });
    sent.on("close", () => signal?.removeEventListener("abort", stop));
    sent.on("error", reject);
    sent.on("response", (answer) => resolve(responseOf(answer)));
    if (encoded?.body) pipeline(Readable.fromWeb(encoded.body as NodeStream), sent, () => undefined);
    else sent.end(body as string | undefined);
  });
}

function responseOf(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (let at = 0; at < answer.rawHeaders.length; at += 2)
    headers.append(answer.rawHeaders[at]!, answer.rawHeaders[at + 1]!);
  const status = answer.statusCode ?? 0;
  if (status === 204 || status === 304) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
}
