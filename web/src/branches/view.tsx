// SPDX-License-Identifier: Apache-2.0
// Sessions and their branches as a tree: look, roll back, branch, name, compare.
import { signal, useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { caller } from "../app/caller.js";
import { type Shortcut, useKeys } from "../app/keys.js";
import { go } from "../app/router.js";
import type { ViewProps } from "../app/views.js";
import { Failure, IconButton } from "../parts/controls.js";
import { plural } from "../parts/format.js";
import { say } from "../parts/toasts.js";
import { Compare, otherOf } from "./compare.js";
import { Dialogs } from "./dialogs.js";
import { Graph } from "./graph.js";
import { Intro } from "./intro.js";
import { CellMark, NowMark } from "./marks.js";
import { familiesOf, type Family, isLive, type Lane, lanesOf, liveOf, type Place, sessionTitle } from "./model.js";
import { Panel } from "./panel.js";
import { type Choice, choiceOf, dialog, type DialogKind, selected } from "./selection.js";
import { histories, load, loadFailure, loadHistories, sessions, watchSessions } from "./store.js";
import "./view.css";

/** The address is "SESSION", or "SESSION/OTHER", which compares the two. */
export function View({ path: [session, other] }: ViewProps) {
  useEffect(() => watchSessions(), []);
  const families = useComputed(() => familiesOf(sessions.value ?? []));
  const family = familyOf(families.value, session);
  if (loadFailure.value && !sessions.value) {
    return (
      <Failure>
        {messageOf(loadFailure.value)}{" "}
        <button type="button" class="link" onClick={() => void load()}>
          Try again
        </button>
      </Failure>
    );
  }
  if (!sessions.value) return <p class="loading">Loading…</p>;
  return (
    <>
      <header class="view-head">
        <h1>Branches</h1>
        {families.value.length > 0 && <FamilySelect families={families.value} family={family} />}
        <IconButton icon="ask" label="What is this?" onClick={() => (dialog.value = "intro")} />
      </header>
      {family ? (
        <Tree key={family.root.session_id} family={family} session={session} other={other} />
      ) : session && sessions.value.length > 0 ? (
        <Failure>There is no such session. It may have ended long ago.</Failure>
      ) : (
        <Intro />
      )}
      {!family && <Dialogs choice={undefined} />}
    </>
  );
}

function familyOf(families: Family[], session: string | undefined): Family | undefined {
  if (!session) return families.find((each) => each.sessions.length > 1 && each.sessions.some(isLive)) ?? families[0];
  return families.find((each) => each.sessions.some((row) => row.session_id === session || row.name === session));
}

function FamilySelect({ families, family }: { families: Family[]; family: Family | undefined }) {
  return (
    <select class="branches-family" aria-label="Session" value={family?.root.session_id} onChange={(event) => go("branches", [event.currentTarget.value])}>
      {!family && <option value="">Choose a session</option>}
      {families.map(({ root, sessions: members }) => (
        <option key={root.session_id} value={root.session_id}>
          {sessionTitle(root)}
          {members.length > 1 ? ` and ${plural(members.length - 1, "branch", "branches")}` : ""}
          {members.some(isLive) ? "" : " (ended)"}
        </option>
      ))}
    </select>
  );
}

const showsEnded = signal(false);

function Tree({ family: whole, session, other }: { family: Family; session: string | undefined; other: string | undefined }) {
  const live = useMemo(() => liveOf(whole, session), [whole, session]);
  const family = showsEnded.value ? whole : live;
  const ended = whole.sessions.length - live.sessions.length;
  useEffect(() => void loadHistories(family.sessions), [family.sessions]);
  const known = histories.value;
  const lanes = useMemo(() => lanesOf(family, known), [family, known]);
  const start = family.sessions.find((each) => each.session_id === session || each.name === session) ?? family.root;
  const before = family.sessions.some((each) => each.session_id === selected.value?.session) ? selected.value : undefined;
  const place: Place = before ?? { session: start.session_id, kind: "now" };
  const choice = choiceOf(lanes, place);
  const partner = choice && otherOf(lanes, choice.lane);
  const compare = partner ? () => go("branches", [place.session, partner]) : undefined;
  const latest = useRef({ choice, compare });
  latest.current = { choice, compare };
  const keys = useMemo(() => treeKeys(() => (caller.peek()?.read_only ? undefined : latest.current.choice), () => latest.current.compare?.()), []);
  useKeys(keys);
  useEffect(() => {
    if (session) selected.value = { session: start.session_id, kind: "now" };
  }, [session, start.session_id]);
  const compared = other && lanes.some((lane) => lane.session.session_id === other) ? ([start.session_id, other] as [string, string]) : undefined;
  return (
    <>
      <div class={compared ? "branches-tree compares" : "branches-tree"}>
        <div class="branches-main">
          <Graph lanes={lanes} selected={choice?.place} onSelect={(next) => (selected.value = next)} compared={compared} />
          <Legend ended={ended} />
          {isAlone(lanes) && <Intro />}
        </div>
        {compared ? <Compare lanes={lanes} a={compared[0]} b={compared[1]} /> : choice && <Panel choice={choice} onCompare={compare} />}
      </div>
      <Dialogs choice={choice} />
    </>
  );
}

/** Whether there is nothing yet to go back to or to compare. */
function isAlone(lanes: Lane[]): boolean {
  return lanes.length === 1 && lanes.every(({ marks, lost }) => marks.length + lost.length === 0);
}

/** CHOICE is asked when a key is pressed. */
function treeKeys(choice: () => Choice | undefined, compare: () => void): Shortcut[] {
  const group = "Branches";
  const opens = (keys: string, text: string, kind: DialogKind, reason: (now: Choice) => string | undefined): Shortcut => ({
    keys,
    text,
    group,
    run: () => {
      const now = choice();
      const why = now && (now.live ? reason(now) : "This session has ended.");
      if (why) say(why);
      else if (now) dialog.value = kind;
    },
  });
  const moves = (keys: string, text: string): Shortcut => ({ keys, text, group, run: focusTree });
  return [
    opens("b", "Branch from what is selected", "branch", () => undefined),
    opens("c", "Make a checkpoint", "checkpoint", () => undefined),
    opens("r", "Roll back to the selected checkpoint", "rollback", (now) => (now.mark ? undefined : "Select a checkpoint to roll back to.")),
    { keys: "=", text: "Compare with another branch", group, run: compare },
    moves("ArrowLeft", "Move back along the tree (up and down: to another lane)"),
    moves("ArrowRight", "Move along the tree"),
  ];
}

/** The arrow keys move in the tree once it has the focus, which it gets if nothing else has it. */
function focusTree(): boolean {
  const focused = document.activeElement;
  if (focused && focused !== document.body && focused.id !== "content") return false;
  document.querySelector<SVGElement>('.branches-svg [role="option"][tabindex="0"]')?.focus();
  return true;
}

function Legend({ ended }: { ended: number }) {
  return (
    <ul class="branches-legend" aria-label="Legend">
      <li><LegendMark kind="cell good"><CellMark outcome="ok" /></LegendMark> ran</li>
      <li><LegendMark kind="cell bad"><CellMark outcome="error" /></LegendMark> failed</li>
      <li><LegendMark kind="flag"><SmallFlag /></LegendMark> checkpoint</li>
      <li><LegendMark kind="now"><NowMark /></LegendMark> now</li>
      {ended > 0 && (
        <li>
          <label class="check-field">
            <input type="checkbox" checked={showsEnded.value} onChange={(event) => (showsEnded.value = event.currentTarget.checked)} />
            {plural(ended, "branch", "branches")} that {ended === 1 ? "has" : "have"} ended
          </label>
        </li>
      )}
      <li class="branches-hint">Arrow keys move, <kbd>b</kbd> branches, <kbd>c</kbd> makes a checkpoint</li>
    </ul>
  );
}

function LegendMark({ kind, children }: { kind: string; children: ComponentChildren }) {
  return (
    <svg class="branches-svg" width="20" height="20" viewBox="-10 -10 20 20" aria-hidden="true">
      <g class={`branches-node ${kind}`}>{children}</g>
    </svg>
  );
}

/** A flag on a shorter pole, as high as the other marks of the legend. */
function SmallFlag() {
  return (
    <g transform="translate(-4 12)">
      <path class="branches-pole" d="M0 -2V-20" />
      <path class="branches-shape" d="M0 -20H12L8 -14.5L12 -9H0Z" />
    </g>
  );
}
