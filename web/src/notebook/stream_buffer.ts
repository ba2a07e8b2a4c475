// SPDX-License-Identifier: Apache-2.0
// Printed text on its way into a cell: it is gathered, and added once for each frame.
import { oncePerFrame } from "../parts/frames.js";
import type { Cell } from "./cell.js";

type Name = "stdout" | "stderr";

const MOST_PIECES = 2000;

export class StreamBuffer {
  readonly #cell: Cell;
  readonly #soon = oncePerFrame(() => this.flush());
  #name: Name = "stdout";
  #pieces: string[] = [];

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  add(name: Name, text: string): void {
    if (name !== this.#name || this.#pieces.length > MOST_PIECES) this.flush();
    this.#name = name;
    this.#pieces.push(text);
    this.#soon();
  }

  /** Adds at once what was gathered, before something that comes after it. */
  flush(): void {
    if (this.#pieces.length === 0) return;
    const text = this.#pieces.join("");
    this.#pieces = [];
    this.#cell.print(this.#name, text);
  }
}
