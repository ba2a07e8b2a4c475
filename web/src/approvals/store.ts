// SPDX-License-Identifier: Apache-2.0
// The list of what waits, and the item that is looked at. What was decided while the page was open stays in the list.
import { signal } from "@preact/signals";
import { adder, ask, pathOf } from "../app/api.js";
import { onFeed, resyncs } from "../app/feed.js";
import { type ApprovalRow, approvalItem, type Item, itemsOf, type ItemState, reviewItem, type ReviewRow, sorted, waits } from "./model.js";
import { approvalsOfAll, ofAll } from "./waiting.js";

/** undefined: not loaded yet. */
export const items = signal<Item[] | undefined>(undefined);
export const listFailure = signal<unknown>(undefined);

const PAUSE_MS = 60;

/** How this page decided, until the daemon's own list says it. */
const decisions = new Map<string, ItemState>();

export async function loadList(): Promise<void> {
  try {
    const [approvals, reviews] = await Promise.all([approvalsOfAll(), adder.reviews.list()]);
    const found = itemsOf(approvals, reviews as ReviewRow[], Date.now());
    items.value = sorted([...found, ...vanished(found)]);
    listFailure.value = undefined;
  } catch (error) {
    listFailure.value = error;
  }
}

/** Items of the list so far that FOUND no longer has. One that had expired is not kept. */
function vanished(found: Item[]): Item[] {
  const ids = new Set(found.map((each) => each.id));
  return (items.peek() ?? [])
    .filter((each) => !ids.has(each.id))
    .filter((each) => !waits(each) || each.expires === undefined || each.expires > Date.now() + 1000)
    .map((each) => ({ ...each, state: waits(each) ? (decisions.get(each.id) ?? "gone") : each.state }));
}

export function noteDecision(id: string, state: ItemState): void {
  decisions.set(id, state);
}

/** Keeps the list current until the value is called. */
export function watchItems(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stopFeed = onFeed((event) => {
    if (event.kind !== "approval" && event.kind !== "review") return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void loadList();
    }, PAUSE_MS);
  });
  const stopResync = resyncs.subscribe(() => void loadList());
  return () => {
    stopFeed();
    stopResync();
    clearTimeout(timer);
  };
}

/** A review with its changes; undefined where they are another owner's. */
async function changesOf(id: string): Promise<ReviewRow | undefined> {
  return adder.reviews.get(id).catch(() => undefined);
}

/** ITEM with its code or its changes. */
export async function loadWhole(item: Item): Promise<Item> {
  const { approval, review } = item;
  if (item.kind === "changes" && !waits(item)) return item; // the daemon has forgotten them
  const [whole, changes] = await Promise.all([
    approval ? ask<ApprovalRow>("GET", pathOf("v1", "approvals", item.id), ofAll()) : undefined,
    item.kind === "changes" ? changesOf(review?.review_id ?? item.id) : review,
  ]);
  return whole ? approvalItem(whole, changes, Date.now()) : changes ? reviewItem(changes) : item;
}
