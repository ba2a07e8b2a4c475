// SPDX-License-Identifier: Apache-2.0
// Everything that the daemon knows of one run.
import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import type { Approval, Profile, RunRecord, RunState } from "../../../clients/typescript/src/api.js";
import { adder, ask, messageOf, pathOf, queryOf } from "../app/api.js";
import { isAdmin } from "../app/caller.js";
import { type FeedEvent, onFeed, resyncs } from "../app/feed.js";

export interface KnownRun {
  state: RunState;
  /** Its limits as far as they are known: those of the result, or else of its profile. */
  limits: Partial<Record<string, number>>;
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
  const reload = useCallback(() => {
    loadRun(id).then(
      (known) => {
        run.value = known;
        failure.value = undefined;
      },
      (error) => (failure.value = messageOf(error)),
    );
  }, [id]);
  useEffect(() => onFeed((event: FeedEvent) => event.kind === "run" && event.id === id && reload()), [id, reload]);
  useEffect(reload, [id, resyncs.value]);
  return { run, failure, reload };
}

async function loadRun(id: string): Promise<KnownRun> {
  const state = await stateOf(id);
  const { result, record } = state;
  const [limits, approval] = await Promise.all([result?.limits ?? limitsOf(record), approvalOf(result?.approval_id ?? record?.more?.waits_for ?? record?.approval)]);
  return { state, limits: limits as KnownRun["limits"], approval };
}

/** Of another owner's run an admin has the record alone. */
async function stateOf(id: string): Promise<RunState> {
  try {
    return await ask<RunState>("GET", pathOf("v1", "runs", id));
  } catch (error) {
    const record = await recordOf(id);
    if (record) return fromRecord(record);
    const other = await runningOf(id);
    if (other) return other;
    throw error;
  }
}

async function recordOf(id: string): Promise<RunRecord | undefined> {
  const query = queryOf({ owner: isAdmin.peek() ? "all" : undefined });
  return ask<RunRecord>("GET", pathOf("v1", "records", id), { query }).catch(() => undefined);
}

async function runningOf(id: string): Promise<RunState | undefined> {
  if (!isAdmin.peek()) return undefined;
  const { runs } = await ask<{ runs: RunState[] }>("GET", "/v1/runs", { query: queryOf({ owner: "all" }) });
  const run = runs.find((each) => each.run_id === id);
  return run && { ...run, result: null, record: null };
}

function fromRecord(record: RunRecord): RunState {
  return {
    run_id: record.run_id ?? "",
    state: "ended",
    started: record.started,
    owner: record.owner,
    conversation: record.conversation,
    session: record.session_id,
    front_end: record.front_end,
    result: null,
    record,
  };
}

async function limitsOf(record: RunRecord | null): Promise<KnownRun["limits"]> {
  if (!record?.profile) return record?.more?.limits ?? {};
  const profile = await ask<Profile & { limits?: Record<string, number> }>("GET", pathOf("v1", "profiles", record.profile)).catch(() => undefined);
  return { ...profile?.limits, ...record.more?.limits };
}

async function approvalOf(id: string | null | undefined): Promise<Approval | undefined> {
  return id ? adder.approvals.get(id).catch(() => undefined) : undefined;
}
