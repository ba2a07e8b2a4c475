// SPDX-License-Identifier: Apache-2.0
// What a cell shows below its code.
import { Failure } from "../parts/controls.js";
import { ResultNotes } from "../output/notes.js";
import { OneOutput } from "../output/output_list.js";
import { TextOutput } from "../output/text_output.js";
import { ApprovalNote } from "./approval_note.js";
import type { Cell, LiveText } from "./cell.js";
import type { Workspace } from "./workspace.js";

interface CellOutputsProps {
  workspace: Workspace;
  cell: Cell;
  onLine: (line: number) => void;
}

export function CellOutputs({ workspace, cell, onLine }: CellOutputsProps) {
  const run = cell.run.value;
  const waitsFor = run?.outcome === "approval_required" ? run.approval_id : null;
  // That nothing ran is said by the note, with what to do about it.
  const outputs = cell.outputs.value.filter((output) => !waitsFor || output.kind !== "error");
  const problem = cell.problem.value;
  const progress = cell.progress.value;
  if (outputs.length === 0 && !run && !problem && !progress) return null;
  return (
    <div class="notebook-output output">
      {problem && <Failure>{problem}</Failure>}
      {outputs.map((output, at) =>
        output.kind === "stream" ? <LiveOutput key={at} cell={cell} output={output} /> : <OneOutput key={at} output={output} runId={run?.run_id} onLine={onLine} />,
      )}
      {progress && (
        <p class="notebook-progress">
          <progress max={progress.of || undefined} value={progress.of ? progress.done : undefined} aria-label="Progress" /> {progress.text}
        </p>
      )}
      {waitsFor && <ApprovalNote workspace={workspace} cell={cell} id={waitsFor} />}
      {run && <ResultNotes result={waitsFor ? { ...run, approval_id: null } : run} />}
    </div>
  );
}

/** Alone follows the text as it grows. */
function LiveOutput({ cell, output }: { cell: Cell; output: LiveText }) {
  const run = cell.run.value;
  const whole = run?.truncated ? "Download the whole output below." : "";
  return <TextOutput name={output.name} text={output.chunks} version={cell.version.value} earlier={whole} />;
}
