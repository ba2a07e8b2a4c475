// SPDX-License-Identifier: Apache-2.0
// A conversation about tables, as the page keeps it. docs/ask.md and docs/toolsets.md (ask_csv, scan_csv) describe the replies.
import type { FigureData } from "../output/outputs.js";
import type { Kept } from "../parts/kept.js";

/** A stored file, and what the code calls it. */
export interface AskedTable {
  file_id: string;
  name: string;
  file: string;
  bytes: number;
}

/** How the tables are written, where the reader's guess is wrong. */
export interface ReadingOptions {
  delimiter?: string;
  decimal?: string;
  encoding?: string;
  table?: string;
  header?: boolean;
  day_first?: boolean;
}

export interface SchemaColumn {
  name: string;
  dtype: string;
  kind: string;
  nulls: number;
  format?: string | null;
}

export interface Schema {
  name: string;
  format: string;
  bytes: number;
  rows: number | null;
  encoding: string;
  delimiter: string | null;
  header: boolean;
  decimal: string;
  thousands: string | null;
  columns: SchemaColumn[];
  columns_hidden: number;
  sample: unknown[][];
  assumed: string[];
}

export interface ResultTable {
  kind: string;
  shape: number[] | null;
  columns: Array<{ name: string; dtype: string }>;
  hidden_columns: number;
  rows: unknown[][];
  hidden_rows: number;
  value: unknown;
  text: string;
}

export interface Check {
  check: Record<string, unknown>;
  ok: boolean;
  message: string;
}

export interface Attempt {
  code: string | null;
  outcome: string;
  errors: string[];
  run_id: string | null;
}

export interface Plan {
  steps?: Array<{ operation: string; detail: string }>;
  target?: unknown;
  time?: unknown;
}

/** What ask_csv replies; `error` alone where it could not begin. */
export interface Reply {
  error?: string;
  answer: string | null;
  code: string | null;
  table: ResultTable | null;
  table_file: { file_id: string | null; name: string; bytes: number; url?: string | null } | null;
  table_note: string | null;
  schema: Schema[];
  tests: Check[];
  errors: string[];
  assumed: string[];
  outcome: string;
  stdout: string;
  pictures: string[];
  charts?: FigureData[];
  attempts: Attempt[];
  model: { name: string; provider: string; replay: boolean } | null;
  usage: { input_tokens?: number; output_tokens?: number; cost?: number | null; wall_ms: number } | null;
  run_id?: string | null;
}

/** A step, and once it has ended what it found. */
export interface Step {
  name: string;
  text: string;
  ended: boolean;
  /** How much of the table is read, from 0 to 1. */
  part?: number;
  assumed?: string[];
  plan?: Plan | null;
  expect?: Array<Record<string, unknown>>;
  code?: string | null;
  outcome?: string | null;
  tests?: Check[];
  errors?: string[];
}

export interface Question {
  id: string;
  text: string;
  tables: AskedTable[];
  options: ReadingOptions;
  /** The question whose code runs again on these tables. */
  rerun?: boolean;
  state: "running" | "answered" | "failed" | "stopped";
  began: number;
  took_ms?: number;
  steps: Step[];
  reply?: Reply;
  /** Why there is no reply. */
  problem?: string;
}

export interface Conversation extends Kept {
  title: string;
  tables: AskedTable[];
  options: ReadingOptions;
  questions: Question[];
}
