// SPDX-License-Identifier: Apache-2.0
// The marks of cells, checkpoints and ends of lanes: in the graph, in its legend and in the picture that introduces it.

const kinds: Record<string, string> = { ok: "good", running: "busy", cancelled: "stopped", approval_required: "wait", busy: "wait" };

/** The kind of mark that a cell of that OUTCOME has. */
export function outcomeKind(outcome: string): string {
  return kinds[outcome] ?? "bad";
}

const glyphs: Record<string, string> = {
  good: "M-4 0.2L-1.2 3L4 -3",
  bad: "M-3.2 -3.2L3.2 3.2M3.2 -3.2L-3.2 3.2",
  stopped: "M-4 0H4",
  wait: "M0 -4.5V0.8M0 4V4.2",
  busy: "M-4 0V0.1M0 0V0.1M4 0V0.1",
};

/** The outcome is told by colour, by shape and by the sign in it. */
export function CellMark({ outcome }: { outcome: string }) {
  const kind = outcomeKind(outcome);
  return (
    <>
      {kind === "bad" ? <rect class="branches-shape" x={-9} y={-9} width={18} height={18} rx={3} /> : <circle class="branches-shape" r={9} />}
      <path class="branches-glyph" d={glyphs[kind]} />
    </>
  );
}

export function Flag({ lost = false }: { lost?: boolean }) {
  return (
    <>
      <path class="branches-pole" d="M0 4V-24" />
      <path class="branches-shape" d={lost ? "M0 -24H12L8 -18.5L12 -13H0" : "M0 -24H12L8 -18.5L12 -13H0Z"} />
    </>
  );
}

export function NowMark({ state }: { state?: string }) {
  if (state === "ended") return <path class="branches-shape" d="M0 -8V8" />;
  return (
    <>
      <circle class="branches-shape" r={7} />
      <circle class="branches-dot" r={3} />
    </>
  );
}
