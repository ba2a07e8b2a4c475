// SPDX-License-Identifier: Apache-2.0
// What branches are, for somebody who sees them for the first time.
import { useSignal } from "@preact/signals";
import { caller } from "../app/caller.js";
import { go } from "../app/router.js";
import { Dialog } from "../parts/controls.js";
import { Icon } from "../parts/icons.js";
import { sayError } from "../parts/toasts.js";
import { createExample } from "./example.js";
import { CellMark, Flag, NowMark } from "./marks.js";
import { selected } from "./selection.js";
import { load } from "./store.js";

const steps = [
  ["Cells run in a live interpreter.", "A session keeps its variables, imports and files from one cell to the next."],
  ["A checkpoint keeps all of it.", "It takes milliseconds, whatever the session holds, and the session can roll back to it at any time."],
  ["Branches go on from there.", "Each is an interpreter of its own with the same variables. Nothing is computed twice."],
  ["Compare, and keep the better one.", "See which variables differ, tables cell by cell and charts side by side. End the others."],
] as const;

/** Used where nothing is to be branched yet. */
export function Intro() {
  return (
    <div class="branches-intro card">
      <IntroText />
    </div>
  );
}

export function IntroDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Branches of live state" onClose={onClose} wide>
      <IntroText onDone={onClose} />
    </Dialog>
  );
}

function IntroText({ onDone }: { onDone?: () => void }) {
  return (
    <div class="branches-intro-text">
      <p class="branches-lead">Try another way without losing the one you have: branch a running Python session as you branch code in Git.</p>
      <IntroDrawing />
      <ol>
        {steps.map(([title, text], index) => (
          <li key={title}>
            <b class="branches-step">{index + 1}</b>
            <span>
              <b>{title}</b> {text}
            </span>
          </li>
        ))}
      </ol>
      <ExampleButton onDone={onDone} />
    </div>
  );
}

function ExampleButton({ onDone }: { onDone: (() => void) | undefined }) {
  const step = useSignal<string | undefined>(undefined);
  const create = async () => {
    step.value = "Starting";
    try {
      const root = await createExample((text) => (step.value = text));
      await load();
      onDone?.();
      selected.value = { session: root.session_id, kind: "now" };
      go("branches", [root.session_id]);
    } catch (error) {
      sayError(error);
      await load();
    } finally {
      step.value = undefined;
    }
  };
  if (caller.value?.read_only) return <p class="quiet">You may look at sessions, but not make any.</p>;
  return (
    <p class="row">
      <button type="button" class="primary" disabled={step.value !== undefined} onClick={create}>
        <Icon name="branches" /> Create an example
      </button>
      <span class="quiet" role="status">
        {step.value ? `${step.value}…` : "It makes three sessions, which you can end at any time."}
      </span>
    </p>
  );
}

/** The four steps as one picture. */
function IntroDrawing() {
  return (
    <svg class="branches-svg branches-drawing" viewBox="0 0 560 150" role="img" aria-label="A session with two cells and a checkpoint, from which two branches go on">
      <path class="branches-line" d="M30 40H300" />
      <path class="branches-line chosen" d="M215 40V76Q215 90 229 90H530" />
      <path class="branches-line" d="M215 40V121Q215 135 229 135H530" />
      <circle class="branches-start" cx="30" cy="40" r="4" />
      {[[90, 40], [165, 40], [300, 90], [390, 90], [480, 90], [300, 135], [390, 135], [480, 135]].map(([x, y]) => (
        <g key={`${x} ${y}`} class="branches-node cell good" transform={`translate(${x} ${y})`}>
          <CellMark outcome="ok" />
        </g>
      ))}
      <g class="branches-node flag" transform="translate(215 40)">
        <Flag />
      </g>
      {[[300, 40], [530, 90], [530, 135]].map(([x, y]) => (
        <g key={`${x} ${y}`} class="branches-node now" transform={`translate(${x} ${y})`}>
          <NowMark />
        </g>
      ))}
      {[[127, 20, "1"], [215, 10, "2"], [258, 78, "3"], [435, 116, "4"]].map(([x, y, text]) => (
        <text key={text} class="branches-number" x={x} y={y}>
          {text}
        </text>
      ))}
    </svg>
  );
}
