// SPDX-License-Identifier: Apache-2.0
// What the daemon says of itself, once a second while somebody looks, and the last five minutes of it.
import { batch, signal } from "@preact/signals";
import { ask, messageOf } from "../app/api.js";

export interface Pool {
  environment: string;
  backend: string;
  zygotes: number;
  serving: boolean;
  bare: boolean;
  parked: number;
  for_sessions: number;
  parking: number;
  starts: number;
  failure: string | null;
}

export interface Status {
  version: string;
  pid: number;
  socket: string;
  uptime_ms: number;
  idle_exit_ms: number;
  connections: number;
  running: number;
  runs: number;
  config_changed: boolean;
  program_replaced: boolean;
  http: string[];
  http_connections: number;
  engine: {
    cgroup: string | null;
    cgroup_reason: string | null;
    cpus: number;
    running: number;
    waiting: number;
    memory: { max_bytes: number; running_bytes: number; parked_bytes: number };
    pools: Pool[];
    sessions: { live: number; busy: number; ended: number; memory_bytes: number };
    runs: Record<string, number>;
    approvals: { waiting: number };
    store: { last_problem: string | null };
  };
}

export interface Sample {
  /** Milliseconds since 1970. */
  time: number;
  /** Runs that ended since the sample before, in one second; null: there is none before. */
  rate: number | null;
  running: number;
  waiting: number;
  parked: Record<string, number>;
  runningBytes: number;
  parkedBytes: number;
  sessionBytes: number;
}

export const SPAN_MS = 300_000;
const EVERY_MS = 1000;
/** After a longer pause nobody knows what was in between: the lines are broken there. */
const GAP_MS = 5000;

export const status = signal<Status | undefined>(undefined);
export const samples = signal<Sample[]>([]);
export const statusFailure = signal<string | undefined>(undefined);
export const paused = signal(false);

let last: { time: number; ended: number; pid: number } | undefined;

/** Asks until the value is called, but not while the page is hidden or paused. */
export function watchStatus(): () => void {
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wake = () => {
    clearTimeout(timer);
    if (!document.hidden) void again();
  };
  const again = async () => {
    if (!paused.peek() || !status.peek()) await look();
    clearTimeout(timer);
    if (!stopped && !document.hidden) timer = setTimeout(() => void again(), EVERY_MS);
  };
  document.addEventListener("visibilitychange", wake);
  void again();
  return () => {
    stopped = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", wake);
  };
}

async function look(): Promise<void> {
  try {
    const seen = await ask<Status>("GET", "/v1/status");
    batch(() => {
      status.value = seen;
      samples.value = [...samples.peek().filter((sample) => sample.time > Date.now() - SPAN_MS), sampleOf(seen)];
      statusFailure.value = undefined;
    });
  } catch (error) {
    statusFailure.value = messageOf(error);
  }
}

function sampleOf({ engine, pid }: Status): Sample {
  const time = Date.now();
  const ended = Object.values(engine.runs).reduce((sum, count) => sum + count, 0);
  const known = last && last.pid === pid && time - last.time < GAP_MS ? last : undefined;
  const rate = known ? ((ended - known.ended) * 1000) / Math.max(1, time - known.time) : null;
  last = { time, ended, pid };
  const parked: Record<string, number> = {};
  for (const pool of engine.pools) parked[poolName(pool)] = (parked[poolName(pool)] ?? 0) + pool.parked;
  return {
    time,
    rate: rate === null ? null : Math.round(10 * rate) / 10,
    running: engine.running,
    waiting: engine.waiting,
    parked,
    runningBytes: engine.memory.running_bytes,
    parkedBytes: engine.memory.parked_bytes,
    sessionBytes: engine.sessions.memory_bytes,
  };
}

export function poolName(pool: Pool): string {
  return pool.backend === "native" ? pool.environment : `${pool.environment} (${pool.backend})`;
}
