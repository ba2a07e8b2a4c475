// SPDX-License-Identifier: Apache-2.0
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** The time, which advances by TICKMS while the component is shown. */
export function useNow(tickMs: number): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [tickMs]);
  return now.value;
}
