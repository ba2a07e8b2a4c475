// SPDX-License-Identifier: Apache-2.0
// What is selected in the tree, and what can be done with it.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { caller } from "../app/caller.js";
import { hrefOf } from "../app/router.js";
import { ResultView } from "../output/result_view.js";
import { Code } from "../parts/code.js";
import { Failure, IconButton, Outcome } from "../parts/controls.js";
import { bytesText, durationText, plural, timeText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { type CellRow, checkpointTitle, type Lane, sessionTitle } from "./model.js";
import { type Choice, dialog } from "./selection.js";
import { resultsOf } from "./store.js";
import { Variables } from "./variables.js";

export function Panel({ choice, onCompare }: { choice: Choice; onCompare: (() => void) | undefined }) {
  const { lane, live } = choice;
  const { session } = lane;
  const may = live && !caller.value?.read_only;
  return (
    <section class="branches-panel card" aria-label={`Selected: ${sessionTitle(session)}`}>
      <header class="branches-panel-head">
        <h2>{sessionTitle(session)}</h2>
        <Outcome outcome={session.state} />
        <span class="branches-panel-tools">
          <a class="button icon-button" href={hrefOf("notebook", session.session_id)} aria-label="Open in the notebook" title="Open in the notebook">
            <Icon name="notebook" />
          </a>
          {may && <IconButton icon="edit" label="Name this session" onClick={() => (dialog.value = "rename")} />}
          {may && <IconButton icon="stop" label="End this session" onClick={() => (dialog.value = "end")} />}
        </span>
      </header>
      <p class="quiet">{laneText(lane)}</p>
      {may && (
        <div class="row" role="group" aria-label="Actions">
          <button type="button" class="primary" aria-keyshortcuts="b" onClick={() => (dialog.value = "branch")}>
            <Icon name="branches" /> {choice.mark ? "Branch from here" : "Branch"}
          </button>
          {choice.mark ? (
            <button type="button" aria-keyshortcuts="r" onClick={() => (dialog.value = "rollback")}>
              <Icon name="undo" /> Roll back to here
            </button>
          ) : (
            <button type="button" aria-keyshortcuts="c" onClick={() => (dialog.value = "checkpoint")}>
              <Icon name="bookmark" /> Checkpoint
            </button>
          )}
          {onCompare && (
            <button type="button" aria-keyshortcuts="=" onClick={onCompare}>
              <Icon name="compare" /> Compare
            </button>
          )}
        </div>
      )}
      <PanelBody choice={choice} />
    </section>
  );
}

function laneText(lane: Lane): string {
  const { session, parent } = lane;
  const parts = [
    parent && `Branch of ${sessionTitle(parent.session)} after cell ${session.branched_at ?? lane.start}`,
    plural(session.cells, "cell"),
    session.memory_bytes > 0 && bytesText(session.memory_bytes),
    session.expires_in_ms !== null && `ends after ${durationText(session.expires_in_ms)} without use`,
    session.reason && `ended: ${session.reason}`,
  ];
  return parts.filter(Boolean).join(" · ");
}

const NO_CODE = "It has no code: it only placed files.";

function PanelBody({ choice }: { choice: Choice }) {
  const { place, lane, cell, mark, live } = choice;
  if (place.kind === "cell" && cell) return <CellBody lane={lane} cell={cell} mark={mark !== undefined} live={live} />;
  if (place.kind === "checkpoint" && mark) return <CheckpointBody choice={choice} />;
  return <NowBody choice={choice} />;
}

function Heading({ children }: { children: ComponentChildren }) {
  return <h3 class="branches-heading">{children}</h3>;
}

function CellBody({ lane, cell, mark, live }: { lane: Lane; cell: CellRow; mark: boolean; live: boolean }) {
  return (
    <>
      <Heading>
        Cell {cell.cell} <Outcome outcome={cell.outcome} />
        {cell.wall_ms > 0 && <span class="quiet">{durationText(cell.wall_ms)}</span>}
        {cell.started && <span class="quiet">{timeText(cell.started)}</span>}
      </Heading>
      {!cell.code && <p class="quiet">{cell.outcome === "running" ? "Its code appears when it has ended." : NO_CODE}</p>}
      {cell.code && <Code text={cell.code} label={`Code of cell ${cell.cell}`} numbers={cell.code.includes("\n")} />}
      <CellResult lane={lane} cell={cell} />
      {live && !mark && <p class="quiet">There is no checkpoint after this cell, so the session cannot return to it.</p>}
    </>
  );
}

const REST_MS = 120;

/** Results can be large: they are loaded when the selection rests on a cell. */
function CellResult({ lane, cell }: { lane: Lane; cell: CellRow }) {
  const loaded = useSignal<CellRow | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const id = lane.session.session_id;
  useEffect(() => {
    let current = true;
    loaded.value = undefined;
    failure.value = undefined;
    if (cell.outcome === "running") return undefined;
    const timer = setTimeout(() => {
      resultsOf(id, lane.cells.at(-1)).then(
        ({ cells }) => current && (loaded.value = cells.find((each) => each.cell === cell.cell)),
        (error) => current && (failure.value = messageOf(error)),
      );
    }, REST_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [id, cell.cell, cell.started, cell.outcome]);
  if (failure.value) return <Failure>{failure.value}</Failure>;
  const result = loaded.value?.result;
  if (result) return <ResultView result={result} runId={result.run_id} />;
  return loaded.value ? <p class="quiet">Its output is no longer kept.</p> : null;
}

function CheckpointBody({ choice }: { choice: Choice }) {
  const mark = choice.mark as NonNullable<Choice["mark"]>;
  const lost = choice.lane.lost.includes(mark);
  return (
    <>
      <Heading>
        <Icon name="bookmark" /> Checkpoint {checkpointTitle(mark)}
      </Heading>
      <dl class="branches-facts">
        <div><dt>Made</dt><dd>{timeText(mark.created)}, after cell {mark.cell}</dd></div>
        <div><dt>Holds</dt><dd>{plural(mark.variables, "variable")}, all files, and whatever else the interpreter had</dd></div>
        <div><dt>Memory</dt><dd>{bytesText(mark.memory_bytes)}, the rest is shared with the session</dd></div>
      </dl>
      {lost && <p class="notice">The session was rolled back since. Roll back to here to get that state again.</p>}
      {choice.live && !caller.value?.read_only && (
        <p>
          <button type="button" onClick={() => (dialog.value = "drop")}>
            <Icon name="trash" /> Delete this checkpoint
          </button>
        </p>
      )}
    </>
  );
}

function NowBody({ choice }: { choice: Choice }) {
  const { session, cells } = choice.lane;
  const last = cells.at(-1);
  return (
    <>
      {last && last.outcome !== "running" && (
        <>
          <Heading>Last cell</Heading>
          {last.code ? <Code text={last.code} label={`Code of cell ${last.cell}`} /> : <p class="quiet">{NO_CODE}</p>}
          <CellResult lane={choice.lane} cell={last} />
        </>
      )}
      {choice.live && <Heading>Variables now</Heading>}
      {choice.live && (
        <Variables id={session.session_id} stamp={`${session.cells} ${session.variables} ${last?.started ?? ""}`} busy={session.state === "busy"} />
      )}
    </>
  );
}
