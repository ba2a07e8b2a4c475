// SPDX-License-Identifier: Apache-2.0
// From options, as callers give them, to the bodies and queries of HTTP.
import { toBase64 } from "./base64.js";
import { AdderError } from "./errors.js";

/** A file that the server keeps: what `files.put` returned, or one of a result's `files`. */
export interface KeptFile {
  file_id: string | null;
  name: string;
}

/** Text, bytes, a Blob (from a path: `fromPath` of "adder-client/node"), or a file that the server keeps. */
export type FileContent = string | Uint8Array | ArrayBuffer | Blob | KeptFile;

/**
 * Files by the name that the code opens; or a list of files that have names. A name below /tmp/ lies
 * there.
 */
export type Files = Record<string, FileContent> | ReadonlyArray<KeptFile | File>;

/** What each call takes beside its options of the API. */
export interface CallOptions {
  /** Ends the call; a run that it waits for is cancelled. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Limits that most calls set, in short. */
export interface ShortLimits {
  /** Milliseconds that the code may take: the limit `wall_ms`. */
  timeout_ms?: number | undefined;
  /** MiB that it may have: the limit `memory_bytes`. */
  memory_mb?: number | undefined;
}

type Body = Record<string, unknown>;

/** The JSON body that says what OPTIONS do. What is undefined is left out. */
export async function bodyOf(options: object): Promise<Body> {
  const { timeout_ms, memory_mb, limits, files, signal: _, ...body } = options as Body & { files?: Files };
  const all = {
    ...(limits as Body | undefined),
    ...(timeout_ms !== undefined && { wall_ms: Math.round(timeout_ms as number) }),
    ...(memory_mb !== undefined && { memory_bytes: Math.round((memory_mb as number) * 2 ** 20) }),
  };
  if (Object.keys(all).length > 0) body["limits"] = all;
  if (files !== undefined) body["files"] = await Promise.all(named(files).map(entryOf));
  return body;
}

/** The same of a query. */
export function queryOf(options: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && value !== null && name !== "signal") query.set(name, String(value));
  }
  return query;
}

/** A path; each part stays one part, whatever is in it. */
export function pathOf(...parts: Array<string | number>): string {
  return parts
    .map((part) => "/" + encodeURIComponent(part).replace(/^\.+$/, (dots) => "%2E".repeat(dots.length)))
    .join("");
}

export function isKept(content: unknown): content is KeptFile {
  return typeof content === "object" && content !== null && "file_id" in content;
}

export function idOf(file: string | KeptFile): string {
  const id = typeof file === "string" ? file : file.file_id;
  if (id === null)
    throw new AdderError(`the file ${(file as KeptFile).name} was not kept: the result's warnings say why`);
  return id;
}

/** CONTENT as bytes. */
export async function bytesOf(content: Exclude<FileContent, KeptFile>): Promise<Uint8Array> {
  if (typeof content === "string") return new TextEncoder().encode(content);
  if (content instanceof Uint8Array) return content;
  return new Uint8Array(content instanceof ArrayBuffer ? content : await content.arrayBuffer());
}

function named(files: Files): Array<[string, FileContent]> {
  if (!Array.isArray(files)) return Object.entries(files);
  return files.map((file: KeptFile | File | string | undefined, at) => {
    if (typeof file === "string") {
      const shown = JSON.stringify(file.slice(0, 80));
      throw new TypeError(
        `files[${at}] is the string ${shown}, which is no file: give { name: content } for text or bytes, ` +
          `or await fromPath(${shown}) of "adder-client/node" for a file of this machine`,
      );
    }
    if (typeof file?.name !== "string")
      throw new TypeError(`files[${at}] has no name: give { name: content } in place of a list`);
    return [file.name, file];
  });
}

async function entryOf([name, content]: [string, FileContent]): Promise<Body> {
  if (isKept(content)) {
    const file_id = idOf(content);
    return name.startsWith("/tmp/")
      ? { name: name.slice("/tmp/".length), file_id, place: "tmp" }
      : { name, file_id };
  }
  const text = typeof content === "string" ? content : textOf(await bytesOf(content));
  // JSON could carry neither lone surrogates nor, to every server, a zero.
  if (
    text !== undefined &&
    !/\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)
  )
    return { name, text };
  return { name, base64: toBase64(await bytesOf(content)) };
}

/** BYTES as text; undefined where they are none. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
