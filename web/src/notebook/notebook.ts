// SPDX-License-Identifier: Apache-2.0
// A notebook: the cells of one session, which of them is selected, and what becomes of all that when the session ends.
import type { Session, SessionInfo } from "adder-client";
import { computed, signal } from "@preact/signals";
import { sessionOf } from "../app/api.js";
import { keptOwner } from "../parts/kept.js";
import { sayError } from "../parts/toasts.js";
import { Cell, type CellType, type StoredCell } from "./cell.js";
import { keyOf, saveNotebook, type StoredNotebook, type Upload } from "./store.js";

const SAVE_MS = 250;
const MOST_DELETED = 50;

export class Notebook {
  sessionId: string;
  readonly info = signal<SessionInfo | null>(null);
  readonly cells = signal<Cell[]>([]);
  readonly selected = signal<string | null>(null);
  /** Whether the text of the selected cell has the focus, rather than the cell. */
  readonly editing = signal(false);
  /** Grows when the selected cell is to have the focus. */
  readonly focusing = signal(0);
  /** The value of `focusing` up to which that was done. */
  focusedUpTo = 0;
  readonly ended = computed(() => this.info.value === null || this.info.value.state === "ended");
  /** The numbers of the session's cells that are in the notebook, or were left out of it. */
  readonly seen = new Set<number>();
  uploads: Upload[] = [];
  wallMs: number | null = null;
  name: string | null = null;
  environment: string | null = null;
  profile: string | null = null;
  metadata: Record<string, unknown> = {};
  readonly #deleted: Array<{ cell: Cell; at: number }> = [];
  #saving: ReturnType<typeof setTimeout> | undefined;
  #failed = false;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  static restored(stored: StoredNotebook): Notebook {
    const notebook = new Notebook(stored.sessionId);
    const { name, environment, profile, wallMs, uploads, metadata } = stored;
    Object.assign(notebook, { name, environment, profile, wallMs, uploads, metadata });
    for (const cell of stored.seen) notebook.seen.add(cell);
    notebook.take(stored.cells);
    return notebook;
  }

  /** Shows CELLS in place of what is there. */
  take(cells: StoredCell[]): void {
    this.cells.value = cells.map((cell) => Cell.restored(cell));
    this.#atLeastOne();
    this.selected.value = this.cells.peek()[0]?.id ?? null;
  }

  know(info: SessionInfo): void {
    const before = this.info.peek();
    this.info.value = info;
    this.name = info.name;
    this.environment = info.environment;
    this.profile = info.profile;
    // After a rollback or a reset its cells are numbered from there again. An event may come later than the result of a newer cell.
    const wentBack = !before || info.cells < before.cells;
    if (wentBack && info.state !== "ended") for (const cell of this.seen) if (cell > info.cells) this.seen.delete(cell);
  }

  /** What acts on the session, which is not asked for again. */
  session(): Session {
    return sessionOf(this.sessionId);
  }

  get current(): Cell | undefined {
    return this.cells.peek().find((cell) => cell.id === this.selected.peek());
  }

  at(cell: Cell | undefined): number {
    return cell ? this.cells.peek().indexOf(cell) : -1;
  }

  /** Selects CELL and gives it the focus. */
  select(cell: Cell | undefined, editing = false): void {
    if (!cell) return;
    this.touch(cell, editing);
    this.focusing.value++;
  }

  /** Selects CELL, which has the focus already. */
  touch(cell: Cell, editing: boolean): void {
    this.selected.value = cell.id;
    this.editing.value = editing;
  }

  /** Selects the cell STEPS further on. */
  step(steps: number): Cell | undefined {
    const cells = this.cells.peek();
    const cell = cells[Math.min(Math.max(this.at(this.current) + steps, 0), cells.length - 1)];
    this.select(cell);
    return cell;
  }

  insert(at: number, cell: Cell, editing = false): Cell {
    const cells = this.cells.peek();
    this.cells.value = [...cells.slice(0, at), cell, ...cells.slice(at)];
    this.select(cell, editing);
    this.changed();
    return cell;
  }

  insertNew(at: number, type: CellType, editing = false): Cell {
    const cell = new Cell(type);
    cell.editing.value = type === "markdown";
    return this.insert(at, cell, editing);
  }

  insertBeside(offset: 0 | 1, editing = false): Cell {
    return this.insertNew(this.at(this.current) + offset, "code", editing);
  }

  remove(cell: Cell): void {
    const at = this.at(cell);
    if (at < 0 || cell.state.peek() !== "idle") return;
    this.#deleted.push({ cell, at });
    if (this.#deleted.length > MOST_DELETED) this.#deleted.shift();
    this.cells.value = this.cells.peek().filter((each) => each !== cell);
    this.#atLeastOne();
    const cells = this.cells.peek();
    this.select(cells[Math.min(at, cells.length - 1)]);
    this.changed();
  }

  /** Brings back the cell that was deleted last. */
  undelete(): boolean {
    const last = this.#deleted.pop();
    if (last) this.insert(Math.min(last.at, this.cells.peek().length), last.cell);
    return last !== undefined;
  }

  move(cell: Cell, steps: 1 | -1): void {
    const cells = [...this.cells.peek()];
    const at = cells.indexOf(cell);
    const to = at + steps;
    if (at < 0 || to < 0 || to >= cells.length) return;
    cells.splice(at, 1);
    cells.splice(to, 0, cell);
    this.cells.value = cells;
    this.changed();
  }

  change(cell: Cell, type: CellType): void {
    if (cell.type.peek() === type || cell.state.peek() !== "idle") return;
    cell.type.value = type;
    cell.editing.value = type === "markdown";
    if (type === "markdown") cell.clear();
    this.changed();
  }

  /** Saves the notebook soon. */
  changed(): void {
    this.#saving ??= setTimeout(() => void this.save(), SAVE_MS);
  }

  async save(): Promise<void> {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    try {
      await saveNotebook(this.stored());
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) sayError(new Error(`cannot keep the notebook in this browser: ${String(error)}. Export it to be safe.`));
      this.#failed = true;
    }
  }

  stored(): StoredNotebook {
    const { sessionId, name, environment, profile, wallMs, uploads, metadata } = this;
    const seen = [...this.seen];
    const cells = this.cells.peek().map((cell) => cell.stored());
    return { key: keyOf(sessionId), owner: keptOwner(), sessionId, name, environment, profile, wallMs, seen, uploads, metadata, cells, changed: Date.now() };
  }

  #atLeastOne(): void {
    if (this.cells.peek().length === 0) this.cells.value = [new Cell("code")];
  }
}
