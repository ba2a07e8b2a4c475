// SPDX-License-Identifier: Apache-2.0
// Printed text in chunks of a bounded number, so that a page can show much of it, and more every moment. The tail is kept.
import { type AnsiStyle, ansiPieces } from "./ansi.js";

export interface TextChunk {
  id: number;
  text: string;
  lines: number;
  /** The style in which it begins. */
  before: AnsiStyle | undefined;
}

const CHUNK_LINES = 200;
const CHUNK_CHARACTERS = 64 * 1024;
const MOST_CHUNKS = 128;
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** Text that grows. What is dropped at its beginning is counted. */
export class TextChunks {
  chunks: TextChunk[] = [];
  /** Lines that were dropped at the beginning. */
  dropped = 0;
  #next = 0;
  #characters = 0;
  #partial = ""; // the last line, which has no end yet; it may be overwritten after a carriage return

  constructor(text = "") {
    if (text) this.append(text);
  }

  get text(): string {
    return this.chunks.map((chunk) => chunk.text).join("");
  }

  append(text: string): void {
    const lines = (this.#partial + text).split("\n");
    this.#take(this.#partial.length);
    const rest = lines.pop() ?? "";
    for (const line of lines) this.#add(overwritten(line) + "\n", 1);
    this.#partial = rest.length > CHUNK_CHARACTERS ? "" : overwritten(rest, true);
    this.#add(rest.length > CHUNK_CHARACTERS ? overwritten(rest) : this.#partial, 0);
    this.#trim();
  }

  /** Removes the last LENGTH characters, which are added again with what follows them. */
  #take(length: number): void {
    const last = this.chunks.at(-1);
    if (length === 0 || !last) return;
    this.#replace({ ...last, text: last.text.slice(0, last.text.length - length) });
    this.#characters -= length;
  }

  #add(text: string, lines: number): void {
    if (text === "") return;
    const last = this.chunks.at(-1);
    this.#characters += text.length;
    if (last && last.lines < CHUNK_LINES && last.text.length < CHUNK_CHARACTERS) {
      this.#replace({ ...last, text: last.text + text, lines: last.lines + lines });
      return;
    }
    const before = last && last.text.includes("\x1b") ? ansiPieces(last.text, last.before).after : last?.before;
    this.chunks.push({ id: this.#next++, text, lines, before });
  }

  #replace(chunk: TextChunk): void {
    this.chunks[this.chunks.length - 1] = chunk;
  }

  #trim(): void {
    while (this.chunks.length > 1 && (this.chunks.length > MOST_CHUNKS || this.#characters > MOST_CHARACTERS)) {
      const first = this.chunks.shift() as TextChunk;
      this.dropped += first.lines;
      this.#characters -= first.text.length;
    }
  }
}

/** LINE after its carriage returns, as progress bars use them. In a line that is not whole, one at the end counts later. */
function overwritten(line: string, partial = false): string {
  if (!line.includes("\r")) return line;
  const whole = line.replace(/\r+$/, "");
  const shown = whole.slice(whole.lastIndexOf("\r") + 1);
  return partial && whole !== line ? shown + "\r" : shown;
}
