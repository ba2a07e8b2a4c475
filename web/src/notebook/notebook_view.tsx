// SPDX-License-Identifier: Apache-2.0
// The notebook of one session: toolbar, cells, and the panel of variables and files.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useKeys } from "../app/keys.js";
import { hrefOf } from "../app/router.js";
import { Dialog, IconButton } from "../parts/controls.js";
import { DropPlace } from "../parts/file_button.js";
import { bytesText, durationText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { trying } from "../parts/toasts.js";
import { exportNotebook, importNotebook, runAll, startAgain } from "./actions.js";
import type { CellType } from "./cell.js";
import { CellView } from "./cell_view.js";
import { FilesPanel, uploadAll } from "./files_panel.js";
import { ImportButton } from "./import_button.js";
import { notebookKeys } from "./notebook_keys.js";
import { ReplayDialog } from "./replay_dialog.js";
import { VariablesPanel } from "./variables_panel.js";
import { sessionKind } from "./words.js";
import type { Workspace } from "./workspace.js";

const wide = matchMedia("(width >= 1180px)");

export function NotebookView({ workspace }: { workspace: Workspace }) {
  const { notebook, runner } = workspace;
  const panel = useSignal(wide.matches);
  const isWide = useSignal(wide.matches);
  const replaying = useSignal(false);
  useKeys(useMemo(() => notebookKeys(workspace), [workspace]));
  useEffect(() => {
    const follow = () => {
      isWide.value = wide.matches;
      panel.value = wide.matches;
    };
    wide.addEventListener("change", follow);
    return () => wide.removeEventListener("change", follow);
  }, []);
  useLeaving(workspace);
  const drop = (files: File[]) => {
    const notebooks = files.filter((file) => file.name.endsWith(".ipynb"));
    void uploadAll(workspace, files.filter((file) => !notebooks.includes(file)));
    for (const file of notebooks) void trying(() => importNotebook(file));
  };
  const panels = (
    <>
      <section class="notebook-panel">
        <h2>Variables</h2>
        <VariablesPanel workspace={workspace} />
      </section>
      <section class="notebook-panel">
        <h2>Files</h2>
        <FilesPanel workspace={workspace} />
      </section>
    </>
  );
  return (
    <DropPlace class={`notebook ${panel.value && isWide.value ? "with-panel" : ""}`} onFiles={drop}>
      <Toolbar workspace={workspace} onPanel={() => (panel.value = !panel.value)} panel={panel.value} onReplay={() => (replaying.value = true)} />
      {notebook.ended.value && <EndedNotice workspace={workspace} onReplay={() => (replaying.value = true)} />}
      <div class="notebook-columns">
        <div class="notebook-cells">
          {notebook.cells.value.map((cell, at) => (
            <CellView key={cell.id} workspace={workspace} cell={cell} number={at + 1} />
          ))}
          <div class="notebook-more">
            <button type="button" onClick={() => addAtEnd(workspace, "code")}>
              <Icon name="plus" size={16} /> Code
            </button>
            <button type="button" onClick={() => addAtEnd(workspace, "markdown")}>
              <Icon name="plus" size={16} /> Markdown
            </button>
          </div>
        </div>
        {panel.value && isWide.value && (
          <aside class="notebook-side" aria-label="Variables and files">
            {panels}
          </aside>
        )}
      </div>
      {panel.value && !isWide.value && (
        <Dialog title="Variables and files" onClose={() => (panel.value = false)}>
          {panels}
        </Dialog>
      )}
      <p class="notebook-drop">Drop files to place them in the session's directory, or a notebook (.ipynb) to open it</p>
      {replaying.value && <ReplayDialog workspace={workspace} onClose={() => (replaying.value = false)} />}
      <p class="hidden-text" role="status">
        {runner.said.value}
      </p>
    </DropPlace>
  );
}

function addAtEnd({ notebook }: Workspace, type: CellType): void {
  notebook.insertNew(notebook.cells.peek().length, type, true);
}

/** What is not saved yet is saved when the page is left. */
function useLeaving({ notebook }: Workspace): void {
  useEffect(() => {
    const save = () => {
      if (document.hidden) void notebook.save();
    };
    document.addEventListener("visibilitychange", save);
    return () => {
      document.removeEventListener("visibilitychange", save);
      void notebook.save();
    };
  }, [notebook]);
}

interface ToolbarProps {
  workspace: Workspace;
  panel: boolean;
  onPanel: () => void;
  onReplay: () => void;
}

function Toolbar({ workspace, panel, onPanel, onReplay }: ToolbarProps) {
  const { notebook, runner } = workspace;
  const isBusy = runner.running.value !== undefined;
  const info = notebook.info.value;
  return (
    <div class="notebook-bar" role="toolbar" aria-label="Notebook">
      <button type="button" class="primary" disabled={notebook.ended.value} onClick={() => runAll(workspace)}>
        <Icon name="play" size={16} /> Run all
      </button>
      <button type="button" disabled={!isBusy && info?.state !== "busy"} onClick={() => void trying(() => runner.interrupt())}>
        <Icon name="stop" size={16} /> <span class="notebook-word">Interrupt</span>
      </button>
      <span class="notebook-info">{info && <SessionFacts workspace={workspace} />}</span>
      <a class="icon-button button" href={hrefOf("branches", notebook.sessionId)} aria-label="Branches of the session" title="Branches of the session">
        <Icon name="branches" />
      </a>
      <IconButton icon="replay" label="Replay the session" onClick={onReplay} />
      <ImportButton label="Import a notebook (.ipynb)" />
      <IconButton icon="download" label="Export the notebook (.ipynb)" onClick={() => exportNotebook(workspace)} />
      <IconButton icon="table" label="Variables and files" aria-pressed={panel} onClick={onPanel} />
    </div>
  );
}

function SessionFacts({ workspace }: { workspace: Workspace }) {
  const info = workspace.notebook.info.value;
  if (!info || info.state === "ended") return null;
  const isBusy = info.state === "busy" || workspace.runner.running.value !== undefined;
  const facts = [
    sessionKind(info),
    info.memory_bytes > 0 && bytesText(info.memory_bytes),
    isBusy ? "running" : info.expires_in_ms !== null && `ends after ${durationText(info.expires_in_ms)} without use`,
  ];
  return <>{facts.filter(Boolean).join(" · ")}</>;
}

/** The session is gone, the notebook is not. */
function EndedNotice({ workspace, onReplay }: { workspace: Workspace; onReplay: () => void }) {
  const reason = workspace.notebook.info.value?.reason;
  const busy = useSignal(false);
  const again = async () => {
    busy.value = true;
    await trying(() => startAgain(workspace));
    busy.value = false;
  };
  return (
    <div class="notice notebook-ended" role="status">
      <p>This session has ended{reason ? `: ${reason}` : ""}. Everything in the notebook is kept; its variables are gone.</p>
      <div class="row">
        <button type="button" class="primary" disabled={busy.value} onClick={() => void again()}>
          {busy.value ? "Starting…" : "Start a new session and run all again"}
        </button>
        <button type="button" onClick={onReplay}>
          Replay what ran
        </button>
      </div>
    </div>
  );
}
