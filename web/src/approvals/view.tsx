// SPDX-License-Identifier: Apache-2.0
// The inbox: what waits for a decision, live, and the decision.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { type Shortcut, useKeys } from "../app/keys.js";
import { go } from "../app/router.js";
import type { ViewProps } from "../app/views.js";
import { Empty, Failure } from "../parts/controls.js";
import { Detail } from "./detail.js";
import { ItemList } from "./list.js";
import type { Item } from "./model.js";
import { items, watchItems } from "./store.js";
import "./view.css";
import { listFailure, loadLists } from "./waiting.js";

export function View({ path: [id] }: ViewProps) {
  useEffect(() => watchItems(), []);
  const list = items.value;
  if (!list) {
    if (!listFailure.value) return <p class="loading">Loading…</p>;
    return (
      <Failure>
        {messageOf(listFailure.value)}{" "}
        <button type="button" class="link" onClick={() => void loadLists()}>
          Try again
        </button>
      </Failure>
    );
  }
  return (
    <>
      <header class="view-head">
        <h1>Approvals</h1>
      </header>
      {list.length === 0 && !id ? <NothingYet /> : <Inbox list={list} id={id} />}
    </>
  );
}

/**
 * On a phone either the list or the item is shown. Elsewhere the first item is, until one is chosen. It stays when another arrives:
 * nobody should decide about something that came under their hand.
 */
function Inbox({ list, id }: { list: Item[]; id: string | undefined }) {
  const first = useRef<string | undefined>(undefined);
  const chosen = id ? list.find((each) => each.id === id) : (list.find((each) => each.id === first.current) ?? list[0]);
  first.current = chosen?.id;
  const keys = useMemo(() => listKeys(chosen?.id), [chosen?.id]);
  useKeys(keys);
  return (
    <div class={id ? "approvals-panes chosen" : "approvals-panes"}>
      <ItemList items={list} chosen={chosen?.id} />
      {chosen ? (
        <Detail key={chosen.id} item={chosen} />
      ) : (
        <Empty title="This request is gone.">
          <p>It was decided, or it expired. <a href="#/approvals">All approvals</a></p>
        </Empty>
      )}
    </div>
  );
}

function NothingYet() {
  return (
    <Empty title="Nothing waits for a decision.">
      <p>
        Code appears here when its profile asks for approval (<code>approval = always</code>), and changes of a directory when a run was made with{" "}
        <code>--review</code>. The count in the title of this page grows when something arrives.
      </p>
    </Empty>
  );
}

function listKeys(id: string | undefined): Shortcut[] {
  const move = (by: number) => () => {
    const list = items.peek() ?? [];
    const at = id ? list.findIndex((each) => each.id === id) : 0;
    const next = list[Math.max(0, Math.min(list.length - 1, at + by))];
    if (next) go("approvals", [next.id], { replace: true });
  };
  return [
    { keys: "j", text: "Next request", group: "Approvals", run: move(1) },
    { keys: "k", text: "Previous request", group: "Approvals", run: move(-1) },
  ];
}
