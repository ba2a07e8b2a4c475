// SPDX-License-Identifier: Apache-2.0
// A server from Node: by TCP or a Unix socket, or this user's own daemon.
import type { AdderOptions, Connection, WireRequest } from "../http.js";
import { VERSION } from "../version.js";
import { baseOf, web } from "../web.js";
import { checkDirectory, findDaemon, usualSocket } from "./daemon.js";
import { request } from "./request.js";

const UNIX = "unix:";
const LOCAL = "http://localhost"; // of requests to a socket: the path of the URL alone counts
const headers = { "User-Agent": `adder-client-js/${VERSION}` };

export function node(options: AdderOptions): Connection {
  const url = options.url ?? (process.env["ADDER_URL"] || undefined);
  if (url === undefined && !options.fetch) return ownDaemon(options);
  const token = options.token ?? (process.env["ADDER_TOKEN"] || undefined);
  if (url === undefined || options.fetch) return web({ ...options, url, token });
  if (!url.startsWith(UNIX)) {
    const base = baseOf(url);
    return { base, place: base, token, headers, send: (asked) => request(asked, {}) };
  }
  const socketPath = url.slice(UNIX.length).replace(/^\/\/(?=\/)/, "");
  const send = (asked: WireRequest) => request(asked, { socketPath });
  return { base: LOCAL, place: UNIX + socketPath, token, headers, send };
}

/**
 * The daemon of this user, which is started when none answers. The socket says who asks, so $ADDER_TOKEN,
 * which is for another server, stays here.
 */
function ownDaemon(options: AdderOptions): Connection {
  const usual = usualSocket();
  let socketPath = usual;
  const connection: Connection = { base: LOCAL, place: UNIX + usual, token: options.token, headers, send };
  return connection;

  async function send(asked: WireRequest): Promise<Response> {
    if (socketPath === usual) await checkDirectory(usual);
    try {
      return await request(asked, { socketPath });
    } catch (error) {
      if (!nobodyAnswers(error)) throw error;
    }
    socketPath = await findDaemon(usual);
    connection.place = UNIX + socketPath;
    return request(asked, { socketPath });
  }
}

/** Whether nothing was sent, since nobody listens. */
function nobodyAnswers(error: unknown): boolean {
  return ["ENOENT", "ECONNREFUSED"].includes((error as NodeJS.ErrnoException).code ?? "");
}
