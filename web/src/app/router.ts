// SPDX-License-Identifier: Apache-2.0
// Which view the page shows: "#/runs/01a2" is the view "runs" with the path ["01a2"]. The server knows only "/".
import { computed, signal } from "@preact/signals";

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export interface Route {
  view: string;
  path: string[];
}

export const route = computed<Route>(() => {
  const [view = "", ...path] = hash.value.replace(/^#\/?/, "").split("/").map(decoded);
  return { view: view || "notebook", path };
});

/** The address of a view, for the attribute `href`. */
export function hrefOf(view: string, ...path: string[]): string {
  return "#/" + [view, ...path].map(encodeURIComponent).join("/");
}

/** Shows a view. With `replace` the browser's "back" does not return to the current one. */
export function go(view: string, path: string[] = [], options: { replace?: boolean } = {}): void {
  const href = hrefOf(view, ...path);
  if (options.replace) {
    history.replaceState(null, "", href);
    hash.value = location.hash;
  } else {
    location.hash = href;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
