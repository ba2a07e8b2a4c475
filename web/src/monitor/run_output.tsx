// SPDX-License-Identifier: Apache-2.0
// What a run that has ended wrote and displayed, as far as the daemon still has it.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Part, ResultData } from "../../../clients/typescript/src/api.js";
import { ask, messageOf, pathOf, queryOf } from "../app/api.js";
import { everybody } from "../app/caller.js";
import { ResultView } from "../output/result_view.js";
import { Failure } from "../parts/controls.js";
import { bytesText } from "../parts/format.js";
import type { KnownRun } from "./run_state.js";
import { Section } from "./section.js";

const PART_BYTES = 65_536;

interface KeptOutput {
  stdout_bytes?: number;
  stderr_bytes?: number;
  stdout_kept?: boolean;
  stderr_kept?: boolean;
}

export function RunOutput({ known }: { known: KnownRun }) {
  const { result, record, run_id: id } = known.state;
  const kept = (record?.more?.output ?? {}) as KeptOutput;
  const anything = (kept.stdout_bytes ?? 0) + (kept.stderr_bytes ?? 0) > 0;
  const shown = useMemo(() => result && withoutFiles(result), [result]);
  return (
    <Section title="Output">
      {shown && <ResultView result={shown} />}
      {!result && !anything && <p class="quiet">{record ? "It wrote nothing." : "Its output went to the program that began it, and no record of the run is kept."}</p>}
      {!result && anything && <Written kept={kept} />}
      {kept.stdout_kept && <Long id={id} stream="stdout" />}
      {kept.stderr_kept && <Long id={id} stream="stderr" />}
    </Section>
  );
}

/** A result without the files that the page lists by themselves; those of stored tables are needed to show the tables. */
function withoutFiles(result: ResultData): ResultData {
  return { ...result, files: result.files.filter((file) => file.name.startsWith("tmp/output/table-")) };
}

function Written({ kept }: { kept: KeptOutput }) {
  if (kept.stdout_kept || kept.stderr_kept) return null;
  return (
    <p class="quiet">
      It wrote {bytesText(kept.stdout_bytes ?? 0)} to standard output and {bytesText(kept.stderr_bytes ?? 0)} to standard error. They went to its caller: the daemon
      keeps results of background runs for a while, and output that was too long for a reply.
    </p>
  );
}

/** Long output that is stored whole, piece by piece. */
function Long({ id, stream }: { id: string; stream: "stdout" | "stderr" }) {
  const text = useSignal("");
  const last = useSignal<Part | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const more = async () => {
    try {
      const query = queryOf({ stream, offset: last.value?.next_offset ?? 0, limit: PART_BYTES, owner: everybody() });
      const part = await ask<Part>("GET", pathOf("v1", "results", id), { query });
      text.value += part.text ?? "";
      last.value = part;
    } catch (error) {
      failure.value = messageOf(error);
    }
  };
  useEffect(() => void more(), [id, stream]);
  return (
    <>
      <h3>{stream === "stdout" ? "Whole standard output" : "Whole standard error"}</h3>
      {failure.value && <Failure>{failure.value}</Failure>}
      <pre class="command run-code" tabIndex={0}>
        {text.value}
      </pre>
      {last.value && !last.value.at_end && (
        <p class="row">
          <button type="button" onClick={() => void more()}>
            Show more
          </button>
          <span class="quiet">
            {bytesText(last.value.next_offset)} of {bytesText(last.value.total_bytes)}
          </span>
        </p>
      )}
    </>
  );
}
