// SPDX-License-Identifier: Apache-2.0
// Everything that the daemon knows of one run.
import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import type { Approval, Profile, RunRecord, RunState } from "../../../clients/typescript/src/api.js";
import { adder, ask, messageOf, pathOf, queryOf } from "../app/api.js";
import { everybody } from "../app/caller.js";
import { type FeedEvent, onFeed, resyncs } from "../app/feed.js";

export interface KnownRun {
  state: RunState;
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

/** The run ID, loaded again when it ends. */
export function useRun(id: string): LoadedRun {
  const run = useSignal<KnownRun | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const asked = useRef(0);
  const reload = useCallback(() => {
    const mine = ++asked.current; // an earlier answer may come later, and have the run as it was
    loadRun(id).then(
      (known) => {
        if (mine !== asked.current) return;
        run.value = known;
        failure.value = undefined;
      },
      (error) => {
        if (mine === asked.current) failure.value = messageOf(error);
      },
    );
  }, [id]);
  useEffect(() => onFeed((event: FeedEvent) => event.kind === "run" && event.id === id && reload()), [id, reload]);
  useEffect(reload, [id, resyncs.value]);
  return { run, failure, reload };
}

async function loadRun(id: string): Promise<KnownRun> {
  const state = await ask<RunState>("GET", pathOf("v1", "runs", id), { query: queryOf({ owner: everybody() }) });
  const { result, record } = state;
  const approvalId = result?.approval_id ?? record?.more?.waits_for ?? record?.approval;
  const [limits, approval] = await Promise.all([result?.limits ?? limitsOf(record), approvalOf(approvalId)]);
  return { state, limits: limits as KnownRun["limits"], approvalId, approval };
}

async function limitsOf(record: RunRecord | null): Promise<KnownRun["limits"]> {
  if (!record?.profile) return record?.more?.limits ?? {};
  const profile = await ask<Profile & { limits?: Record<string, number> }>("GET", pathOf("v1", "profiles", record.profile)).catch(() => undefined);
  return { ...profile?.limits, ...record.more?.limits };
}

async function approvalOf(id: string | null | undefined): Promise<Approval | undefined> {
  return id ? adder.approvals.get(id).catch(() => undefined) : undefined;
}
