// SPDX-License-Identifier: Apache-2.0
// What waits, the newest first, and below it what was decided.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { hrefOf } from "../app/router.js";
import { Revealed } from "../parts/code.js";
import { Badge } from "../parts/controls.js";
import { durationText, plural } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { useNow } from "../parts/now.js";
import { type Item, stateTexts, titleOf, waits } from "./model.js";

/** How often ages are told anew. */
export const TICK_MS = 10_000;
const DECIDED_AT_FIRST = 20;

export function ItemList({ items, chosen }: { items: Item[]; chosen: string | undefined }) {
  const all = useSignal(false);
  const waiting = items.filter(waits);
  const decided = items.filter((each) => !waits(each));
  const shown = all.value ? decided : decided.slice(0, DECIDED_AT_FIRST);
  return (
    <nav class="approvals-list" aria-label="Approvals and reviews">
      <Group title={plural(waiting.length, "waiting", "waiting")} items={waiting} chosen={chosen} />
      {decided.length > 0 && <Group title="Decided" items={shown} chosen={chosen} />}
      {shown.length < decided.length && (
        <button type="button" onClick={() => (all.value = true)}>
          Show {plural(decided.length - shown.length, "more", "more")}
        </button>
      )}
    </nav>
  );
}

function Group({ title, items, chosen }: { title: string; items: Item[]; chosen: string | undefined }) {
  const now = useNow(TICK_MS);
  return (
    <section>
      <h2 class="approvals-group">{title}</h2>
      {items.length === 0 && <p class="quiet approvals-none">Nothing waits for a decision.</p>}
      <ul>
        {items.map((item) => (
          <ItemRow key={item.id} item={item} chosen={item.id === chosen} now={now} />
        ))}
      </ul>
    </section>
  );
}

function ItemRow({ item, chosen, now }: { item: Item; chosen: boolean; now: number }) {
  const ref = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (chosen) ref.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <li>
      <a ref={ref} href={hrefOf("approvals", item.id)} class="approvals-row" aria-current={chosen ? "true" : undefined}>
        <Icon name={item.kind === "run" ? "play" : "file"} />
        <span class="approvals-row-text">
          <span class="approvals-title">
            <Revealed text={titleOf(item)} />
          </span>
          <span class="quiet">{placeText(item, now)}</span>
        </span>
        <ItemBadge item={item} />
      </a>
    </li>
  );
}

export function ItemBadge({ item }: { item: Item }) {
  const kinds = { pending: "wait", broken: "bad", approved: "good", committed: "good", denied: "bad", dropped: undefined, gone: undefined } as const;
  return <Badge kind={kinds[item.state]}>{stateTexts[item.state]}</Badge>;
}

/** Who asks, where, and for how long. */
function placeText(item: Item, now: number): string {
  const parts = [
    item.kind === "run" ? "code" : "changes",
    item.owner,
    item.conversation,
    item.approval?.session && "in a session",
    ageText(item, now),
    waits(item) && expiryText(item, now),
  ];
  return parts.filter(Boolean).join(" · ");
}

export function ageText(item: Item, now: number): string {
  const age = now - Date.parse(item.asked);
  return age < 60_000 ? "just now" : `${durationText(age).replace(/ \d+ s$/, "")} ago`;
}

export function expiryText(item: Item, now: number): string | undefined {
  if (item.expires === undefined) return undefined;
  const left = item.expires - now;
  return left <= 0 ? "expired" : `expires in ${durationText(Math.max(left, 1000)).replace(/ \d+ s$/, "")}`;
}
