// SPDX-License-Identifier: Apache-2.0
// Everything that the daemon knows of one run.
import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import type { Approval, Profile, RunRecord, RunState } from "../../../clients/typescript/src/api.js";
import { NotFound } from "../../../clients/typescript/src/errors.js";
import { adder, ask, mayPass, messageOf, pathOf, queryOf } from "../app/api.js";
import { everybody } from "../app/caller.js";
import { type FeedEvent, onFeed, online, resyncs } from "../app/feed.js";

export interface KnownRun {
  state: RunState;
  /** "running" until it has one. */
  outcome: string;
  /** Its limits as far as they are known: those of the result, or else of its profile. */
  limits: Partial<Record<string, number>>;
  /** What had to be approved, if something had to. */
  approvalId: string | null | undefined;
  /** undefined: the daemon no longer holds it. */
  approval: Approval | undefined;
}

export interface LoadedRun {
  run: Signal<KnownRun | undefined>;
  failure: Signal<string | undefined>;
  reload: () => void;
}

/** Between the tries of a load that failed; the last is repeated. */
const PAUSES_MS = [500, 1000, 2000, 5000];

/** The run ID, loaded again when it ends. That it has ended is shown even if what is known of it cannot be loaded then. */
export function useRun(id: string): LoadedRun {
  const run = useSignal<KnownRun | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const asked = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const heard = useRef<string | undefined>(undefined);
  const load = useCallback(
    (tries: number) => {
      const mine = ++asked.current; // an earlier answer may come later, and have the run as it was
      clearTimeout(timer.current);
      loadRun(id).then(
        (known) => {
          if (mine !== asked.current) return;
          run.value = withEnd(known, heard.current);
          failure.value = undefined;
        },
        (error) => {
          if (mine !== asked.current) return;
          failure.value = messageOf(error);
          run.value = run.peek() && withEnd(run.peek() as KnownRun, heard.current ?? (error instanceof NotFound ? "ended" : undefined));
          // Once a daemon that did not answer is there again, the feed says so.
          if (online.peek() && mayPass(error)) timer.current = setTimeout(() => load(tries + 1), PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)]);
        },
      );
    },
    [id],
  );
  const reload = useCallback(() => load(0), [load]);
  const hear = useCallback(
    (event: FeedEvent) => {
      if (event.kind !== "run" || event.id !== id) return;
      if (event.change === "ended") heard.current = String(event.object.outcome ?? "ended");
      reload();
    },
    [id, reload],
  );
  useEffect(() => onFeed(hear), [hear]);
  useEffect(reload, [id, resyncs.value]);
  useEffect(
    () => () => {
      asked.current++;
      clearTimeout(timer.current);
    },
    [id],
  );
  return { run, failure, reload };
}

/** KNOWN as it is once it has ended with OUTCOME; undefined: nothing was heard of an end. */
function withEnd(known: KnownRun, outcome: string | undefined): KnownRun {
  const isSettled = known.outcome !== "running" && known.outcome !== "ended";
  if (!outcome || isSettled) return known;
  return { ...known, state: { ...known.state, state: "ended" }, outcome };
}

async function loadRun(id: string): Promise<KnownRun> {
  const state = await ask<RunState>("GET", pathOf("v1", "runs", id), { query: queryOf({ owner: everybody() }) });
  const { result, record } = state;
  const outcome = state.state === "running" ? "running" : (result?.outcome ?? record?.outcome ?? "ended");
  const approvalId = result?.approval_id ?? record?.more?.waits_for ?? record?.approval;
  const [limits, approval] = await Promise.all([result?.limits ?? limitsOf(record), approvalOf(approvalId)]);
  return { state, outcome, limits: limits as KnownRun["limits"], approvalId, approval };
}

async function limitsOf(record: RunRecord | null): Promise<KnownRun["limits"]> {
  if (!record?.profile) return record?.more?.limits ?? {};
  const profile = await ask<Profile & { limits?: Record<string, number> }>("GET", pathOf("v1", "profiles", record.profile)).catch(() => undefined);
  return { ...profile?.limits, ...record.more?.limits };
}

async function approvalOf(id: string | null | undefined): Promise<Approval | undefined> {
  return id ? adder.approvals.get(id).catch(() => undefined) : undefined;
}
