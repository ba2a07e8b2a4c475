// SPDX-License-Identifier: Apache-2.0
// The list of what waits, and the item that is looked at. What was decided while the page was open stays in the list.
import { signal } from "@preact/signals";
import type { Approval, Review } from "adder-client";
import { ask, pathOf, queryOf } from "../app/api.js";
import { everybody } from "../app/caller.js";
import { type Item, itemsOf, type ItemState, sorted, waits } from "./model.js";
import { type Lists, lists, loadLists } from "./waiting.js";

/** undefined: not loaded yet. */
export const items = signal<Item[] | undefined>(undefined);

const KEPT_DECIDED = 200;
const KEPT_WHOLES = 30;

/** How this page decided about an item, until the daemon's own list says it. The daemon forgets changes with the decision. */
export interface Decided {
  state: ItemState;
  approval?: Partial<Approval> | undefined;
}

const decisions = new Map<string, Decided>();

function take({ approvals, reviews, time }: Lists): void {
  const found = itemsOf(approvals, reviews, time);
  items.value = sorted([...found, ...vanished(found)]);
}

/** Items of the list so far that FOUND no longer has. One that had expired is not kept. */
function vanished(found: Item[]): Item[] {
  const ids = new Set(found.map((each) => each.id));
  return (items.peek() ?? [])
    .filter((each) => !ids.has(each.id))
    .filter((each) => !waits(each) || decisions.has(each.id) || each.expires === undefined || each.expires > Date.now() + 1000)
    .map(forgotten)
    .slice(0, KEPT_DECIDED);
}

/** ITEM as this page knows it, since the daemon no longer does. */
function forgotten(item: Item): Item {
  if (!waits(item) && item.state !== "gone") return { ...item, forgotten: true };
  const made = decisions.get(item.id);
  const approval = item.approval && { ...item.approval, ...made?.approval };
  return { ...item, forgotten: true, state: made?.state ?? "gone", approval };
}

/** MADE undefined: it waits again. */
export function noteDecision(id: string, made: Decided | undefined): void {
  if (made) decisions.set(id, made);
  else decisions.delete(id);
}

/** Keeps the list current until the value is called, from an answer on that was asked for now: the first item that is shown stays. */
export function watchItems(): () => void {
  const begun = Date.now();
  void loadLists();
  return lists.subscribe((now) => now && now.time >= begun && take(now));
}

// ---- with code and changes ----

/** What was loaded last, by id: the page still shows it when the daemon has forgotten it. */
const wholes = new Map<string, Item>();

/** ITEM with its code or its changes, as far as they were loaded. */
export function wholeOf(item: Item): Item | undefined {
  const seen = wholes.get(item.id);
  if (!seen) return undefined;
  const approval = item.approval && { ...seen.approval, ...item.approval };
  return { ...item, approval, review: seen.review ?? item.review };
}

/** Loads the code or the changes of ITEM. Neither differs later, so what is there already is not loaded again. */
export async function loadWhole(item: Item): Promise<void> {
  if (item.forgotten) return;
  const seen = wholes.get(item.id);
  const { approval, review } = item;
  const sameReview = seen?.review?.digest === review?.digest && seen?.review?.state === review?.state;
  const query = queryOf({ owner: everybody() });
  const [code, changes] = await Promise.all([
    approval && (seen?.approval ?? ask<Approval>("GET", pathOf("v1", "approvals", item.id), { query })),
    review && (sameReview ? seen?.review : ask<Review>("GET", pathOf("v1", "reviews", review.review_id), { query })),
  ]);
  wholes.delete(item.id);
  wholes.set(item.id, { ...item, approval: code, review: changes ?? seen?.review });
  for (const id of [...wholes.keys()].slice(0, -KEPT_WHOLES)) wholes.delete(id);
}
