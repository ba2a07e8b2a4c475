// SPDX-License-Identifier: Apache-2.0
// The conversations that this browser keeps, beside the one that is shown.
import { hrefOf } from "../app/router.js";
import { IconButton } from "./controls.js";
import { timeText } from "./format.js";
import type { Kept } from "./kept.js";
import "./kept_list.css";

interface KeptListProps<T extends Kept & { title: string }> {
  title: string;
  view: string;
  items: T[];
  current: string | undefined;
  onRemove: (item: T) => void;
}

export function KeptList<T extends Kept & { title: string }>({ title, view, items, current, onRemove }: KeptListProps<T>) {
  if (items.length === 0) return null;
  return (
    <aside class="kept-list" aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {items.map((item) => (
          <li key={item.id}>
            <a href={hrefOf(view, item.id)} aria-current={item.id === current ? "true" : undefined}>
              <span>{item.title || "New"}</span>
              <small>{timeText(new Date(item.changed).toISOString())}</small>
            </a>
            <IconButton icon="trash" label={`Delete ${item.title || "this one"}`} onClick={() => onRemove(item)} />
          </li>
        ))}
      </ul>
      <p class="quiet">Kept in this browser only.</p>
    </aside>
  );
}
