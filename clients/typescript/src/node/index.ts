// SPDX-License-Identifier: Apache-2.0
// adder-client/node: files of this machine, for programs in Node.
import { constants, openAsBlob } from "node:fs";
import { access, copyFile, link, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { StoredFile } from "../api.js";
import type { CallOptions, KeptFile } from "../bodies.js";
import { AdderError } from "../errors.js";
import type { Files } from "../files.js";

/** What `saveFile` and `saveFiles` take. */
export interface SaveOptions extends CallOptions {
  /** Whether files that are there are replaced. */
  force?: boolean | undefined;
}

/** The file at PATH, for `files` of a run and for `files.put`. It is read when it is sent. */
export async function fromPath(path: string, name: string = basename(path)): Promise<File> {
  await access(path, constants.R_OK); // openAsBlob does not say what is wrong
  return new File([await openAsBlob(path)], name);
}

/** Writes a file that the server keeps to PATH, which is whole afterwards or as it was before. */
export async function saveFile(
  files: Files,
  file: string | KeptFile,
  path: string,
  options: SaveOptions = {},
): Promise<string> {
  const beside = join(dirname(path), `.adder-${crypto.randomUUID()}`);
  const target = await open(beside, "wx", 0o666);
  try {
    for await (const piece of files.stream(file, { signal: options.signal })) await target.writeFile(piece);
    await target.close();
    if (options.force) await rename(beside, path);
    else await claim(beside, path);
  } finally {
    await target.close().catch(() => undefined);
    await rm(beside, { force: true });
  }
  return path;
}

/**
 * Writes all files that a run made below DIRECTORY, and gives their paths. Their names come out of the
 * sandbox: none is written through a link or as a hidden file, and none over what is there unless `force`
 * says so. Nothing is written where one of them cannot be.
 */
export async function saveFiles(
  files: Files,
  made: ReadonlyArray<KeptFile | StoredFile>,
  directory: string,
  options: SaveOptions = {},
): Promise<string[]> {
  const kept = made.filter((file) => file.file_id !== null);
  const paths = await planned(
    directory,
    kept.map((file) => file.name),
    options.force ?? false,
  );
  for (const [at, file] of kept.entries()) {
    await makeFolders(directory, file.name);
    await saveFile(files, file, paths[at]!, options);
  }
  return paths;
}

/** Gives BESIDE its name PATH, unless that is taken. */
async function claim(beside: string, path: string): Promise<void> {
  try {
    await link(beside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw new AdderError(`${path} is there already`, { cause: error });
    await copyFile(beside, path, constants.COPYFILE_EXCL); // no second links here, as on FAT
  }
}

async function planned(directory: string, names: string[], force: boolean): Promise<string[]> {
  const taken = new Map<string, string>();
  const wrong: string[] = [];
  for (const name of names) {
    const parts = name.split("/");
    if (parts.some((part) => ["", ".", ".."].includes(part.trim()) || part.includes("\\"))) {
      wrong.push(`a file is called ${JSON.stringify(name)}, which is no name to write to`);
      continue;
    }
    const path = join(directory, ...parts.map(fit));
    const there = await lstat(path).catch(() => undefined);
    if (taken.has(path))
      wrong.push(`${JSON.stringify(name)} and ${JSON.stringify(taken.get(path))} would both be ${path}`);
    else if (!(await foldersAreOwn(directory, parts)))
      wrong.push(`the folder of ${path} is a link or a file`);
    else if (there && (!force || there.isDirectory())) wrong.push(`${path} is there already`);
    taken.set(path, name);
  }
  if (wrong.length > 0) throw new AdderError(`nothing is written: ${wrong.join("; ")}`);
  return [...taken.keys()];
}

function foldersOf(directory: string, parts: string[]): string[] {
  return parts.slice(0, -1).map((_, at) => join(directory, ...parts.slice(0, at + 1).map(fit)));
}

async function foldersAreOwn(directory: string, parts: string[]): Promise<boolean> {
  for (const folder of foldersOf(directory, parts)) {
    const there = await lstat(folder).catch(() => undefined);
    if (there && !there.isDirectory()) return false;
  }
  return true;
}

async function makeFolders(directory: string, name: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const folder of foldersOf(directory, name.split("/"))) {
    await mkdir(folder).catch(async (error: unknown) => {
      if (!(await lstat(folder).catch(() => undefined))?.isDirectory()) throw error;
    });
  }
}

/** PART of a name without what hides it, what makes it an option, and what nobody sees. */
function fit(part: string): string {
  const shown = part.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "_").trim();
  return /^[.-]/.test(shown) ? `_${shown.slice(1)}` : shown;
}
