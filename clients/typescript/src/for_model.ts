// SPDX-License-Identifier: Apache-2.0
// A result as one text that a model reads: the same as the Python client makes.
import type { ResultData } from "./api.js";
import { displayText, pictureOf } from "./display.js";

/** What `Result.forModel` takes. */
export interface ForModelOptions {
  /** The most characters that the text may have: 200 to 1048576, and 10000 by default. */
  maxChars?: number | undefined;
}

const LEAST = 200;
const MOST = 2 ** 20;
const USUAL = 10_000;

type Part = [title: string, text: string];

/**
 * All parts of RESULT that are there, each below its title. What is too long loses its middle, the longest
 * part first.
 */
export function forModel(result: ResultData, { maxChars = USUAL }: ForModelOptions): string {
  if (!(maxChars >= LEAST && maxChars <= MOST))
    throw new RangeError(`maxChars is ${LEAST} to ${MOST}, not ${maxChars}`);
  const parts = partsOf(result)
    .map(([title, text]): Part => [title, text.replace(/\n+$/, "")])
    .filter(([, text]) => /[^\n]/.test(text));
  const [first] = parts;
  if (!first) return "(ok: nothing was printed, and there is no value)";
  const alone = parts.length === 1 && ["stdout", "value"].includes(first[0]);
  const titles = parts.map(([title]) => (alone ? "" : `${title}:\n`));
  const taken = titles.join("").length + 2 * (parts.length - 1);
  const texts = fitted(
    parts.map(([, text]) => text),
    maxChars - taken,
  );
  return texts.map((text, at) => titles[at] + text).join("\n\n");
}

function partsOf(result: ResultData): Part[] {
  const { error, session } = result;
  const why = (hint: string | null) => (hint ? ` (${hint})` : "");
  const lines = (all: string[]) => all.join("\n");
  return [
    ["outcome", result.outcome === "ok" || result.outcome === "error" ? "" : result.outcome],
    ["stdout", result.stdout],
    ["stderr", result.stderr],
    ["value", result.value ? displayText(result.value) : ""],
    ["displayed", result.displays.map(shown).join("\n\n")],
    ["error", error ? error.traceback || `${error.type}: ${error.message}` : ""],
    ["hint", error?.hint ?? ""],
    ["refused", lines(result.violations.map((each) => `line ${each.line}: ${each.text}${why(each.hint)}`))],
    ["sandbox", lines(result.denials.map((each) => `${each.kind}: ${each.detail}${why(each.hint)}`))],
    ["files", lines(result.files.map((each) => `${each.name} (${each.mime}, ${each.bytes} bytes)`))],
    ["warnings", lines(result.warnings)],
    ["session", session && session.expires_in_ms === null ? session.status : ""],
  ];
}

function shown(display: Record<string, unknown>): string {
  const picture = pictureOf(display);
  return picture ? `(a picture, ${picture.mime})` : displayText(display);
}

/**
 * TEXTS, in all no longer than ROOM: each has an equal share, and what short ones leave goes to the longer
 * ones.
 */
function fitted(texts: string[], room: number): string[] {
  const made = [...texts];
  const byLength = texts.map((_, at) => at).sort((one, other) => texts[one]!.length - texts[other]!.length);
  byLength.forEach((at, done) => {
    made[at] = cut(texts[at]!, Math.max(Math.floor(room / (texts.length - done)), 0));
    room -= made[at].length;
  });
  return made;
}

/** TEXT with head and tail alone where it is longer than LENGTH, cut between characters. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const note = (count: number) => `\n... ${count} more characters ...\n`;
  const kept = length - note(text.length).length;
  if (kept < 2) return text.slice(0, before(text, length));
  const head = before(text, kept - Math.floor(kept / 2));
  const tail = after(text, text.length - Math.floor(kept / 2));
  return text.slice(0, head) + note(tail - head) + text.slice(tail);
}

function before(text: string, at: number): number {
  return isInside(text, at) ? at - 1 : at;
}

function after(text: string, at: number): number {
  return isInside(text, at) ? at + 1 : at;
}

/** Whether AT is between the two units of one character. */
function isInside(text: string, at: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(Math.max(at - 1, 0), at + 1));
}
