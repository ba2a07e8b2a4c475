// SPDX-License-Identifier: Apache-2.0
// Work that is done once for each picture that the browser draws, however often it is asked for.

const HIDDEN_MS = 250;

/** A function that calls WORK before the next frame. A page that is hidden draws none, so a timer does it there. */
export function oncePerFrame(work: () => void): () => void {
  let waiting = false;
  const now = () => {
    waiting = false;
    work();
  };
  return () => {
    if (waiting) return;
    waiting = true;
    if (document.hidden) setTimeout(now, HIDDEN_MS);
    else requestAnimationFrame(now);
  };
}
