// SPDX-License-Identifier: Apache-2.0
// What is around every view: navigation, the state of the connection, the list of shortcuts.
import { signal, useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { waitingCount } from "../approvals/waiting.js";
import { Empty, Failure } from "../parts/controls.js";
import { Guarded } from "../parts/guarded.js";
import { Icon } from "../parts/icons.js";
import { Toasts } from "../parts/toasts.js";
import { caller, isAdmin } from "./caller.js";
import { online } from "./feed.js";
import { type Shortcut, useKeys } from "./keys.js";
import { MoreMenu } from "./more.js";
import { go, hrefOf, route } from "./router.js";
import { ShortcutList } from "./shortcut_list.js";
import { type ViewProps, type ViewRow, views } from "./views.js";

const showsShortcuts = signal(false);
const PAGE_VERSION = document.querySelector<HTMLMetaElement>('meta[name="adder-version"]')?.content;

export function Shell() {
  const row = views.find((each) => each.view === route.value.view);
  const mayGo = (each: ViewRow) => !each.admin || isAdmin.value;
  const keys = useMemo<Shortcut[]>(
    () => [
      { keys: "?", text: "Show the shortcuts", group: "Everywhere", run: () => void (showsShortcuts.value = true) },
      ...views.map((each) => ({
        keys: `g ${each.key}`,
        text: `Go to ${each.title}`,
        group: "Everywhere",
        run: () => go(each.view),
      })),
    ],
    [],
  );
  useKeys(keys);
  const waiting = waitingCount.value;
  useEffect(() => {
    document.title = `${waiting ? `(${waiting}) ` : ""}${row?.title ?? "Adder"} · Adder`;
  }, [waiting, row]);
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={skip}>
        Skip to the content
      </a>
      <nav class="side" aria-label="Views">
        <a class="brand" href={hrefOf("notebook")} aria-label="Adder">
          <img src="/favicon.svg" alt="" width="26" height="26" />
          <span>Adder</span>
        </a>
        <ul>
          {views.filter(mayGo).map((each) => (
            <li key={each.view} class={each.primary ? "primary" : "secondary"}>
              <a href={hrefOf(each.view)} title={each.title} aria-current={each === row ? "page" : undefined}>
                <Icon name={each.icon} />
                <span>{each.title}</span>
                {each.view === "approvals" && waiting > 0 && (
                  <b class="count" aria-label={`${waiting} waiting`}>
                    {waiting}
                  </b>
                )}
              </a>
            </li>
          ))}
        </ul>
        <MoreMenu views={views.filter(mayGo)} onShortcuts={() => (showsShortcuts.value = true)} />
      </nav>
      <main class="content" id="content" tabIndex={-1}>
        <Notices />
        {row && mayGo(row) ? <LoadedView key={row.view} row={row} path={route.value.path} /> : <Empty title={row ? "Only admins see this page." : "There is no such page."} heading />}
      </main>
      {showsShortcuts.value && <ShortcutList onClose={() => (showsShortcuts.value = false)} />}
      <Toasts />
    </div>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

/** What concerns the whole page. */
function Notices() {
  const other = PAGE_VERSION && caller.value && caller.value.version !== PAGE_VERSION;
  return (
    <>
      {!online.value && (
        <p class="notice" role="status">
          The daemon does not answer. If it was stopped, <code>adder open</code> starts it. The page goes on as soon as it answers; nothing on it is lost.
        </p>
      )}
      {other && (
        <p class="notice" role="status">
          This page is of version {PAGE_VERSION}, the daemon of {caller.value?.version}.{" "}
          <button type="button" class="link" onClick={() => location.reload()}>
            Load the new page
          </button>
        </p>
      )}
    </>
  );
}

function LoadedView({ row, path }: { row: ViewRow; path: string[] }) {
  const loaded = useSignal<ComponentType<ViewProps> | undefined>(undefined);
  const failed = useSignal(false);
  useEffect(() => {
    row.load().then(
      (module) => (loaded.value = module.View),
      () => (failed.value = true),
    );
  }, [row]);
  const View = loaded.value;
  if (failed.value) return <Failure>This part of the page could not be loaded. Reload the page to try again.</Failure>;
  if (!View) return <p class="loading">Loading…</p>;
  return (
    <Guarded problem="This view failed. Reload the page to try again; the other views go on.">
      <View path={path} />
    </Guarded>
  );
}
