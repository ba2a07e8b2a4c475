// SPDX-License-Identifier: Apache-2.0
// The rows of the list of runs: those under way, from the feed; those that have ended, from the records, page by page.
import { batch, effect, signal } from "@preact/signals";
import type { RecordPage, RecordSummary, RunningRun } from "../../../clients/typescript/src/api.js";
import { ask, mayPass, messageOf, queryOf } from "../app/api.js";
import { caller, everybody } from "../app/caller.js";
import { type FeedEvent, onFeed, online, resyncs } from "../app/feed.js";
import { filterQuery } from "./run_filter.js";

export interface RunRow {
  id: string;
  started: string;
  owner: string;
  frontEnd: string;
  tool: string;
  session: string;
  cell: number | null;
  outcome: string;
  wallMs: number | null;
  memoryBytes: number | null;
  code: string;
}

const PAGE = 100;
/** Between the tries of a load that failed. */
const RETRY_MS = 2000;
/** So long events are gathered, and so far apart they are shown at least: a burst of runs costs one request a second. */
const GATHER_MS = 100;
const PAUSE_MS = 1000;

/** Runs under way, by id. */
export const running = signal<ReadonlyMap<string, RunRow>>(new Map());
/** Runs that have ended, the newest first. */
export const ended = signal<RunRow[]>([]);
export const loading = signal(true);
export const failure = signal<string | undefined>(undefined);
/** What shows the next page; null: there is none. */
export const next = signal<string | null>(null);
/** What showed each page before this one; empty on the first. */
export const before = signal<string[]>([]);
/** Runs have ended since the page was loaded, and it is not the time to show them. */
export const newer = signal(false);

/** While this is so, no row moves: somebody reads or walks along the rows. */
let held: () => boolean = () => false;
let changes: Map<string, RunRow | undefined> = new Map();
let timer: ReturnType<typeof setTimeout> | undefined;
let shownAt = 0;
let asked = 0;
let runningAsked = 0;
/** What the feed has told since the load of the runs under way began, which its answer may not have yet. */
let told: Map<string, RunRow | undefined> | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Keeps the rows up to date until the value is called. HOLDS says whether rows may move now. */
export function watchRuns(holds: () => boolean): () => void {
  held = holds;
  const stopFeed = onFeed((event) => event.kind === "run" && noted(event));
  const stopLoading = effect(() => {
    void filterQuery.value;
    void resyncs.value;
    before.value = [];
    void Promise.all([loadRunning(), loadPage()]);
  });
  return () => {
    stopFeed();
    stopLoading();
    clearTimeout(timer);
    clearTimeout(retry);
    timer = retry = undefined;
  };
}

/** Loads the page that is shown anew. */
async function loadPage(): Promise<void> {
  const mine = ++asked;
  if (caller.peek()?.keeps_records === false) {
    loading.value = false;
    return;
  }
  loading.value = true;
  try {
    const query = queryOf({ ...filterQuery.peek(), limit: PAGE, before: before.peek().at(-1) });
    const page = await ask<RecordPage>("GET", "/v1/records", { query });
    if (mine !== asked) return;
    batch(() => {
      ended.value = page.records.map(rowOf);
      next.value = page.next;
      newer.value = false;
      failure.value = undefined;
    });
  } catch (error) {
    if (mine !== asked) return;
    failure.value = messageOf(error);
    tryAgain(error);
  } finally {
    if (mine === asked) loading.value = false;
  }
}

export async function older(): Promise<void> {
  if (!next.peek()) return;
  before.value = [...before.peek(), next.peek() as string];
  await loadPage();
}

export async function younger(): Promise<void> {
  before.value = before.peek().slice(0, -1);
  await loadPage();
}

/** To the newest runs. */
export async function newest(): Promise<void> {
  before.value = [];
  await loadPage();
}

async function loadRunning(): Promise<void> {
  const mine = ++runningAsked;
  const since = (told = new Map<string, RunRow | undefined>());
  try {
    const query = queryOf({ owner: everybody() });
    const { runs } = await ask<{ runs: RunningRun[] }>("GET", "/v1/runs", { query });
    if (mine !== runningAsked) return;
    running.value = withChanges(new Map(runs.map((run) => [run.run_id, runningRow(run)])), since);
  } catch (error) {
    if (mine === runningAsked) tryAgain(error);
  } finally {
    if (mine === runningAsked) told = undefined;
  }
}

/** Loads all anew in a while, if that may help after ERROR. Once a daemon that did not answer is there again, the feed says so. */
function tryAgain(error: unknown): void {
  if (online.peek() && mayPass(error)) retry ??= setTimeout(loadAgain, RETRY_MS);
}

function loadAgain(): void {
  retry = undefined;
  void Promise.all([loadRunning(), loadPage()]);
}

/** ROWS after CHANGES: rows that began, and undefined for those that ended. */
function withChanges(rows: Map<string, RunRow>, changes: ReadonlyMap<string, RunRow | undefined>): Map<string, RunRow> {
  for (const [id, row] of changes) {
    if (row) rows.set(id, row);
    else rows.delete(id);
  }
  return rows;
}

function noted(event: FeedEvent): void {
  const run = event.object as unknown as RunningRun & { outcome?: string };
  const over = event.change === "ended" || run.state === "ended" || Boolean(run.outcome);
  const row = over ? undefined : runningRow(run);
  changes.set(event.id, row);
  told?.set(event.id, row);
  timer ??= setTimeout(shown, Math.max(GATHER_MS, shownAt + PAUSE_MS - performance.now()));
}

/** Shows what was noted: a run that began and ended meanwhile never shows as running. */
function shown(): void {
  timer = undefined;
  shownAt = performance.now();
  const noticed = changes;
  changes = new Map();
  running.value = withChanges(new Map(running.peek()), noticed);
  if (![...noticed.values()].includes(undefined)) return;
  if (before.peek().length > 0 || held()) newer.value = true;
  else void loadPage();
}

function runningRow(run: RunningRun & { cell?: number | null }): RunRow {
  return {
    id: run.run_id,
    started: run.started ?? "",
    owner: run.owner ?? "",
    frontEnd: run.front_end ?? "",
    tool: "",
    session: run.session ?? "",
    cell: run.cell ?? null,
    outcome: "running",
    wallMs: null,
    memoryBytes: null,
    code: run.code ?? "",
  };
}

function rowOf(record: RecordSummary): RunRow {
  return {
    id: record.run_id ?? "",
    started: record.started ?? "",
    owner: record.owner ?? "",
    frontEnd: record.front_end ?? "",
    tool: record.tool ?? "",
    session: record.session_id ?? "",
    cell: record.cell,
    outcome: record.outcome ?? "",
    wallMs: record.usage.wall_ms,
    memoryBytes: record.usage.peak_memory_bytes,
    code: record.code_start ?? "",
  };
}
