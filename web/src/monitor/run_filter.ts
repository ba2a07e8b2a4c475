// SPDX-License-Identifier: Apache-2.0
// Which runs the list and the statistics are about. It stays while other views are shown.
import { computed, signal } from "@preact/signals";
import { isAdmin } from "../app/caller.js";
import type { RunRow } from "./run_rows.js";

export interface RunFilter {
  outcome: string;
  front_end: string;
  /** Of admins; "" is everybody. */
  owner: string;
  session: string;
  code: string;
  /** An age such as "24h", "" for all, or "custom" with the two times. */
  period: string;
  from: string;
  to: string;
}

export const noFilter: RunFilter = { outcome: "", front_end: "", owner: "", session: "", code: "", period: "", from: "", to: "" };
export const runFilter = signal<RunFilter>(noFilter);

/** Whether anything is filtered away. */
export const isFiltered = computed(() => Object.values(runFilter.value).some((value) => value !== ""));

/** The query of `record.list` and `record.stats`. */
export const filterQuery = computed(() => {
  const { period, from, to, owner, outcome, front_end, session, code } = runFilter.value;
  const custom = period === "custom";
  const asked = {
    outcome: outcome === "running" ? "" : outcome,
    front_end,
    session: session.trim(),
    code: code.trim(),
    owner: isAdmin.value ? owner || "all" : "",
    since: custom ? moment(from) : period,
    until: custom ? moment(to) : "",
  };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ""));
});

/** A local time of an input, in UTC. */
function moment(local: string): string {
  const time = local ? new Date(local) : undefined;
  return time && !Number.isNaN(time.getTime()) ? time.toISOString() : "";
}

/** Whether ROW, which is under way, is one that the filter lets through. Only the beginning of its code is known. */
export function matchesRunning(row: RunRow, filter: RunFilter): boolean {
  const code = filter.code.trim().toLowerCase();
  return (
    (filter.outcome === "" || filter.outcome === "running") &&
    (filter.front_end === "" || filter.front_end === row.frontEnd) &&
    (filter.owner === "" || filter.owner === row.owner) &&
    (filter.session.trim() === "" || filter.session.trim() === row.session) &&
    (code === "" || row.code.toLowerCase().includes(code)) &&
    (filter.period !== "custom" || filter.to === "")
  );
}
