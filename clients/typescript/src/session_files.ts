// SPDX-License-Identifier: Apache-2.0
// Files in the directory of a session. Cells tell of them: what they print comes out of the sandbox, so it is
// checked.
import type { StoredFile } from "./api.js";
import { fromBase64 } from "./base64.js";
import type { CallOptions } from "./bodies.js";
import { AdderError, NotFound, UnexpectedReply } from "./errors.js";
import type { Files, PutOptions } from "./files.js";
import type { Session } from "./sessions.js";

/** A file in the directory of a session. Code chose its `name`, which is relative to the directory. */
export interface SessionFile {
  name: string;
  bytes: number;
}

const MOST = 10_000; // files of a list
const LONGEST_REASON = 200; // characters

// What a session has afterwards is what it had before: no name of these stays.
const LIST = `
def _adder_list():
    import itertools, json, os
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names)
    print(json.dumps([(path[2:], os.lstat(path).st_size) for path in itertools.islice(paths, ${MOST})]))
try:
    _adder_list()
finally:
    del _adder_list
`;

const read = (name: string) => `
def _adder_read(name):
    import base64, json
    try:
        with open(name, "rb") as file:
            print(json.dumps({"content": base64.b64encode(file.read()).decode()}))
    except OSError as error:
        print(json.dumps({"missing": isinstance(error, FileNotFoundError), "reason": error.strerror}))
try:
    _adder_read(${JSON.stringify(name)})
finally:
    del _adder_read
`;

/**
 * The files that the code of a session finds and leaves in its directory. Each call is a cell of the
 * session: it waits for its turn, counts among the cells, and throws `RunFailed` where the profile does
 * not allow it.
 */
export class SessionFiles {
  readonly #session: Session;
  readonly #files: Files;

  constructor(session: Session, files: Files) {
    this.#session = session;
    this.#files = files;
  }

  /** Puts a file into the directory, of any length that the server keeps. Its `name` may have folders. */
  async put(content: string | Uint8Array | Blob, options: PutOptions = {}): Promise<StoredFile> {
    const stored = await this.#files.put(content, options);
    const files = { [options.name ?? stored.name]: stored };
    (await this.#session.run("", { files, signal: options.signal })).check();
    return stored;
  }

  /**
   * The content of a file; in base64 it has at most the bytes of the limit `output_bytes`. `NotFound`
   * where there is none.
   */
  async get(name: string, options: CallOptions = {}): Promise<Uint8Array> {
    const reply = await this.#printed<Record<string, unknown> | null>(read(name), options);
    const { content, missing, reason } = reply ?? {};
    if (typeof content === "string") {
      try {
        return fromBase64(content);
      } catch (cause) {
        throw new UnexpectedReply("the session answered with no content of a file", { cause });
      }
    }
    const detail = `cannot read ${name} of the session: ${String(reason).slice(0, LONGEST_REASON)}`;
    throw missing === true ? new NotFound(404, { detail, code: "not_found" }) : new AdderError(detail);
  }

  /** The same as text, in UTF-8. */
  async text(name: string, options: CallOptions = {}): Promise<string> {
    return new TextDecoder().decode(await this.get(name, options));
  }

  /** All files in the directory and below it, at most 10000. */
  async list(options: CallOptions = {}): Promise<SessionFile[]> {
    const found = await this.#printed<unknown>(LIST, options);
    const isFile = (each: unknown) =>
      Array.isArray(each) && typeof each[0] === "string" && typeof each[1] === "number";
    if (!Array.isArray(found) || !found.every(isFile)) {
      throw new UnexpectedReply("the session answered with no list of files");
    }
    return found.map(([name, bytes]: [string, number]) => ({ name, bytes }));
  }

  /** What CODE prints, all of it, where a result has only the beginning and the end. */
  async #printed<T>(code: string, { signal }: CallOptions): Promise<T> {
    const pieces: string[] = [];
    (await this.#session.run(code, { signal, onStdout: (text) => void pieces.push(text) })).check();
    try {
      return JSON.parse(pieces.join("")) as T;
    } catch (cause) {
      throw new UnexpectedReply("the session answered with no JSON: what else prints there?", { cause });
    }
  }
}
