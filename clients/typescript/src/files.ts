// SPDX-License-Identifier: Apache-2.0
// What the server keeps: files, long output, records.
import type {
  FileFilter,
  FilePage,
  Part,
  RecordFilter,
  RecordPage,
  RecordStats,
  RecordSummary,
  RunRecord,
  StoredFile,
} from "./api.js";
import type { CallOptions, KeptFile } from "./bodies.js";
import { idOf, pathOf, queryOf } from "./bodies.js";
import { UnexpectedReply } from "./errors.js";
import type { Http } from "./http.js";

/** Bytes as they come. */
export type Pieces = AsyncGenerator<Uint8Array, void, undefined>;

/** What one page of a list takes. */
export interface PageOptions extends CallOptions {
  /** How many, 100 by default. */
  limit?: number | undefined;
  /** The `next` of the page before. */
  before?: string | undefined;
}

const PART_BYTES = 2 ** 20;

/** What `files.put` takes. */
export interface PutOptions extends CallOptions {
  /** What the file is called; a File has a name of its own. */
  name?: string | undefined;
  /** The conversation to which it belongs, as the caller names it. */
  conversation?: string | undefined;
}

/** Files that the server keeps until they expire. */
export class Files {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Puts a file in, of any length: a Blob is sent as it is read. */
  async put(content: string | Uint8Array | Blob, options: PutOptions = {}): Promise<StoredFile> {
    const name = options.name ?? (content as Partial<File>).name;
    if (!name) throw new TypeError('files.put: text, bytes and Blobs need a name: { name: "data.csv" }');
    const form = new FormData();
    form.set("file", content instanceof Blob ? content : new Blob([content as BlobPart]), name);
    if (options.conversation !== undefined) form.set("conversation", options.conversation);
    const asking = { body: form, endless: true, signal: options.signal };
    const { files } = await this.#http.ask<{ files: StoredFile[] }>("POST", "/v1/files", asking);
    if (!files?.[0]) throw new UnexpectedReply("an answer without the file that was put in");
    return files[0];
  }

  /** Some of the files, the newest first. */
  async page(options: FileFilter & PageOptions = {}): Promise<FilePage> {
    return this.#http.ask("GET", "/v1/files", { query: queryOf(options), signal: options.signal });
  }

  /** All files that the filter names, the newest first. */
  list(options: FileFilter & CallOptions = {}): AsyncGenerator<StoredFile, void, undefined> {
    return everyOne(options, async (asked) => {
      const { files, next } = await this.page(asked);
      return { items: files, next };
    });
  }

  /** What is known of a file. */
  async show(file: string | KeptFile, options: CallOptions = {}): Promise<StoredFile> {
    return this.#http.ask("GET", pathOf("v1", "files", idOf(file)), options);
  }

  /** The whole content. For what may be long, `stream` holds little of it at a time. */
  async get(file: string | KeptFile, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#http.bytes(this.#content(file), { ...options, headers: { Accept: "*/*" } });
  }

  /** The whole content as text, in UTF-8. */
  async text(file: string | KeptFile, options: CallOptions = {}): Promise<string> {
    return new TextDecoder().decode(await this.get(file, options));
  }

  /** The content from the byte `start` on, in pieces. */
  stream(file: string | KeptFile, options: { start?: number | undefined } & CallOptions = {}): Pieces {
    const range: Record<string, string> = options.start ? { Range: `bytes=${options.start}-` } : {};
    const headers = { Accept: "*/*", ...range };
    return this.#http.pieces(this.#content(file), { signal: options.signal, headers });
  }

  /** Removes a file. */
  async delete(file: string | KeptFile, options: CallOptions = {}): Promise<void> {
    await this.#http.tell("DELETE", pathOf("v1", "files", idOf(file)), options);
  }

  #content(file: string | KeptFile): string {
    return pathOf("v1", "files", idOf(file), "content");
  }
}

/** The whole output of runs whose reply was cut, by their `result_id`. */
export class Results {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** A part of it; with `grep` the lines that match. */
  async part(
    resultId: string,
    options: {
      stream?: "stdout" | "stderr";
      offset?: number;
      limit?: number;
      grep?: string;
    } & CallOptions = {},
  ): Promise<Part> {
    const query = queryOf({ stream: "stdout", ...options });
    return this.#http.ask("GET", pathOf("v1", "results", resultId), { query, signal: options.signal });
  }

  /** All of it, in pieces. */
  async *read(
    resultId: string,
    options: { stream?: "stdout" | "stderr" } & CallOptions = {},
  ): AsyncGenerator<string, void, undefined> {
    for (let offset = 0, atEnd = false; !atEnd;) {
      const part = await this.part(resultId, { ...options, offset, limit: PART_BYTES });
      if (part.text) yield part.text;
      [offset, atEnd] = [part.next_offset, part.at_end];
    }
  }
}

/** Who ran what, and how it ended: docs/records.md of Adder describes a record. */
export class Records {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Some of the records, the newest first. */
  async page(options: RecordFilter & PageOptions = {}): Promise<RecordPage> {
    return this.#http.ask("GET", "/v1/records", { query: queryOf(options), signal: options.signal });
  }

  /** All records that the filter names, the newest first. */
  list(options: RecordFilter & CallOptions = {}): AsyncGenerator<RecordSummary, void, undefined> {
    return everyOne(options, async (asked) => {
      const { records, next } = await this.page(asked);
      return { items: records, next };
    });
  }

  /** The whole record of a run. */
  async show(runId: string, options: CallOptions = {}): Promise<RunRecord> {
    return this.#http.ask("GET", pathOf("v1", "records", runId), options);
  }

  /** How many there are, and what they used. */
  async stats(options: RecordFilter & CallOptions = {}): Promise<RecordStats> {
    return this.#http.ask("GET", "/v1/records/stats", { query: queryOf(options), signal: options.signal });
  }

  /** JSON lines or CSV, the oldest first, in pieces. */
  export(options: RecordFilter & { format?: "jsonl" | "csv" } & CallOptions = {}): Pieces {
    const query = queryOf({ format: "jsonl", ...options });
    const asking = { query, signal: options.signal, headers: { Accept: "*/*" } };
    return this.#http.pieces("/v1/records/export", asking);
  }
}

/** The items of all pages. */
async function* everyOne<Item, Options extends object>(
  options: Options,
  page: (options: Options & PageOptions) => Promise<{ items: Item[]; next: string | null }>,
): AsyncGenerator<Item, void, undefined> {
  let before: string | undefined;
  do {
    const { items, next } = await page({ ...options, before });
    yield* items;
    before = next ?? undefined;
  } while (before !== undefined);
}
