// SPDX-License-Identifier: Apache-2.0
// A number with its name.
import type { ComponentChildren } from "preact";

/** A part of a `dl` of the class `tiles`. */
export function Tile({ name, value, children }: { name: string; value: string; children?: ComponentChildren }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        {value}
        {children}
      </dd>
    </div>
  );
}
