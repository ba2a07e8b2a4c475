// SPDX-License-Identifier: Apache-2.0
// This user's own daemon: where its HTTP socket is, and how it is started.
import { execFile } from "node:child_process";
import { lstat, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { AdderError, ConnectionFailed } from "../errors.js";

const LONGEST_MS = 60_000; // for the program to answer; a start takes some tens of milliseconds
const SHOWN = 2_000; // characters of what it says when it fails
const ADVICE =
  "install Adder, or set ADDER_PROGRAM to the program `adder`, or ADDER_URL to the address of a server " +
  "(http://..., https://... or unix:/path)";

const execute = promisify(execFile);
const starting = new Map<string, Promise<string>>();

/** The usual place of the HTTP socket, which is beside the daemon's own: docs/configuration.md of Adder. */
export function usualSocket(): string {
  const uid = process.getuid?.();
  if (uid === undefined) throw new AdderError(`Adder itself runs on Linux: ${ADVICE}`);
  const { ADDER_RUNTIME_DIR: own, XDG_RUNTIME_DIR: above } = process.env;
  const usual = above && isAbsolute(above) ? join(above, "adder") : `/tmp/adder-${uid}`;
  return join(own || (uid === 0 ? "/run/adder" : usual), "adder.http.sock");
}

/**
 * The directory of SOCKET, where there is one, is this user's alone: else anybody could have put a socket
 * there.
 */
export async function checkDirectory(socket: string): Promise<void> {
  const directory = dirname(socket);
  const found = await lstat(directory).catch(() => undefined);
  if (!found) return;
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new ConnectionFailed(`${directory} must be a directory of this user's with mode 0700`);
  }
}

/**
 * The HTTP socket of the daemon, which is started where none runs; USUAL is where nobody answered. All
 * clients of this process that ask at the same time share one start.
 */
export function findDaemon(usual: string): Promise<string> {
  const found = starting.get(usual) ?? find(usual).finally(() => starting.delete(usual));
  starting.set(usual, found);
  return found;
}

async function find(usual: string): Promise<string> {
  let status = await statusOf(usual);
  if (!status.daemon) {
    await adder(usual, "serve", "--background").catch(async (error: unknown) => {
      if (!(await statusOf(usual)).daemon) throw error; // else another program was first
    });
    status = await statusOf(usual);
  }
  const beside = status.socket.replace(/(\.sock)?$/, ".http.sock");
  const listed = (status.http ?? [])
    .filter((url) => url.startsWith("unix:"))
    .map((url) => url.slice("unix:".length));
  const socket = listed.includes(beside) ? beside : (listed[0] ?? beside);
  if ((await stat(socket).catch(() => undefined))?.isSocket()) return socket;
  throw new ConnectionFailed(
    `the daemon of Adder on this machine does not answer HTTP at ${socket}: if it is of an older version, ` +
      `\`adder serve stop\` ends it and the next call starts a new one; else ${ADVICE}`,
  );
}

interface Status {
  daemon: boolean;
  socket: string;
  http?: string[] | null;
}

async function statusOf(usual: string): Promise<Status> {
  const said = await adder(usual, "serve", "status", "--json");
  try {
    const status = JSON.parse(said) as Status;
    if (typeof status.daemon === "boolean" && typeof status.socket === "string") return status;
  } catch {
    // Told below.
  }
  throw new ConnectionFailed(`\`adder serve status --json\` answered ${JSON.stringify(said.slice(0, SHOWN))}`);
}

/** What the program prints. Of `status`, the exit status says only whether there is a daemon. */
async function adder(usual: string, ...args: string[]): Promise<string> {
  const program = process.env["ADDER_PROGRAM"] || "adder";
  const { ADDER_URL: _, ADDER_TOKEN: __, ...env } = process.env;
  try {
    return (await execute(program, args, { timeout: LONGEST_MS, encoding: "utf8", env })).stdout;
  } catch (error) {
    const { code, stdout, stderr, message } = error as Error & {
      code?: unknown;
      stdout?: string;
      stderr?: string;
    };
    if (stdout && args.includes("status")) return stdout; // with 3 where no daemon runs
    const why = code === "ENOENT" ? `there is no program ${program}: ${ADVICE}` : stderr?.trim() || message;
    throw new ConnectionFailed(`nothing answers at ${usual}, and ${why.slice(0, SHOWN)}`, { cause: error });
  }
}
