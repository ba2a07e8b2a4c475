// SPDX-License-Identifier: Apache-2.0
// Cards of the views of runs and of the daemon, and the facts in them.
import type { ComponentChildren } from "preact";

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card run-section" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

type Fact = readonly [string, ComponentChildren];

/** Names and values; those without a value are left out. */
export function Facts({ rows }: { rows: Fact[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Settings by their names in the configuration. */
export function SettingFacts({ rows }: { rows: Fact[] }) {
  return (
    <dl class="facts wide">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt class="mono">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
