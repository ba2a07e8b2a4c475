// SPDX-License-Identifier: Apache-2.0
// What is loaded once, and again after the daemon was away.
import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { resyncs } from "../app/feed.js";

export interface Loaded<T> {
  value: T | undefined;
  failure: string | undefined;
  reload: () => void;
}

/** What WORK gives, loaded again when one of DEPENDS changes. */
export function useLoaded<T>(work: () => Promise<T>, depends: unknown[] = []): Loaded<T> {
  const value = useSignal<T | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const reload = useCallback(() => {
    let stale = false;
    work().then(
      (loaded) => {
        if (stale) return;
        value.value = loaded;
        failure.value = undefined;
      },
      (error) => {
        if (!stale) failure.value = messageOf(error);
      },
    );
    return () => void (stale = true);
  }, depends);
  useEffect(() => reload(), [reload, resyncs.value]);
  return { value: value.value, failure: failure.value, reload: () => void reload() };
}
