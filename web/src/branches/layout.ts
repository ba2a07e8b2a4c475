// SPDX-License-Identifier: Apache-2.0
// Where each lane, cell and checkpoint of a tree of sessions is drawn.
import { type Columns, columnsOf, type Fold, lastCell, PAD } from "./columns.js";
import type { CellRow, Lane, Mark, Place } from "./model.js";
import { placeKey } from "./model.js";

/** Pixels from the left and from the top. */
export interface Point {
  x: number;
  y: number;
}

export interface Node extends Point {
  place: Place;
  lane: Lane;
  row: number;
  cell?: CellRow;
  mark?: Mark;
  /** A checkpoint of a state that was rolled back. */
  lost?: boolean;
  /** Cells that are folded into one node; `cell` is the first of them. */
  folded?: CellRow[];
  fold?: Fold;
}

export interface Row {
  lane: Lane;
  /** The line of the lane. */
  y: number;
  /** Where its own part begins: under the cell or checkpoint at which it branched off. */
  from: Point;
  /** The radius of the curve with which it begins. */
  bend: number;
  /** The left edge of its name. */
  labelX: number;
  /** The end of its line. */
  endX: number;
  /** The end of the dashed line to checkpoints that were rolled back. */
  lostX: number | undefined;
}

export interface Layout {
  width: number;
  height: number;
  column: number;
  /** Wide columns show the first line of each cell. */
  captions: boolean;
  rows: Row[];
  nodes: Node[];
  /** The numbers along the top. */
  ticks: Array<{ x: number; cell: number }>;
}

const AXIS = 26;
const CAPTION_COLUMN = 84;

/** Lays LANES out for a view that is WIDTH wide; what needs more scrolls. OPENED: see columnsOf. */
export function layoutOf(lanes: Lane[], width: number, opened: ReadonlySet<number>): Layout {
  const columns = columnsOf(lanes, width, opened);
  const captions = columns.width >= CAPTION_COLUMN;
  const rowHeight = captions ? 98 : 64;
  const rows: Row[] = [];
  const nodes: Node[] = [];
  const places = new Map<string, Point>();
  lanes.forEach((lane, index) => {
    const y = AXIS + index * rowHeight + 46;
    const own = nodesOf(lane, index, y, columns);
    for (const node of own) places.set(placeKey(node.place), node);
    nodes.push(...own);
    rows.push(rowOf(lane, y, own, columns, places));
  });
  const ends = rows.map((row) => row.lostX ?? row.endX);
  return {
    width: Math.max(width, Math.max(...ends) + PAD),
    height: AXIS + lanes.length * rowHeight + 6,
    column: columns.width,
    captions,
    rows,
    nodes,
    ticks: ticksOf(lanes, columns),
  };
}

function nodesOf(lane: Lane, row: number, y: number, { x, width, folds }: Columns): Node[] {
  const session = lane.session.session_id;
  const foldAt = (cell: number): Fold | undefined => folds.find((fold) => fold.from <= cell && cell <= fold.to);
  const node = (cell: CellRow): Node => ({ place: { session, kind: "cell", cell: cell.cell }, lane, row, x: x(cell.cell), y, cell });
  const seen = lane.cells.filter((cell) => !foldAt(cell.cell)).map(node);
  const folded = folds.flatMap((fold): Node[] => {
    const cells = lane.cells.filter((cell) => fold.from <= cell.cell && cell.cell <= fold.to);
    return cells[0] ? [{ ...node(cells[0]), folded: cells, fold }] : [];
  });
  const now: Node = { place: { session, kind: "now" }, lane, row, x: x(lastCell(lane) + 1), y };
  const lost = lane.lost.map(
    (mark, index): Node => ({
      place: { session, kind: "checkpoint", id: mark.checkpoint_id },
      lane,
      row,
      x: now.x + (index + 0.7) * width,
      y,
      mark,
      lost: true,
    }),
  );
  return [...seen, ...folded, ...markNodes(lane, row, y, x, width), now, ...lost].sort((a, b) => a.x - b.x);
}

function markNodes(lane: Lane, row: number, y: number, x: (cell: number) => number, column: number): Node[] {
  const groups = new Map<number, Mark[]>();
  for (const mark of lane.marks) {
    const at = Math.max(mark.cell, lane.start);
    groups.set(at, [...(groups.get(at) ?? []), mark]);
  }
  return [...groups].flatMap(([cell, marks]) =>
    marks.map((mark, index): Node => ({
      place: { session: lane.session.session_id, kind: "checkpoint", id: mark.checkpoint_id },
      lane,
      row,
      x: x(cell) + (column * (index + 1)) / (marks.length + 1),
      y,
      mark,
    })),
  );
}

function rowOf(lane: Lane, y: number, own: Node[], { x, width: column }: Columns, places: Map<string, Point>): Row {
  const now = own.find((node) => node.place.kind === "now") as Node;
  const lost = own.filter((node) => node.lost).at(-1);
  const from = lane.parent ? branchPoint(lane, lane.parent, x, column, places) : { x: x((lane.cells[0]?.cell ?? lane.start + 1) - 1), y };
  return { lane, y, from, bend: Math.min(14, column / 3), labelX: from.x + (lane.parent ? 10 : 0), endX: now.x, lostX: lost?.x };
}

/** Where LANE leaves its parent: at its checkpoint, else between the last shared cell and the next. */
function branchPoint(lane: Lane, parent: Lane, x: (cell: number) => number, column: number, places: Map<string, Point>): Point {
  const session = parent.session.session_id;
  const checkpoint = lane.session.branched_from;
  const mark = checkpoint ? places.get(placeKey({ session, kind: "checkpoint", id: checkpoint })) : undefined;
  if (mark && mark.x <= x(lane.start + 1)) return mark;
  return { x: x(lane.start) + column / 2, y: startY(parent, lane.start, places) };
}

/** The line on which cell number START of LANE is, which may be that of one of its ancestors. */
function startY(lane: Lane, start: number, places: Map<string, Point>): number {
  for (let at: Lane | undefined = lane; at; at = at.parent) {
    const now = places.get(placeKey({ session: at.session.session_id, kind: "now" }));
    if (now && (at.start < start || at === lane)) return now.y;
  }
  return AXIS;
}

/** Each number where there is room, otherwise some, and those at the edges of folds. */
function ticksOf(lanes: Lane[], { first, width, folds, x }: Columns): Layout["ticks"] {
  const step = width >= 56 ? 1 : width >= 34 ? 5 : 10;
  const last = Math.max(...lanes.map(lastCell));
  const ticks: Layout["ticks"] = [];
  for (let cell = first + 1; cell <= last; cell++) {
    if (folds.some((fold) => fold.from <= cell && cell <= fold.to)) continue;
    if (cell % step === 0 || cell === 1 || folds.some((fold) => cell === fold.to + 1)) ticks.push({ x: x(cell), cell });
  }
  return ticks.filter((tick, index) => index === 0 || tick.x - (ticks[index - 1]?.x ?? 0) >= 24);
}

/** The node that an arrow key leads to from NODE. */
export function neighbour(layout: Layout, node: Node, key: string): Node | undefined {
  const line = layout.nodes.filter((each) => each.row === node.row);
  const at = line.indexOf(node);
  const parent = node.lane.parent;
  if (key === "ArrowRight") return line[at + 1];
  if (key === "ArrowLeft") return line[at - 1] ?? (parent && nearest(layout, layout.rows.findIndex((row) => row.lane === parent), line[0]!.x - 1));
  if (key === "Home") return line[0];
  if (key === "End") return line.at(-1);
  if (key === "ArrowDown") return nearest(layout, node.row + 1, node.x);
  if (key === "ArrowUp") return nearest(layout, node.row - 1, node.x);
  return undefined;
}

function nearest(layout: Layout, row: number, x: number): Node | undefined {
  const line = layout.nodes.filter((each) => each.row === row);
  return line.reduce<Node | undefined>((best, each) => (!best || Math.abs(each.x - x) < Math.abs(best.x - x) ? each : best), undefined);
}
