// SPDX-License-Identifier: Apache-2.0
// A replay while it runs: which cells ran again, and what differs.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { go } from "../app/router.js";
import { Dialog, Failure, Outcome } from "../parts/controls.js";
import { plural } from "../parts/format.js";
import { NotebookReplay, type ReplayStep } from "./replay.js";
import { forget, loadSessions } from "./sessions.js";
import { adopt, type Workspace } from "./workspace.js";

interface ReplayDialogProps {
  workspace: Workspace;
  onClose: () => void;
}

export function ReplayDialog({ workspace, onClose }: ReplayDialogProps) {
  const { notebook } = workspace;
  const replay = useMemo(() => new NotebookReplay(notebook), [notebook]);
  const failure = useSignal<string | undefined>(undefined);
  const made = useSignal<string | undefined>(undefined);
  const begun = useSignal(false);
  useEffect(() => () => replay.cancel(), [replay]);
  const open = (id: string) => {
    go("notebook", [id]);
    onClose();
  };
  const begin = () => {
    begun.value = true;
    const work = async () => {
      const info = await replay.run();
      await adopt(info, (fresh) => {
        const { wallMs, uploads, metadata } = notebook;
        Object.assign(fresh, { wallMs, uploads, metadata });
        fresh.cells.value = replay.cells;
        for (let cell = 1; cell <= info.cells; cell++) fresh.seen.add(cell);
      });
      made.value = info.session_id;
      if (notebook.ended.peek()) await forget(notebook.sessionId);
      await loadSessions();
      if (replay.steps.peek().every((step) => step.differs.length === 0)) open(info.session_id);
    };
    work().catch((error) => (failure.value = messageOf(error)));
  };
  if (!begun.value) {
    return (
      <Dialog title="Replay" onClose={onClose}>
        <p>Runs everything that ran in this session again, in a new session with the same environment, limits and files. This session stays as it is.</p>
        <div class="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="primary" onClick={begin}>
            Replay
          </button>
        </div>
      </Dialog>
    );
  }
  const steps = replay.steps.value;
  const done = steps.filter((step) => step.outcome !== null).length;
  return (
    <Dialog title="Replay" onClose={onClose} wide>
      {failure.value && <Failure>{failure.value} Nothing has changed.</Failure>}
      <p role="status">
        {made.value ? "All cells have run again in a new session." : failure.value ? "" : `${done} of ${plural(steps.length, "cell")} ran again in a new session.`}
        {replay.leftOut.value.length > 0 && ` Left out, since they would end it: ${replay.leftOut.value.join(", ")}.`}
      </p>
      {!failure.value && <progress class="notebook-replay-bar" max={Math.max(steps.length, 1)} value={made.value ? steps.length : done} aria-label="Cells that ran" />}
      <ol class="notebook-steps">
        {steps.map((step) => (
          <Step key={step.number} step={step} />
        ))}
      </ol>
      <div class="dialog-buttons">
        {made.value ? (
          <button type="button" class="primary" onClick={() => open(made.value as string)}>
            Open the new session
          </button>
        ) : (
          <button type="button" onClick={onClose}>
            {failure.value ? "Close" : "Cancel the replay"}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function Step({ step }: { step: ReplayStep }) {
  const { number, code, outcome, running, differs } = step;
  return (
    <li>
      <span class="notebook-count">[{number}]</span>
      <code>{code ? code.split("\n")[0] : <span class="quiet">only files</span>}</code>
      {running ? <Outcome outcome="running" /> : outcome && <Outcome outcome={outcome} />}
      {differs.length > 0 && <span class="quiet">differs: {differs.join(", ")}</span>}
    </li>
  );
}
