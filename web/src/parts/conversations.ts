// SPDX-License-Identifier: Apache-2.0
// The conversations of a view that this browser keeps, and the one that is shown.
import { computed, type ReadonlySignal, type Signal, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { forget, keep, type Kept, type KeptIn, keptList, keptOwner } from "./kept.js";
import { sayError } from "./toasts.js";

interface Kind<T> {
  keptIn: KeptIn;
  /** A new, empty one, after the one that was shown BEFORE. */
  fresh: (before: T | undefined) => T;
  /** Whether there is something in it: an empty one is not kept. */
  isBegun: (conversation: T) => boolean;
  /** What becomes of one that was under way when the page was left. */
  afterReload: (conversation: T) => T;
}

export interface Conversations<T> {
  all: Signal<T[]>;
  currentId: Signal<string | undefined>;
  current: ReadonlySignal<T | undefined>;
  /** Shows a new, empty one. */
  begin: () => void;
  /** Changes the one with this id, and keeps it unless `silent`. */
  change: (id: string, how: (conversation: T) => T, silent?: boolean) => void;
  remove: (id: string) => Promise<void>;
  /** Shows the one with this id, or a new one if there is none; without an id the one that was shown last. true: it is there. */
  useShown: (id: string | undefined) => boolean;
}

export function conversationsOf<T extends Kept>({ keptIn, fresh, isBegun, afterReload }: Kind<T>): Conversations<T> {
  const all = signal<T[]>([]);
  const currentId = signal<string | undefined>(undefined);
  const current = computed(() => all.value.find((each) => each.id === currentId.value));
  let loadedFor: string | undefined;

  /** Reads what the caller kept here. */
  async function load(): Promise<void> {
    if (loadedFor === keptOwner()) return;
    loadedFor = keptOwner();
    all.value = (await keptList<T>(keptIn)).map(afterReload);
  }

  function begin(): void {
    const made = fresh(current.peek());
    all.value = [made, ...all.peek().filter(isBegun)];
    currentId.value = made.id;
  }

  function change(id: string, how: (conversation: T) => T, silent = false): void {
    const old = all.peek().find((each) => each.id === id);
    if (!old) return;
    const now = { ...how(old), changed: Date.now() };
    all.value = all.peek().map((each) => (each.id === id ? now : each));
    if (!silent && isBegun(now)) keep(keptIn, now).catch(sayError);
  }

  async function remove(id: string): Promise<void> {
    all.value = all.peek().filter((each) => each.id !== id);
    await forget(keptIn, id);
  }

  function useShown(id: string | undefined): boolean {
    const ready = useSignal(false);
    useEffect(() => {
      load()
        .catch(sayError)
        .finally(() => {
          if (id && all.peek().some((each) => each.id === id)) currentId.value = id;
          else if (id || !current.peek()) begin();
          ready.value = true;
        });
    }, [id]);
    return ready.value;
  }

  return { all, currentId, current, begin, change, remove, useShown };
}
