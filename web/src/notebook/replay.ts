// SPDX-License-Identifier: Apache-2.0
// Runs the recorded cells of a session again in a new one. Until that has ended the notebook stays as it is.
import type { ReplayingEvent, SessionInfo } from "../../../clients/typescript/src/index.js";
import { signal } from "@preact/signals";
import { Cell, showEvent } from "./cell.js";
import type { Notebook } from "./notebook.js";
import { StreamBuffer } from "./stream_buffer.js";

export interface ReplayStep {
  number: number;
  code: string;
  /** null: it has not run yet. */
  outcome: string | null;
  running: boolean;
  /** What is not as it was. */
  differs: string[];
}

export class NotebookReplay {
  readonly steps = signal<ReplayStep[]>([]);
  /** Cells that would end the new session as they ended the old one. */
  readonly leftOut = signal<number[]>([]);
  readonly #notebook: Notebook;
  readonly #abort = new AbortController();
  readonly #copies = new Map<number, Cell>();
  readonly cells: Cell[];
  #current: { cell: Cell; buffer: StreamBuffer } | undefined;

  constructor(notebook: Notebook) {
    this.#notebook = notebook;
    this.cells = notebook.cells.peek().map((cell) => Cell.restored({ ...cell.stored(), running: undefined }));
    for (const cell of this.cells) {
      const count = cell.count.peek();
      if (count !== null) this.#copies.set(count, cell);
    }
  }

  cancel(): void {
    this.#abort.abort();
  }

  /** The new session; fails with one sentence if there is none. Nothing has changed then. */
  async run(): Promise<SessionInfo> {
    for await (const event of this.#notebook.session().replayStream({ signal: this.#abort.signal })) {
      if (event.type === "end") return this.#ended(event);
      this.#take(event);
    }
    throw new Error("the replay ended without a result");
  }

  #take(event: ReplayingEvent): void {
    switch (event.type) {
      case "replay":
        this.leftOut.value = event.left_out;
        this.steps.value = event.cells.map(stepOf);
        break;
      case "cell":
        this.#begin(event.cell);
        break;
      case "stdout":
      case "stderr":
        this.#current?.buffer.add(event.type, event.text);
        break;
      case "result":
        this.#current?.buffer.flush();
        this.#current?.cell.finish(event.result);
        break;
      case "display":
      case "progress":
        this.#current?.buffer.flush();
        if (this.#current) showEvent(this.#current.cell, event, this.cells);
        break;
      default:
        break;
    }
  }

  #begin(number: number): void {
    const cell = this.#copies.get(number) ?? new Cell("code");
    cell.clear();
    this.#current = { cell, buffer: new StreamBuffer(cell) };
    this.steps.value = this.steps.peek().map((step) => ({
      ...step,
      outcome: step.running ? "ok" : step.outcome,
      running: step.number === number,
    }));
  }

  #ended({ session, problem, cells }: Extract<ReplayingEvent, { type: "end" }>): SessionInfo {
    if (!session) throw new Error(problem ?? "the replay has no session");
    const outcomes = new Map(cells.map((cell) => [cell.cell, cell]));
    this.steps.value = this.steps.peek().map((step) => {
      const cell = outcomes.get(step.number);
      return { ...step, running: false, outcome: cell?.outcome ?? step.outcome, differs: cell?.differs ?? [] };
    });
    return session;
  }
}

function stepOf(cell: Record<string, unknown>): ReplayStep {
  return { number: Number(cell["cell"]), code: String(cell["code"] ?? ""), outcome: null, running: false, differs: [] };
}
