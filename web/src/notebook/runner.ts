// SPDX-License-Identifier: Apache-2.0
// Runs the cells of a notebook in order, one at a time, and shows their output as it comes.
import type { ResultData, RunEvent } from "adder-client";
import { signal } from "@preact/signals";
import { Ended, NotFound } from "../../../clients/typescript/src/errors.js";
import { adder, messageOf } from "../app/api.js";
import { caller } from "../app/caller.js";
import { spaced } from "../parts/format.js";
import { type Cell, showEvent } from "./cell.js";
import type { Notebook } from "./notebook.js";
import { StreamBuffer } from "./stream_buffer.js";

export class Runner {
  readonly #notebook: Notebook;
  readonly running = signal<Cell | undefined>(undefined);
  readonly queue = signal<Cell[]>([]);
  /** What ended last, for screen readers. */
  readonly said = signal("");
  /** Counts the runs that this page began or went on with. */
  begun = 0;
  /** Called after each run of code, and when the session turns out to have ended. */
  onSettled: () => void = () => undefined;

  constructor(notebook: Notebook) {
    this.#notebook = notebook;
  }

  /** Adds CELLS to the queue; those that wait or run already stay where they are. */
  enqueue(cells: Cell[]): void {
    const added = cells.filter((cell) => cell.type.peek() === "code" && cell.state.peek() === "idle" && cell.source.peek().trim() !== "");
    for (const cell of added) cell.state.value = "queued";
    this.queue.value = [...this.queue.peek(), ...added];
    for (const cell of cells) if (cell.type.peek() === "markdown") cell.editing.value = false;
    if (!this.running.peek()) void this.#work();
  }

  /** Takes everything out of the queue that does not run yet. */
  clearQueue(): void {
    for (const cell of this.queue.peek()) cell.state.value = "idle";
    this.queue.value = [];
  }

  /** Raises KeyboardInterrupt in the code that runs, and forgets what waits. */
  async interrupt(): Promise<void> {
    this.clearQueue();
    await this.#notebook.session().interrupt();
  }

  /** Goes on with a cell that ran when the page was closed. */
  async resume(cell: Cell): Promise<void> {
    const runId = cell.runId;
    if (!runId || this.running.peek()) return;
    const shown = cell.outputs.peek();
    await this.#one(cell, () => followed(runId));
    if (cell.problem.peek()) cell.outputs.value = shown;
    void this.#work();
  }

  async #work(): Promise<void> {
    for (;;) {
      const [cell, ...rest] = this.queue.peek();
      if (!cell || this.running.peek()) return;
      this.queue.value = rest;
      const ok = await this.#one(cell, () => this.#begin(cell));
      if (!ok) this.clearQueue();
    }
  }

  #begin(cell: Cell): AsyncIterable<RunEvent> {
    const { wallMs } = this.#notebook;
    return this.#notebook.session().stream(cell.source.peek(), {
      detach: true,
      ...(caller.peek()?.keeps_files && { tables: "parquet" as const }),
      ...(wallMs !== null && { limits: { wall_ms: wallMs, cpu_ms: wallMs } }),
    });
  }

  /** Whether the cell ended as ok. */
  async #one(cell: Cell, begin: () => AsyncIterable<RunEvent> | Promise<AsyncIterable<RunEvent>>): Promise<boolean> {
    this.begun++;
    cell.clear();
    cell.state.value = "running";
    this.running.value = cell;
    try {
      const result = await this.#follow(cell, await begin());
      if (result) this.#tell(cell, result);
      return result?.outcome === "ok";
    } catch (error) {
      this.#failed(cell, error);
      return false;
    } finally {
      cell.runId = undefined;
      cell.state.value = "idle";
      cell.progress.value = null;
      this.running.value = undefined;
      this.#notebook.changed();
      this.onSettled();
    }
  }

  async #follow(cell: Cell, events: AsyncIterable<RunEvent>): Promise<ResultData | undefined> {
    const buffer = new StreamBuffer(cell);
    for await (const event of events) {
      if (event.type === "stdout" || event.type === "stderr") {
        buffer.add(event.type, event.text);
        continue;
      }
      buffer.flush();
      if (event.type === "result") {
        this.#take(cell, event.result);
        return event.result;
      }
      if (event.type === "started") this.#begun(cell, event.run_id);
      else showEvent(cell, event, this.#notebook.cells.peek());
    }
    return undefined;
  }

  #begun(cell: Cell, runId: string): void {
    cell.runId = runId;
    this.#notebook.changed();
  }

  #take(cell: Cell, result: ResultData): void {
    cell.finish(result);
    const notebook = this.#notebook;
    if (result.session) notebook.seen.add(result.session.cell);
    if (result.error?.type === "SessionEnded") this.#hasEnded();
  }

  #tell(cell: Cell, result: ResultData): void {
    const number = this.#notebook.at(cell) + 1;
    this.said.value = `Cell ${number}: ${spaced(result.outcome)}${result.error ? `, ${result.error.type}` : ""}`;
  }

  #failed(cell: Cell, error: unknown): void {
    if (error instanceof Ended || error instanceof NotFound) this.#hasEnded();
    cell.problem.value = messageOf(error);
    this.said.value = `Cell ${this.#notebook.at(cell) + 1} did not run: ${messageOf(error)}`;
  }

  #hasEnded(): void {
    const info = this.#notebook.info.peek();
    if (info && info.state !== "ended") this.#notebook.info.value = { ...info, state: "ended" };
  }
}

/** The events of a run that another page began. */
async function followed(runId: string): Promise<AsyncIterable<RunEvent>> {
  try {
    return (await adder.getRun(runId)).stream();
  } catch (error) {
    throw error instanceof NotFound ? new Error("The page was closed while the cell ran, and its result is no longer kept.") : error;
  }
}
