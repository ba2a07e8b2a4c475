// SPDX-License-Identifier: Apache-2.0
// One cell: its text, what it can do, and its output.
import { effect, useComputed } from "@preact/signals";
import { memo } from "preact/compat";
import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Markdown } from "../output/markdown.js";
import { IconButton } from "../parts/controls.js";
import { durationText, spaced } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { editCell, runCell } from "./actions.js";
import type { Cell } from "./cell.js";
import { CellOutputs } from "./cell_outputs.js";
import { Editor } from "./editor.js";
import type { CellEditor, EditorEvents } from "./editor_setup.js";
import type { Workspace } from "./workspace.js";

interface CellViewProps {
  workspace: Workspace;
  cell: Cell;
  /** Its place, from 1. */
  number: number;
}

export const CellView = memo(({ workspace, cell, number }: CellViewProps) => {
  const { notebook } = workspace;
  const section = useRef<HTMLElement>(null);
  const editor = useRef<CellEditor | undefined>(undefined);
  const isMarkdown = cell.type.value === "markdown";
  const shown = isMarkdown && !cell.editing.value;
  const state = cell.state.value;
  const selected = useComputed(() => notebook.selected.value === cell.id).value;
  const label = `Cell ${number}`;
  const events = useMemo(() => eventsOf(workspace, cell), [workspace, cell]);
  /** Gives the focus to what is selected, if that is still to be done. An editor that is not there yet gets it when it is made. */
  const focus = useCallback(() => {
    const wanted = notebook.focusing.value;
    if (notebook.selected.peek() !== cell.id || wanted === notebook.focusedUpTo) return;
    const edits = notebook.editing.peek();
    if (edits && !editor.current) return;
    notebook.focusedUpTo = wanted;
    if (edits) editor.current?.focus();
    else section.current?.focus({ preventScroll: true });
    section.current?.scrollIntoView({ block: "nearest" });
  }, [notebook, cell]);
  // At once: keys that come before the next frame are for the cell that was selected.
  useLayoutEffect(() => effect(focus), [focus]);
  const onFocus = (event: FocusEvent) => {
    if (event.target === section.current || !(event.target instanceof Element) || !event.target.closest(".notebook-editor")) notebook.touch(cell, false);
  };
  return (
    <section
      ref={section}
      class={`notebook-cell ${state} ${selected ? "selected" : ""}`}
      aria-label={`${label}, ${isMarkdown ? "Markdown" : "Python"}${state === "idle" ? "" : `, ${state}`}`}
      aria-current={selected ? "true" : undefined}
      tabIndex={selected ? 0 : -1}
      onFocusIn={onFocus}
      onClick={() => selected || notebook.touch(cell, false)}
    >
      <Gutter workspace={workspace} cell={cell} label={label} />
      <div class="notebook-body">
        {shown ? (
          <div class="notebook-markdown" onDblClick={() => editCell(workspace, cell)}>
            {cell.source.value.trim() ? <Markdown text={cell.source.value} /> : <p class="quiet">Empty Markdown cell. Press Enter to edit it.</p>}
          </div>
        ) : (
          <Editor
            cell={cell}
            language={isMarkdown ? "markdown" : "python"}
            label={`${label}, text`}
            events={events}
            handle={editor}
            onMade={focus}
            now={selected && notebook.editing.value}
          />
        )}
        {selected && <CellTools workspace={workspace} cell={cell} label={label} />}
        {!isMarkdown && <CellOutputs workspace={workspace} cell={cell} onLine={(line) => editor.current?.goTo(line)} />}
      </div>
    </section>
  );
});

function eventsOf(workspace: Workspace, cell: Cell): EditorEvents {
  const { notebook } = workspace;
  return {
    session: () => (notebook.ended.peek() ? undefined : notebook.session()),
    changed: (text) => {
      cell.source.value = text;
      notebook.changed();
    },
    focused: () => notebook.touch(cell, true),
    blurred: () => {
      if (notebook.selected.peek() === cell.id && notebook.focusing.peek() === notebook.focusedUpTo) notebook.editing.value = false;
    },
    run: (then) => runCell(workspace, cell, then),
    leave: () => notebook.select(cell),
    beyond: (steps) => {
      const next = notebook.cells.peek()[notebook.at(cell) + steps];
      if (!next) return false;
      notebook.select(next, next.type.peek() === "code" || next.editing.peek());
      return true;
    },
    save: () => void notebook.save(),
  };
}

/** The number of the cell in its session, how it ended, and the button that runs it. */
function Gutter({ workspace, cell, label }: { workspace: Workspace; cell: Cell; label: string }) {
  const state = cell.state.value;
  const run = cell.run.value;
  const count = cell.count.value;
  if (cell.type.value === "markdown") return <div class="notebook-gutter" />;
  const isBad = run !== null && run.outcome !== "ok";
  return (
    <div class="notebook-gutter">
      {state === "running" ? (
        <IconButton icon="stop" label={`Interrupt ${label.toLowerCase()}`} onClick={() => void workspace.runner.interrupt()} />
      ) : (
        <IconButton icon="play" label={`Run ${label.toLowerCase()}`} disabled={state === "queued"} onClick={() => runCell(workspace, cell, "stay")} />
      )}
      <span class="notebook-count">{state === "running" ? "[*]" : state === "queued" ? "queued" : count === null ? "[ ]" : `[${count}]`}</span>
      {run && state === "idle" && run.outcome !== "approval_required" && (
        <span class={isBad ? "notebook-status bad" : "notebook-status"}>
          {isBad && (
            <>
              <Icon name="warning" size={14} /> {spaced(run.outcome)}{" "}
            </>
          )}
          {durationText(run.wall_ms)}
        </span>
      )}
    </div>
  );
}

function CellTools({ workspace, cell, label }: { workspace: Workspace; cell: Cell; label: string }) {
  const { notebook } = workspace;
  const isMarkdown = cell.type.value === "markdown";
  return (
    <div class="notebook-tools" role="toolbar" aria-label={label}>
      {isMarkdown && !cell.editing.value && <IconButton icon="edit" label="Edit the cell" onClick={() => editCell(workspace, cell)} />}
      {isMarkdown && cell.editing.value && <IconButton icon="check" label="Show the Markdown" onClick={() => runCell(workspace, cell, "stay")} />}
      <button type="button" onClick={() => notebook.change(cell, isMarkdown ? "code" : "markdown")}>
        {isMarkdown ? "To code" : "To Markdown"}
      </button>
      <IconButton icon="up" label="Move the cell up" onClick={() => notebook.move(cell, -1)} />
      <IconButton icon="down" label="Move the cell down" onClick={() => notebook.move(cell, 1)} />
      <IconButton icon="plus" label="Insert a cell below" onClick={() => notebook.insertBeside(1, true)} />
      <IconButton icon="trash" label="Delete the cell" disabled={cell.state.value !== "idle"} onClick={() => notebook.remove(cell)} />
    </div>
  );
}
