// SPDX-License-Identifier: Apache-2.0
// What a run used of what it was allowed.
import { bytesText, durationText } from "../parts/format.js";
import type { KnownRun } from "./run_state.js";
import { Section } from "./section.js";

export function RunUsage({ known }: { known: KnownRun }) {
  const usage = known.state.result?.usage ?? known.state.record?.usage;
  if (!usage) return null;
  const { limits } = known;
  return (
    <Section title="Usage">
      <dl class="usage">
        <Used name="Time" used={usage.wall_ms} limit={limits["wall_ms"]} text={durationText} />
        <Used name="Processor time" used={usage.cpu_ms} limit={limits["cpu_ms"]} text={durationText} />
        <Used name="Memory" used={usage.peak_memory_bytes} limit={limits["memory_bytes"]} text={bytesText} />
      </dl>
    </Section>
  );
}

interface UsedProps {
  name: string;
  used: number | null;
  limit: number | undefined;
  text: (value: number) => string;
}

function Used({ name, used, limit, text }: UsedProps) {
  const share = used !== null && limit ? Math.min(1, used / limit) : 0;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class="usage-text">
          <b>{used === null ? "unknown" : text(used)}</b>
          {limit ? <span class="quiet"> of {text(limit)}</span> : null}
        </span>
        <span class="bar" aria-hidden="true">
          <span class={share >= 0.9 ? "full" : undefined} style={{ width: `${share * 100}%` }} />
        </span>
      </dd>
    </div>
  );
}
