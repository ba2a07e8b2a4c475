// SPDX-License-Identifier: Apache-2.0
// How many approvals and reviews wait for somebody: the number in the title and beside "Approvals".
import { effect, signal } from "@preact/signals";
import type { Approval } from "adder-client";
import { adder, ask, queryOf } from "../app/api.js";
import { caller, everybody } from "../app/caller.js";
import { afterFeed, type FeedEvent, resyncs } from "../app/feed.js";

export const waitingCount = signal(0);

export async function approvalsOfAll(): Promise<Approval[]> {
  return (await ask<{ approvals: Approval[] }>("GET", "/v1/approvals", { query: queryOf({ owner: everybody() }) })).approvals;
}

async function count(): Promise<void> {
  try {
    const [approvals, reviews] = await Promise.all([approvalsOfAll(), adder.reviews.list()]);
    const pending = approvals.filter((each) => each.state === "pending" && !each.review_id).length;
    waitingCount.value = pending + reviews.length;
  } catch {
    // The feed says when the daemon answers again.
  }
}

/** Whether EVENT is about something that waits for a decision. Several come at once; they are gathered for PAUSE_MS. */
export function isApproval({ kind }: FeedEvent): boolean {
  return kind === "approval" || kind === "review";
}

export const PAUSE_MS = 60;

/** Counts now, and whenever something may have changed. */
export function startWaiting(): void {
  afterFeed(isApproval, () => void count(), PAUSE_MS);
  effect(() => {
    void resyncs.value;
    if (caller.value) void count();
  });
}
