// SPDX-License-Identifier: Apache-2.0
// What is selected, what that means for the actions, and which dialog is open.
import { signal } from "@preact/signals";
import { type CellRow, isLive, type Lane, type Mark, type Place } from "./model.js";

export const selected = signal<Place | undefined>(undefined);

export type DialogKind = "checkpoint" | "branch" | "rollback" | "rename" | "end" | "drop" | "intro";

export const dialog = signal<DialogKind | undefined>(undefined);

/** The selection with all that it refers to. */
export interface Choice {
  lane: Lane;
  place: Place;
  cell: CellRow | undefined;
  /** The checkpoint that is selected, or that was made after the selected cell. */
  mark: Mark | undefined;
  live: boolean;
}

/** undefined: what was selected is no longer there, and neither is its lane. */
export function choiceOf(lanes: Lane[], place: Place | undefined): Choice | undefined {
  const lane = lanes.find((each) => each.session.session_id === place?.session);
  if (!lane || !place) return undefined;
  const marks = [...lane.marks, ...lane.lost];
  const cell = place.kind === "cell" ? lane.cells.find((each) => each.cell === place.cell) : undefined;
  const mark =
    place.kind === "checkpoint"
      ? marks.find((each) => each.checkpoint_id === place.id)
      : lane.marks.findLast((each) => each.cell === cell?.cell);
  const found = place.kind === "now" || cell || mark;
  return { lane, place: found ? place : { session: place.session, kind: "now" }, cell, mark, live: isLive(lane.session) };
}
