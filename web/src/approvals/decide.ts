// SPDX-License-Identifier: Apache-2.0
// Decisions. Each is about exactly what the page showed: approvals and reviews are bound to a digest.
import type { Approval } from "adder-client";
import { ask, pathOf } from "../app/api.js";
import { isAdmin } from "../app/caller.js";
import { say, sayError } from "../parts/toasts.js";
import { type Item, type ItemState, stateTexts } from "./model.js";
import { type Decided, items, noteDecision } from "./store.js";
import { loadLists } from "./waiting.js";

export type Decision = { kind: "approve"; always: boolean } | { kind: "deny"; reason: string } | { kind: "undo" };

/** Makes DECISION about ITEM, as it was shown. The value: whether it was made by this page. */
export async function decide(item: Item, decision: Decision): Promise<boolean> {
  try {
    if (await wasDecided(item)) return false;
    noteDecision(item.id, await carryOut(item, decision));
    await loadLists();
    if (decision.kind === "undo") say("Undone. The changes wait again.");
    return true;
  } catch (error) {
    if (!(await wasDecided(item))) sayError(error);
    return false;
  }
}

/** Another window may have decided first. Then its decision is what the page shows, and that is no error. */
async function wasDecided(item: Item): Promise<boolean> {
  await loadLists();
  const now = items.value?.find((each) => each.id === item.id);
  if (!now || now.state === item.state) return false;
  say(`Somebody decided meanwhile: ${stateTexts[now.state]}.`);
  return true;
}

async function carryOut(item: Item, decision: Decision): Promise<Decided | undefined> {
  const { approval, review } = item;
  if (decision.kind === "undo") {
    await settleReview(item, "undo");
    return undefined;
  }
  const waiting = approval?.state === "pending" && item.state === "pending";
  if (decision.kind === "approve") {
    if (approval && waiting) return approved(item, decision.always);
    await settleReview(item, "commit", { digest: review?.digest });
    return { state: "committed" };
  }
  if (approval && waiting) return settle(item, "deny", { reason: decision.reason || undefined });
  await settleReview(item, "drop");
  return { state: "dropped" };
}

/** An approval of changes is bound to their digest, which has to be that of the changes that were shown. */
async function approved(item: Item, always: boolean): Promise<Decided> {
  const { approval, review } = item;
  if (review?.digest && approval?.digest && review.digest !== approval.digest) {
    throw new Error("The changes are not those that were asked for. Look at them again.");
  }
  return settle(item, "approve", { always });
}

const statesOfChanges = { approve: "committed", deny: "dropped" } as const;

/** Admins name the owner, since what others have is not theirs. */
function whoseOf({ owner }: Item): string | undefined {
  return isAdmin.peek() ? (owner ?? undefined) : undefined;
}

async function settleReview(item: Item, verb: "commit" | "undo" | "drop", body: Record<string, unknown> = {}): Promise<void> {
  await ask("POST", pathOf("v1", "reviews", item.review?.review_id ?? item.id, verb), { body: { ...body, owner: whoseOf(item) } });
}

/** Where somebody was first, their decision stays. */
async function settle(item: Item, verb: "approve" | "deny", body: Record<string, unknown>): Promise<Decided> {
  const { id, kind } = item;
  const path = pathOf("v1", "approvals", id, verb);
  const { state, decided_by, decided, reason } = await ask<Approval>("POST", path, { body: { ...body, if_pending: true, owner: whoseOf(item) } });
  return { state: kind === "changes" ? statesOfChanges[verb] : (state as ItemState), approval: { decided_by, decided, reason } };
}
