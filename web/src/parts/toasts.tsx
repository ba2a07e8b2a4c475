// SPDX-License-Identifier: Apache-2.0
// Short messages at the edge of the page, which go by themselves and are read to screen readers.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { IconButton } from "./controls.js";

interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

const SHOWN_MS = 6000;
const MOST = 4;
const toasts = signal<Toast[]>([]);
let last = 0;

/** Says TEXT. */
export function say(text: string, bad = false): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(1 - MOST), { id, text, bad }];
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Says what went wrong. */
export function sayError(error: unknown): void {
  say(messageOf(error), true);
}

/** Runs WORK, and says what went wrong if it fails. The value is undefined then. */
export async function trying<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    sayError(error);
    return undefined;
  }
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function Toasts() {
  const ref = useRef<HTMLDivElement>(null);
  const newest = toasts.value.at(-1)?.id;
  // Shown anew, they are above a dialog that opened since.
  useLayoutEffect(() => {
    ref.current?.hidePopover();
    ref.current?.showPopover();
  }, [newest]);
  return (
    <div ref={ref} class="toasts" popover="manual" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={toast.bad ? "toast bad" : "toast"}>
          <span>{toast.text}</span>
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </div>
  );
}
