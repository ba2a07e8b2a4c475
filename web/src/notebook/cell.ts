// SPDX-License-Identifier: Apache-2.0
// A cell of a notebook: its text, and what its last run showed. What is stored of it, and read again, is plain data.
import type { ResultData, RunEvent } from "adder-client";
import { type Signal, signal } from "@preact/signals";
import type { Notable } from "../output/notes.js";
import { annotated, type DisplayOutput, type ErrorOutput, type Output, outputsOf } from "../output/outputs.js";
import { TextChunks } from "../output/text_chunks.js";

export type CellType = "code" | "markdown";
export type CellState = "idle" | "queued" | "running";

/** Printed text that may still grow. */
export interface LiveText {
  kind: "stream";
  name: "stdout" | "stderr";
  chunks: TextChunks;
}

export type CellOutput = LiveText | DisplayOutput | ErrorOutput;

/** How far the code says that it is. */
export interface Progress {
  text: string;
  done: number;
  of: number;
}

/** What is known of the last run besides its outputs. */
export interface CellRun extends Notable {
  run_id: string;
  wall_ms: number;
}

/** A cell as it is stored. */
export interface StoredCell {
  id: string;
  type: CellType;
  source: string;
  count: number | null;
  outputs: StoredOutput[];
  run: CellRun | null;
  /** The run that was under way when this was stored. */
  running?: string | undefined;
  /** What an imported notebook says about the cell. */
  metadata?: Record<string, unknown> | undefined;
  kept?: KeptParts | undefined;
}

/** Parts of an imported cell that this page does not use, and exports again. */
export interface KeptParts {
  /** A raw cell, which is shown as Markdown. */
  raw?: boolean;
  attachments?: unknown;
}

export type StoredOutput = { kind: "stream"; name: "stdout" | "stderr"; text: string; dropped: number } | DisplayOutput | ErrorOutput;

export class Cell {
  readonly id: string;
  readonly type: Signal<CellType>;
  readonly source: Signal<string>;
  readonly outputs = signal<CellOutput[]>([]);
  readonly run = signal<CellRun | null>(null);
  /** The number of the cell in its session, as "[3]" shows it. */
  readonly count = signal<number | null>(null);
  readonly state = signal<CellState>("idle");
  readonly progress = signal<Progress | null>(null);
  /** Grows with each change of printed text. */
  readonly version = signal(0);
  /** Why the last run never began, in one sentence. */
  readonly problem = signal<string | null>(null);
  /** Markdown: whether its text is edited rather than shown. */
  readonly editing = signal(false);
  /** The run that is under way. */
  runId: string | undefined;
  metadata: Record<string, unknown>;
  kept: KeptParts | undefined;

  constructor(type: CellType, source = "", id = newId(), metadata: Record<string, unknown> = {}) {
    this.id = id;
    this.type = signal(type);
    this.source = signal(source);
    this.metadata = metadata;
  }

  /** Forgets what the last run showed. */
  clear(): void {
    this.outputs.value = [];
    this.run.value = null;
    this.problem.value = null;
    this.progress.value = null;
    this.version.value = 0;
  }

  /** Adds printed text. */
  print(name: "stdout" | "stderr", text: string): void {
    const outputs = this.outputs.peek();
    const last = outputs.at(-1);
    if (last?.kind === "stream" && last.name === name) {
      last.chunks.append(text);
    } else {
      this.outputs.value = [...outputs, { kind: "stream", name, chunks: new TextChunks(text) }];
    }
    this.version.value++;
  }

  /** Adds what the code displayed, or replaces what it displayed before under the same id. */
  display(data: Record<string, unknown>, displayId: string | null, update: boolean): boolean {
    const outputs = this.outputs.peek();
    const isSame = (output: CellOutput) => output.kind === "display" && output.displayId === displayId;
    if (update && displayId !== null) {
      if (!outputs.some(isSame)) return false;
      this.outputs.value = outputs.map((output) => (isSame(output) ? { ...output, data } : output)) as CellOutput[];
      return true;
    }
    this.outputs.value = [...outputs, { kind: "display", data, displayId }];
    return true;
  }

  /** Takes what RESULT has beyond what was shown while the cell ran. */
  finish(result: ResultData): void {
    this.outputs.value = finished(this.outputs.peek(), result);
    this.count.value = result.session?.cell ?? this.count.peek();
    this.run.value = runOf(result);
    this.progress.value = null;
    this.runId = undefined;
    this.version.value++;
  }

  stored(): StoredCell {
    return {
      id: this.id,
      type: this.type.peek(),
      source: this.source.peek(),
      count: this.count.peek(),
      outputs: this.outputs.peek().map(storedOutput),
      run: this.run.peek(),
      running: this.runId,
      metadata: this.metadata,
      kept: this.type.peek() === "markdown" ? this.kept : undefined,
    };
  }

  static restored(stored: StoredCell): Cell {
    const cell = new Cell(stored.type, stored.source, stored.id, stored.metadata);
    cell.count.value = stored.count;
    cell.outputs.value = stored.outputs.map(liveOutput);
    cell.run.value = stored.run;
    cell.runId = stored.running;
    cell.kept = stored.kept;
    return cell;
  }
}

/** Shows an EVENT of CELL other than text and the result. It may update what another of CELLS displayed. */
export function showEvent(cell: Cell, event: RunEvent, cells: Cell[]): void {
  if (event.type === "progress") cell.progress.value = { text: event.text, done: event.done, of: event.of };
  if (event.type === "missed") cell.print("stderr", `(${event.events} earlier events of this run are no longer kept)\n`);
  if (event.type !== "display" || cell.display(event.data, event.display_id, event.update)) return;
  for (const other of cells) other.display(event.data, event.display_id, true);
}

/** Letters and digits, as nbformat wants them. */
export function newId(): string {
  return crypto.getRandomValues(new Uint32Array(2)).reduce((text, part) => text + part.toString(16).padStart(8, "0"), "");
}

function runOf(result: ResultData): CellRun {
  const { run_id, outcome, files, warnings, denials, violations, truncated, result_id, stdout_bytes, stderr_bytes, approval_id } = result;
  const notes = { run_id, outcome, files, warnings, denials, violations, truncated, result_id, stdout_bytes, stderr_bytes, approval_id };
  return { ...notes, wall_ms: result.usage.wall_ms };
}

/** Printed text stays in the order in which it came between displays, unless events were missed. */
function finished(live: CellOutput[], result: ResultData): CellOutput[] {
  const whole = outputsOf(result);
  const isDisplay = (output: { kind: string }) => output.kind === "display";
  const streams = live.filter((output) => output.kind === "stream");
  const complete = live.filter(isDisplay).length === whole.filter(isDisplay).length && (streams.length > 0 || !(result.stdout || result.stderr));
  if (!complete) return [...streams, ...whole.filter((output) => streams.length === 0 || output.kind !== "stream").map(fromOutput)];
  const last = whole.filter((output) => output.kind === "value" || output.kind === "error");
  const shown = [...live.filter((output) => output.kind === "stream" || output.kind === "display"), ...last.map(fromOutput)];
  return annotated(shown as Output[], result) as CellOutput[];
}

function fromOutput(output: Output): CellOutput {
  return output.kind === "stream" ? { kind: "stream", name: output.name, chunks: new TextChunks(output.text) } : output;
}

function storedOutput(output: CellOutput): StoredOutput {
  if (output.kind !== "stream") return output;
  return { kind: "stream", name: output.name, text: output.chunks.text, dropped: output.chunks.dropped };
}

function liveOutput(output: StoredOutput): CellOutput {
  if (output.kind !== "stream") return output;
  const chunks = new TextChunks(output.text);
  chunks.dropped += output.dropped;
  return { kind: "stream", name: output.name, chunks };
}
