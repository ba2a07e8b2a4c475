// SPDX-License-Identifier: Apache-2.0
// What waits for a decision: code before it runs, and changes of a directory before they are made. Both are items of one list.
import type { Approval, Change, Review } from "adder-client";

/** pending: it waits. broken: a commit was interrupted. gone: somebody decided, and the daemon says no more of it. */
export type ItemState = "pending" | "broken" | "approved" | "denied" | "committed" | "dropped" | "gone";

export interface Item {
  id: string;
  kind: "run" | "changes";
  state: ItemState;
  approval: Approval | undefined;
  review: Review | undefined;
  conversation: string | null;
  owner: string | null;
  /** When it was asked for. */
  asked: string;
  /** When it expires, in milliseconds since 1970; undefined: never. */
  expires: number | undefined;
  /** The daemon no longer has it. */
  forgotten?: boolean;
}

const reviewStates: Record<string, ItemState> = { waiting: "pending", "broken off": "broken", committed: "committed", dropped: "dropped" };

/** APPROVALS and REVIEWS as items, what waits first, the newest first. A review with an approval is one item. */
export function itemsOf(approvals: Approval[], reviews: Review[], now: number): Item[] {
  const byId = new Map(reviews.map((each) => [each.review_id, each]));
  const items = approvals.map((each) => approvalItem(each, byId.get(each.review_id ?? ""), now));
  const covered = new Set(approvals.map((each) => each.review_id));
  const rest = reviews.filter((each) => !covered.has(each.review_id)).map(reviewItem);
  return sorted([...items, ...rest]);
}

export function sorted(items: Item[]): Item[] {
  return [...items].sort((a, b) => Number(waits(b)) - Number(waits(a)) || b.asked.localeCompare(a.asked));
}

export function waits(item: Item): boolean {
  return item.state === "pending" || item.state === "broken";
}

function approvalItem(approval: Approval, review: Review | undefined, now: number): Item {
  const broken = review && reviewStates[review.state] === "broken";
  return {
    id: approval.approval_id,
    kind: approval.review_id ? "changes" : "run",
    state: broken ? "broken" : (approval.state as ItemState),
    approval,
    review,
    conversation: approval.conversation ?? null,
    owner: approval.owner ?? null,
    asked: approval.asked ?? "",
    expires: approval.expires_in_ms === undefined ? undefined : now + approval.expires_in_ms,
  };
}

function reviewItem(review: Review): Item {
  return {
    id: review.review_id,
    kind: "changes",
    state: reviewStates[review.state] ?? "pending",
    approval: undefined,
    review,
    conversation: review.conversation ?? null,
    owner: review.owner ?? null,
    asked: review.created ?? "",
    expires: undefined,
  };
}

/** One line that says what it is about. */
export function titleOf({ approval, review, kind }: Item): string {
  if (approval?.description) return approval.description;
  if (kind === "changes") return `Changes in ${review?.directory ?? approval?.workdir?.path ?? "a directory"}`;
  return approval?.first_line || approval?.name || "Code without a description";
}

export const stateTexts: Record<ItemState, string> = {
  pending: "waiting",
  broken: "interrupted",
  approved: "approved",
  denied: "denied",
  committed: "committed",
  dropped: "dropped",
  gone: "decided",
};

/** "new", "deleted" and so on, with the sign that diffs have for it. */
export function changeKind(change: Change): { sign: string; text: string } {
  const kinds: Record<string, { sign: string; text: string }> = {
    created: { sign: "+", text: "new" },
    deleted: { sign: "−", text: "deleted" },
    replaced: { sign: "±", text: "replaced" },
    changed: { sign: "±", text: "changed" },
  };
  return kinds[change.change] ?? { sign: "±", text: change.change };
}

/** A file that went and one that came with the same name elsewhere or the same size may be one that was renamed. */
export function renamedFrom(change: Change, all: Change[]): string | undefined {
  if (change.change !== "created" || change.type !== "file" || !change.bytes) return undefined;
  const gone = all.filter((each) => each.change === "deleted" && each.type_before === "file" && each.bytes_before === change.bytes);
  return gone.length === 1 ? (gone[0]?.path ?? undefined) : undefined;
}
