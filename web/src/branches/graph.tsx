// SPDX-License-Identifier: Apache-2.0
// The tree of sessions: a lane for each, a mark for each cell, a flag for each checkpoint, a curve where a branch begins.
import { type Signal, useSignal } from "@preact/signals";
import { Component } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { durationText, plural, spaced } from "../parts/format.js";
import { type Layout, layoutOf, neighbour, type Node, type Row } from "./layout.js";
import { CellMark, Flag, NowMark, outcomeKind } from "./marks.js";
import { type CellRow, checkpointTitle, isLive, type Lane, type Place, placeKey, samePlace, sessionTitle } from "./model.js";
import { NodeCard } from "./node_card.js";

interface GraphProps {
  lanes: Lane[];
  selected: Place | undefined;
  onSelect: (place: Place) => void;
  /** The sessions that are compared, marked A and B. */
  compared?: [string, string] | undefined;
}

const HOVER_MS = 120;

export function Graph({ lanes, selected, onSelect, compared }: GraphProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const left = useSignal(0);
  const hovered = useSignal<Node | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLayoutEffect(() => {
    const element = box.current as HTMLDivElement;
    const observer = new ResizeObserver(() => (width.value = element.clientWidth));
    width.value = element.clientWidth;
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const opened = useSignal<ReadonlySet<number>>(new Set());
  const layout = useMemo(() => layoutOf(lanes, Math.max(280, width.value), opened.value), [lanes, width.value, opened.value]);
  const current = layout.nodes.find((node) => samePlace(node.place, selected)) ?? layout.nodes.find((node) => node.place.kind === "now");
  useShown(box, layout, current);
  useUnfolded(layout, selected, opened);
  const hover = (node: Node | undefined) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => (hovered.value = node), node ? HOVER_MS : 2 * HOVER_MS);
  };
  const select = (place: Place) => {
    clearTimeout(timer.current);
    hovered.value = undefined;
    onSelect(place);
  };
  const onScroll = (event: Event) => {
    hovered.value = undefined;
    left.value = (event.currentTarget as HTMLElement).scrollLeft;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && hovered.value) hovered.value = undefined;
    if (event.ctrlKey || event.metaKey || event.altKey || !current) return;
    const next = neighbour(layout, current, event.key);
    if (!next) return;
    event.preventDefault();
    onSelect(next.place);
    focusNode(box.current, next.place);
  };
  return (
    <div class="branches-graph" ref={box} onKeyDown={onKeyDown} onScroll={onScroll}>
      <div class="branches-canvas" style={{ width: layout.width, height: layout.height }}>
        <Drawing layout={layout} current={current} onSelect={select} onHover={hover} selected={selected} />
        <LaneLabels rows={layout.rows} compared={compared} onSelect={onSelect} left={left} width={width} />
      </div>
      {hovered.value && layout.nodes.some((node) => samePlace(node.place, hovered.value?.place)) && (
        <NodeCard node={hovered.value} box={box.current as HTMLElement} below={layout.captions && !hovered.value.mark ? 48 : 18} onHover={hover} />
      )}
    </div>
  );
}

/** A fold opens when one of its cells is selected, and stays open. */
function useUnfolded(layout: Layout, selected: Place | undefined, opened: Signal<ReadonlySet<number>>): void {
  const fold = selected?.kind === "cell" ? layout.nodes.find((node) => isFolded(node, selected.session, selected.cell))?.fold : undefined;
  useEffect(() => {
    if (fold) opened.value = new Set(opened.peek()).add(fold.from);
  }, [fold]);
}

function isFolded(node: Node, session: string, cell: number): boolean {
  return node.place.session === session && Boolean(node.folded?.some((each) => each.cell === cell));
}

function focusNode(box: HTMLElement | null, place: Place): void {
  requestAnimationFrame(() => box?.querySelector<SVGElement>(`[data-place="${CSS.escape(placeKey(place))}"]`)?.focus());
}

/** Scrolls so that what is selected is in sight, at first the end of its lane. */
function useShown(box: { current: HTMLDivElement | null }, layout: Layout, current: Node | undefined): void {
  const key = current && placeKey(current.place);
  useEffect(() => {
    const element = box.current;
    if (!element || !current) return;
    const margin = 60;
    const { scrollLeft, clientWidth, scrollTop, clientHeight } = element;
    if (current.x < scrollLeft + margin) element.scrollLeft = current.x - margin;
    if (current.x > scrollLeft + clientWidth - margin) element.scrollLeft = current.x - clientWidth + margin;
    if (current.y < scrollTop + margin) element.scrollTop = current.y - margin;
    if (current.y > scrollTop + clientHeight - margin) element.scrollTop = current.y - clientHeight + margin;
  }, [key, layout.width]);
}

interface DrawingProps {
  layout: Layout;
  current: Node | undefined;
  selected: Place | undefined;
  onSelect: (place: Place) => void;
  onHover: (node: Node | undefined) => void;
}

function Drawing({ layout, current, selected, onSelect, onHover }: DrawingProps) {
  const captions = useMemo(() => <Captions layout={layout} />, [layout]);
  const isChosen = (row: Row) => row.lane.session.session_id === selected?.session; // drawn last, above the others
  return (
    <svg
      class="branches-svg"
      width={layout.width}
      height={layout.height}
      role="listbox"
      aria-label="Cells, checkpoints and branches"
      aria-orientation="horizontal"
    >
      <g aria-hidden="true">
        {layout.ticks.map((tick) => (
          <text key={tick.cell} class="branches-tick" x={tick.x} y={16}>
            {tick.cell}
          </text>
        ))}
        {[...layout.rows].sort((a, b) => Number(isChosen(a)) - Number(isChosen(b))).map((row) => (
          <LaneLine key={row.lane.session.session_id} row={row} chosen={isChosen(row)} />
        ))}
      </g>
      {layout.rows.map((row, index) => (
        <LaneNodes
          key={row.lane.session.session_id}
          layout={layout}
          row={index}
          chosen={selected?.session === row.lane.session.session_id ? selected : undefined}
          focusable={current?.row === index ? current : undefined}
          onSelect={onSelect}
          onHover={onHover}
        />
      ))}
      {captions}
    </svg>
  );
}

interface LaneNodesProps {
  layout: Layout;
  row: number;
  chosen: Place | undefined;
  focusable: Node | undefined;
  onSelect: (place: Place) => void;
  onHover: (node: Node | undefined) => void;
}

/** The nodes of one lane. Most lanes stay as they are when the selection moves. */
class LaneNodes extends Component<LaneNodesProps> {
  override shouldComponentUpdate(next: LaneNodesProps): boolean {
    const { layout, chosen, focusable } = this.props;
    return next.layout !== layout || next.chosen !== chosen || next.focusable !== focusable;
  }

  override render({ layout, row, chosen, focusable, onSelect, onHover }: LaneNodesProps) {
    return (
      <g role="group" aria-label={laneName((layout.rows[row] as Row).lane)}>
        {paintOrder(layout.nodes.filter((node) => node.row === row)).map((node) => (
          <NodeMark
            key={placeKey(node.place)}
            node={node}
            layout={layout}
            chosen={samePlace(node.place, chosen)}
            focusable={node === focusable}
            onSelect={onSelect}
            onHover={onHover}
          />
        ))}
      </g>
    );
  }
}

/** Flags are above what is beside them. */
function paintOrder(nodes: Node[]): Node[] {
  return [...nodes.filter((node) => !node.mark), ...nodes.filter((node) => node.mark)];
}

function LaneLine({ row, chosen }: { row: Row; chosen: boolean }) {
  const { from, y, endX, lostX, lane, bend } = row;
  const path = lane.parent ? `M${from.x} ${from.y}V${y - bend}Q${from.x} ${y} ${from.x + bend} ${y}H${endX}` : `M${from.x} ${y}H${endX}`;
  const state = isLive(lane.session) ? "" : " ended";
  return (
    <>
      <path class={`branches-line${state}${chosen ? " chosen" : ""}`} d={path} />
      {lostX !== undefined && <path class="branches-line lost" d={`M${endX} ${y}H${lostX}`} />}
      <circle class={chosen ? "branches-start chosen" : "branches-start"} cx={from.x} cy={from.y} r={4} />
    </>
  );
}

function laneName(lane: Lane): string {
  const { session, parent } = lane;
  const from = parent ? `, branch of ${sessionTitle(parent.session)} after cell ${lane.start}` : "";
  return `${sessionTitle(session)}, ${session.state}${from}`;
}

interface LabelsProps extends Pick<GraphProps, "compared" | "onSelect"> {
  rows: Row[];
  /** What is in sight: from which pixel, and how many. */
  left: Signal<number>;
  width: Signal<number>;
}

function LaneLabels({ rows, left, width, ...rest }: LabelsProps) {
  return (
    <>
      {rows.map((row) => (
        <LaneLabel key={row.lane.session.session_id} row={row} left={left.value} right={left.value + width.value} {...rest} />
      ))}
    </>
  );
}

const EDGE = 24;

/** The name of a lane that is out of sight stays at the edge behind which it is, with an arrow. */
function LaneLabel({ row, left, right, compared, onSelect }: { row: Row; left: number; right: number } & Pick<GraphProps, "compared" | "onSelect">) {
  const { session } = row.lane;
  const letter = compared?.[0] === session.session_id ? "A" : compared?.[1] === session.session_id ? "B" : undefined;
  const before = (row.lostX ?? row.endX) < left + EDGE;
  const after = row.labelX > right - EDGE;
  const classes = ["branches-label", !isLive(session) && "ended", (before || after) && "away"].filter(Boolean).join(" ");
  const place = after ? { left: 0, width: right, textAlign: "right" as const } : { left: before ? left : row.labelX, right: 0 };
  return (
    <div class="branches-label-row" style={{ ...place, top: row.y - 46 }}>
      <span class={classes} aria-hidden="true" onClick={() => onSelect({ session: session.session_id, kind: "now" })}>
        {before && "←"}
        {letter && <b class="branches-letter">{letter}</b>}
        <span>{sessionTitle(session)}</span>
        {session.state !== "idle" && <i>{session.state}</i>}
        {after && "→"}
      </span>
    </div>
  );
}

// ---- what is on a lane ----

interface NodeMarkProps {
  node: Node;
  layout: Layout;
  chosen: boolean;
  focusable: boolean;
  onSelect: (place: Place) => void;
  onHover: (node: Node | undefined) => void;
}

function NodeMark({ node, layout, chosen, focusable, onSelect, onHover }: NodeMarkProps) {
  return (
    <g
      role="option"
      class={`branches-node ${kindOf(node)}${chosen ? " chosen" : ""}`}
      data-place={placeKey(node.place)}
      tabindex={focusable ? 0 : -1} /* SVG's attributes have lower case */
      aria-selected={chosen}
      aria-label={nodeName(node)}
      transform={`translate(${node.x} ${node.y})`}
      onClick={() => onSelect(node.place)}
      onPointerEnter={(event) => event.pointerType === "mouse" && onHover(node)}
      onPointerLeave={() => onHover(undefined)}
    >
      <rect class="branches-target" rx={6} {...targetOf(node, layout)} />
      <NodeShape node={node} />
    </g>
  );
}

function NodeShape({ node }: { node: Node }) {
  if (node.mark) return <Flag lost={node.lost === true} />;
  if (node.folded) return <rect class="branches-shape" x={-22} y={-10} width={44} height={20} rx={10} />;
  return node.cell ? <CellMark outcome={node.cell.outcome} /> : <NowMark state={node.lane.session.state} />;
}

/** What reacts to the pointer: with the caption, if there is one. */
function targetOf(node: Node, layout: Layout): { x: number; y: number; width: number; height: number } {
  const { column, captions } = layout;
  if (node.mark) {
    const wide = captions ? 26 + CHARACTER * captionLength(node, column) : 24;
    return { x: captions ? -6 : -9, y: -31, width: wide, height: captions ? 26 : 36 };
  }
  if (node.folded) return { x: -26, y: -14, width: 52, height: 28 };
  const most = captions ? column - 10 : Math.max(24, Math.min(column, 44));
  const wide = Math.min(most, 2 * (layout.width - node.x) - 2); // the last one is near the edge
  return captions ? { x: -wide / 2, y: -11, width: wide, height: 55 } : { x: -wide / 2, y: -14, width: wide, height: 28 };
}

function captionLength(node: Node, column: number): number {
  return Math.min(captionOf(node).length, Math.max(1, Math.floor((column - 24) / CHARACTER)));
}

function kindOf(node: Node): string {
  if (node.mark) return node.lost ? "flag lost" : "flag";
  if (node.folded) return "fold";
  return node.cell ? `cell ${outcomeKind(node.cell.outcome)}` : `now ${node.lane.session.state}`;
}

function failures(cells: CellRow[]): number {
  return cells.filter((cell) => outcomeKind(cell.outcome) === "bad").length;
}

/** How many cells are folded, and whether one of them failed. */
function FoldText({ cells }: { cells: CellRow[] }) {
  const failed = failures(cells);
  return (
    <text class="branches-fold" y={4}>
      {failed ? `${cells.length} · ${failed}✕` : cells.length}
    </text>
  );
}

/** Texts beside the marks. Screen readers have the names of the marks instead, which say more. */
function Captions({ layout }: { layout: Layout }) {
  const texts = layout.captions ? layout.nodes : layout.nodes.filter((node) => node.folded);
  return (
    <g class="branches-captions" aria-hidden="true">
      {texts.map((node) => (
        <g key={placeKey(node.place)} transform={`translate(${node.x} ${node.y})`}>
          {node.folded ? <FoldText cells={node.folded} /> : <Caption node={node} column={layout.column} />}
        </g>
      ))}
    </g>
  );
}

const CHARACTER = 6.4;
const CAPTION_LINES = 2;

function Caption({ node, column }: { node: Node; column: number }) {
  const text = captionOf(node);
  if (node.mark) {
    return (
      <text class="branches-caption beside" x={16} y={-15}>
        {shortened(text, captionLength(node, column))}
      </text>
    );
  }
  return (
    <text class="branches-caption">
      {wrapped(text, Math.floor((column - 6) / CHARACTER)).map((line, index) => (
        <tspan key={index} x={0} y={25 + 13 * index}>
          {line}
        </tspan>
      ))}
    </text>
  );
}

function captionOf(node: Node): string {
  if (node.mark) return checkpointTitle(node.mark);
  if (node.folded) return "";
  if (node.cell) return firstLine(node.cell.code) || "files";
  return node.lane.session.state === "ended" ? "ended" : "now";
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;
}

/** TEXT in a few lines of at most MOST characters, broken between words where that is possible. */
function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > most && lines.length < CAPTION_LINES - 1) {
    const space = rest.lastIndexOf(" ", most);
    const end = space > most / 3 ? space : most;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, shortened(rest, most)];
}

/** What a cell is about: its first comment, if it begins with one, else the first line that is no import. */
export function firstLine(code: string): string {
  const lines = code.split("\n").map((line) => line.trim()).filter(Boolean);
  const title = /^#+\s*(?:%%)?\s*(.+)/.exec(lines[0] ?? "")?.[1];
  return title ?? lines.find((line) => !/^(import|from|#|%)/.test(line)) ?? lines[0] ?? "";
}

/** "Cells 21 to 58, 2 failed". */
export function foldTitle(cells: CellRow[]): string {
  const failed = failures(cells);
  return `Cells ${cells[0]?.cell} to ${cells.at(-1)?.cell}${failed ? `, ${failed} failed` : ""}`;
}

function nodeName(node: Node): string {
  const { session } = node.lane;
  const title = sessionTitle(session);
  if (node.mark) {
    const where = `after cell ${node.mark.cell}${node.lost ? " of a state that was rolled back" : ""}`;
    return `Checkpoint ${checkpointTitle(node.mark)} of ${title}, ${where}`;
  }
  if (node.folded) return `${foldTitle(node.folded)} of ${title}. Select to unfold`;
  if (node.cell) {
    const took = node.cell.wall_ms ? `, ${durationText(node.cell.wall_ms)}` : "";
    return `Cell ${node.cell.cell} of ${title}, ${spaced(node.cell.outcome)}${took}: ${firstLine(node.cell.code).slice(0, 80)}`;
  }
  if (!isLive(session)) return `End of ${title}: ${session.reason ?? "it has ended"}`;
  return `${title} now, ${session.state}, ${plural(session.variables, "variable")}`;
}
