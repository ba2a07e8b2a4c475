// SPDX-License-Identifier: Apache-2.0
// Outputs one below the other.
import { memo } from "preact/compat";
import { DisplayView } from "./display_view.js";
import type { Output } from "./outputs.js";
import { TextOutput } from "./text_output.js";
import { Traceback } from "./traceback.js";

interface OutputListProps {
  outputs: Output[];
  runId?: string | undefined;
  /** Shows a line of the code. */
  onLine?: ((line: number) => void) | undefined;
}

export function OutputList({ outputs, runId, onLine }: OutputListProps) {
  return (
    <>
      {outputs.map((output, at) => (
        <OneOutput key={at} output={output} runId={runId} onLine={onLine} />
      ))}
    </>
  );
}

/** One of them. It stays as it is while others come, or the progress of the run. */
export const OneOutput = memo(({ output, runId, onLine }: Omit<OutputListProps, "outputs"> & { output: Output }) => {
  if (output.kind === "stream") return <TextOutput name={output.name} text={output.text} />;
  if (output.kind === "error") return <Traceback error={output.error} onLine={onLine} />;
  return <DisplayView data={output.data} chart={output.chart} runId={runId} table={output.table} />;
});
