// SPDX-License-Identifier: Apache-2.0
// What happens at the daemon, as it happens: one request that waits for the next events, for all views.
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask, isSignedOut, queryOf } from "./api.js";
import { caller, everybody } from "./caller.js";

export type EventKind = "run" | "session" | "approval" | "review" | "daemon";

/** One change, as `event.list` has it. */
export interface FeedEvent {
  seq: number;
  time: string;
  kind: EventKind;
  change: string;
  id: string;
  object: Record<string, unknown>;
}

interface Events {
  events: FeedEvent[];
  next: number;
  missed: boolean | number;
}

/** Whether the daemon answers. */
export const online = signal(true);

/** Counts the times after which anything may have changed unseen: views load anew when it grows. */
export const resyncs = signal(0);

type Listener = (event: FeedEvent) => void;
const listeners = new Set<Listener>();
/** Well below the time after which an answer is given up (http.ts): a connection that broke in silence ends so. */
const WAIT_MS = 20_000;
const PAUSES_MS = [200, 500, 1000, 2000, 5000];

/** Calls LISTENER with every event; the value stops that. */
export function onFeed(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Gathers the events that CONCERNS lets through for PAUSE_MS, and calls WORK with them; the value stops that. */
export function afterFeed(concerns: (event: FeedEvent) => boolean, work: (events: FeedEvent[]) => void, pauseMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let gathered: FeedEvent[] = [];
  const now = () => {
    const events = gathered;
    timer = undefined;
    gathered = [];
    work(events);
  };
  const stop = onFeed((event) => {
    if (!concerns(event)) return;
    gathered.push(event);
    timer ??= setTimeout(now, pauseMs);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

/** Calls LISTENER with each event of KIND while the component is shown. */
export function useFeed(kind: EventKind, listener: Listener): void {
  useEffect(() => {
    return onFeed((event) => {
      if (event.kind === kind) listener(event);
    });
  }, [kind, listener]);
}

/** Begins to listen once somebody is signed in, and stops with them. */
export function startFeed(): void {
  let stop: AbortController | undefined;
  let listening = false;
  effect(() => {
    const present = Boolean(caller.value);
    if (present === listening) return;
    listening = present;
    stop?.abort();
    stop = present ? new AbortController() : undefined;
    if (stop) void listen(stop.signal);
  });
}

async function listen(signal: AbortSignal): Promise<void> {
  let next: number | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const query = queryOf({ after: next, wait_ms: next === undefined ? 0 : WAIT_MS, owner: everybody() });
      const answer = await ask<Events>("GET", "/v1/events", { query, signal });
      if (failures > 0 || next === undefined || answer.missed || answer.next < next) resyncs.value++;
      for (const event of answer.events) for (const listener of [...listeners]) listener(event);
      next = answer.next;
      failures = 0;
      online.value = true;
    } catch (error) {
      if (signal.aborted || isSignedOut(error)) return;
      online.value = false;
      next = undefined; // another daemon counts from 1
      await pause(PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)] ?? 1000);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
