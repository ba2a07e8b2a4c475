// SPDX-License-Identifier: Apache-2.0
// Keyboard shortcuts: each is a row with its keys, what it does, and where. The list of shortcuts (?) shows the rows that apply.
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

/**
 * KEYS: "?", "j", "g n" (one after the other), "Shift+Enter", "Mod+s" (Ctrl, on a Mac Command). Keys without a modifier do nothing
 * while somebody types, unless `typing` is set.
 */
export interface Shortcut {
  keys: string;
  text: string;
  group: string;
  typing?: boolean;
  /** false: it did not apply, and the browser does what it always does. */
  run: (event: KeyboardEvent) => void | boolean;
}

/** Those of what is shown. */
export const shortcuts = signal<Shortcut[]>([]);

const SEQUENCE_MS = 1500;
let first: { key: string; time: number } | undefined;
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** ROWS apply while the component is shown, from its first moment on. */
export function useKeys(rows: Shortcut[]): void {
  useLayoutEffect(() => {
    shortcuts.value = [...shortcuts.peek(), ...rows];
    return () => {
      shortcuts.value = shortcuts.peek().filter((row) => !rows.includes(row));
    };
  }, [rows]);
}

/** Keys as people read them. */
export function keysText(keys: string): string {
  return keys.replace(/Mod/g, isMac ? "⌘" : "Ctrl").replace(/ /g, " then ");
}

export function startKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const key = nameOf(event);
    const before = first && event.timeStamp - first.time < SEQUENCE_MS ? `${first.key} ${key}` : undefined;
    first = { key, time: event.timeStamp };
    const row = find(before, event) ?? find(key, event);
    if (row && row.run(event) !== false) {
      event.preventDefault();
      first = undefined;
    }
  });
}

function find(keys: string | undefined, event: KeyboardEvent): Shortcut | undefined {
  if (keys === undefined) return undefined;
  const typing = isTyping(event) || document.querySelector("dialog[open]") !== null;
  return shortcuts.peek().findLast((row) => row.keys === keys && (row.typing || !typing));
}

function nameOf(event: KeyboardEvent): string {
  const modified = isMac ? event.metaKey : event.ctrlKey;
  const shift = event.shiftKey && event.key.length > 1;
  const key = event.key.length === 1 && modified ? event.key.toLowerCase() : event.key;
  return `${modified ? "Mod+" : ""}${event.altKey ? "Alt+" : ""}${shift ? "Shift+" : ""}${key}`;
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
