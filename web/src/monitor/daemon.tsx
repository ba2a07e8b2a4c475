// SPDX-License-Identifier: Apache-2.0
import type { ViewProps } from "../app/views.js";

export function View(_props: ViewProps) {
  return <p class="loading">Loading…</p>;
}
