// SPDX-License-Identifier: Apache-2.0
// The keys of a notebook, as Jupyter has them. They apply while no text is edited.
import type { Shortcut } from "../app/keys.js";
import { trying } from "../parts/toasts.js";
import { editCell, runAll, runCell } from "./actions.js";
import type { Cell } from "./cell.js";
import type { Workspace } from "./workspace.js";

const GROUP = "Notebook";

export function notebookKeys(workspace: Workspace): Shortcut[] {
  const { notebook, runner } = workspace;
  // While an editor is about to have the focus, keys are not commands yet.
  const isWaiting = () => notebook.focusing.peek() !== notebook.focusedUpTo && notebook.editing.peek();
  const row = (keys: string, text: string, run: (event: KeyboardEvent) => void | boolean): Shortcut => ({
    keys,
    text,
    group: GROUP,
    run: (event) => (isWaiting() ? true : run(event)),
  });
  const onCell = (keys: string, text: string, work: (cell: Cell) => void) =>
    row(keys, text, () => {
      const cell = notebook.current;
      if (!cell) return false;
      work(cell);
      return undefined;
    });
  /** Keys that buttons and links have a use for. */
  const onCellItself = (keys: string, text: string, work: (cell: Cell) => void) => {
    const shortcut = onCell(keys, text, work);
    return { ...shortcut, run: (event: KeyboardEvent) => (isControl(event) ? false : shortcut.run(event)) };
  };
  return [
    onCell("Shift+Enter", "Run the cell and go to the next", (cell) => runCell(workspace, cell, "next")),
    onCell("Mod+Enter", "Run the cell", (cell) => runCell(workspace, cell, "stay")),
    onCell("Alt+Enter", "Run the cell and insert one below", (cell) => runCell(workspace, cell, "insert")),
    onCellItself("Enter", "Edit the cell", (cell) => editCell(workspace, cell)),
    row("Escape", "Stop editing; then single keys are commands", () => false),
    onCell("a", "Insert a cell above", () => notebook.insertBeside(0)),
    onCell("b", "Insert a cell below", () => notebook.insertBeside(1)),
    onCell("d d", "Delete the cell", (cell) => notebook.remove(cell)),
    row("z", "Bring back the deleted cell", () => notebook.undelete()),
    onCell("m", "Make it a Markdown cell", (cell) => notebook.change(cell, "markdown")),
    onCell("y", "Make it a code cell", (cell) => notebook.change(cell, "code")),
    onCell("j", "Select the next cell", () => notebook.step(1)),
    onCell("k", "Select the previous cell", () => notebook.step(-1)),
    onCellItself("ArrowDown", "Select the next cell", () => notebook.step(1)),
    onCellItself("ArrowUp", "Select the previous cell", () => notebook.step(-1)),
    onCell("J", "Move the cell down", (cell) => notebook.move(cell, 1)),
    onCell("K", "Move the cell up", (cell) => notebook.move(cell, -1)),
    row("i i", "Interrupt the running cell", () => void trying(() => runner.interrupt())),
    row("R", "Run all cells", () => runAll(workspace)),
  ];
}

/** Whether the key belongs to what has the focus: a button, a link, a box that scrolls. */
function isControl(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  return target.closest("button, a, summary, [role=group], [role=region], dialog, pre") !== null;
}
