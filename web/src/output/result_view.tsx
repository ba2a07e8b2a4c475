// SPDX-License-Identifier: Apache-2.0
// All that a finished result shows: printed text, displays, the value, the error, files and warnings.
import type { ResultData } from "adder-client";
import { useMemo } from "preact/hooks";
import { ResultNotes } from "./notes.js";
import { OutputList } from "./output_list.js";
import { outputsOf } from "./outputs.js";
import "./output.css";

interface ResultViewProps {
  result: ResultData;
  /** The run whose stored tables are shown; by default that of the result. */
  runId?: string;
  /** Shows a line of the code. */
  onLine?: (line: number) => void;
}

export function ResultView({ result, runId = result.run_id, onLine }: ResultViewProps) {
  const outputs = useMemo(() => outputsOf(result), [result]);
  return (
    <div class="output">
      <OutputList outputs={outputs} runId={runId} onLine={onLine} />
      <ResultNotes result={result} />
      {outputs.length === 0 && result.files.length === 0 && <p class="quiet">No output.</p>}
    </div>
  );
}
