// SPDX-License-Identifier: Apache-2.0
// The approvals and reviews that the daemon has, loaded again whenever they may have changed, and how many of them wait for somebody:
// the number in the title and beside "Approvals".
import { computed, effect, signal } from "@preact/signals";
import type { Approval, Review } from "adder-client";
import { ask, queryOf } from "../app/api.js";
import { caller, everybody } from "../app/caller.js";
import { afterFeed, resyncs } from "../app/feed.js";

export interface Lists {
  approvals: Approval[];
  reviews: Review[];
  /** When they were asked for, in milliseconds since 1970. */
  time: number;
}

/** undefined: not loaded yet. */
export const lists = signal<Lists | undefined>(undefined);
/** Why they were not loaded the last time. */
export const listFailure = signal<unknown>(undefined);

export const waitingCount = computed(() => {
  const pending = lists.value?.approvals.filter((each) => each.state === "pending" && !each.review_id) ?? [];
  return pending.length + (lists.value?.reviews.length ?? 0);
});

const PAUSE_MS = 60;
let asked = 0;
let taken = 0;

/** Loads both lists. An answer that a later one has overtaken takes nothing back. */
export async function loadLists(): Promise<void> {
  const mine = ++asked;
  const time = Date.now();
  try {
    const [{ approvals }, { reviews }] = await Promise.all([
      ask<{ approvals: Approval[] }>("GET", "/v1/approvals", { query: queryOf({ owner: everybody() }) }),
      ask<{ reviews: Review[] }>("GET", "/v1/reviews", { query: queryOf({ owner: everybody() }) }),
    ]);
    if (mine < taken) return;
    taken = mine;
    lists.value = { approvals, reviews, time };
    listFailure.value = undefined;
  } catch (error) {
    listFailure.value = error; // the feed says when the daemon answers again
  }
}

/** Loads the lists now, and whenever something may have changed. */
export function startWaiting(): void {
  afterFeed(({ kind }) => kind === "approval" || kind === "review", () => void loadLists(), PAUSE_MS);
  effect(() => {
    void resyncs.value;
    if (caller.value) void loadLists();
  });
}
