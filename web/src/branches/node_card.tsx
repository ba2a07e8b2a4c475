// SPDX-License-Identifier: Apache-2.0
// What the pointer is over, at a glance.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Code } from "../parts/code.js";
import { Outcome } from "../parts/controls.js";
import { bytesText, durationText, plural, timeText } from "../parts/format.js";
import { foldTitle } from "./graph.js";
import type { Node } from "./layout.js";
import { checkpointTitle, isLive, sessionTitle } from "./model.js";

const LINES = 12;
const GAP = 18;

interface NodeCardProps {
  node: Node;
  /** What scrolls the tree. */
  box: HTMLElement;
  /** The pixels below the node that stay free. */
  below: number;
  onHover: (node: Node | undefined) => void;
}

export function NodeCard({ node, box, below, onHover }: NodeCardProps) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const card = ref.current as HTMLDivElement;
    const area = box.getBoundingClientRect();
    const x = area.left + node.x - box.scrollLeft;
    const y = area.top + node.y - box.scrollTop;
    const { width, height } = card.getBoundingClientRect();
    const left = Math.min(Math.max(8, x - width / 2), innerWidth - width - 8);
    const fits = y + below + height < innerHeight - 8;
    card.style.left = `${left}px`;
    card.style.top = `${fits ? y + below : Math.max(8, y - height - (node.mark ? 34 : GAP))}px`;
  }, [node, box, below]);
  return (
    <div class="branches-card" ref={ref} aria-hidden="true" onPointerEnter={() => onHover(node)} onPointerLeave={() => onHover(undefined)}>
      <CardText node={node} />
    </div>
  );
}

function CardText({ node }: { node: Node }) {
  const { session } = node.lane;
  if (node.mark) {
    return (
      <>
        <p><b>Checkpoint {checkpointTitle(node.mark)}</b></p>
        <p class="quiet">
          {timeText(node.mark.created)} · after cell {node.mark.cell} · {plural(node.mark.variables, "variable")} · {bytesText(node.mark.memory_bytes)}
        </p>
      </>
    );
  }
  if (node.folded) {
    return (
      <>
        <p><b>{foldTitle(node.folded)}</b></p>
        <p class="quiet">Nothing begins or ends here. Click to unfold.</p>
      </>
    );
  }
  if (!node.cell) {
    return (
      <>
        <p><b>{sessionTitle(session)}</b> {isLive(session) ? "now" : "has ended"}</p>
        <p class="quiet">
          {isLive(session) ? `${session.state} · ${plural(session.variables, "variable")} · ${bytesText(session.memory_bytes)}` : session.reason}
        </p>
      </>
    );
  }
  const lines = node.cell.code.split("\n");
  return (
    <>
      <p class="branches-card-head">
        <b>Cell {node.cell.cell}</b> <Outcome outcome={node.cell.outcome} />
        {node.cell.wall_ms > 0 && <span class="quiet">{durationText(node.cell.wall_ms)}</span>}
      </p>
      {node.cell.code && <Code text={lines.slice(0, LINES).join("\n")} />}
      {lines.length > LINES && <p class="quiet">and {plural(lines.length - LINES, "more line")}</p>}
    </>
  );
}
