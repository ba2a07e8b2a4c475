// SPDX-License-Identifier: Apache-2.0
// Two sessions of a tree side by side: the cells of each since they parted, what the last one showed, and the variables that differ.
import { useSignal } from "@preact/signals";
import type { Variable } from "adder-client";
import { useEffect } from "preact/hooks";
import { ask, messageOf, pathOf } from "../app/api.js";
import { go } from "../app/router.js";
import { ResultView } from "../output/result_view.js";
import { Code } from "../parts/code.js";
import { Failure, IconButton, Outcome } from "../parts/controls.js";
import { plural } from "../parts/format.js";
import { firstLine } from "./graph.js";
import { type CellRow, isLive, type Lane, sessionTitle } from "./model.js";
import { resultsOf, variablesOf } from "./store.js";
import { TableCompare } from "./table_compare.js";
import { variableText } from "./variables.js";

interface Comparison {
  only_here: Variable[];
  only_there: Variable[];
  differing: Array<{ name: string; here: Variable; there: Variable }>;
  same: number;
  unknown: string[];
}

/** The session that LANE is best compared with: a sibling that lives, else its parent, else a branch. */
export function otherOf(lanes: Lane[], lane: Lane): string | undefined {
  const others = lanes.filter((each) => each !== lane);
  const siblings = others.filter((each) => lane.parent && each.parent === lane.parent);
  const near = [...siblings, ...others.filter((each) => each === lane.parent || each.parent === lane), ...others];
  return (near.find((each) => isLive(each.session)) ?? near[0])?.session.session_id;
}

export function Compare({ lanes, a, b }: { lanes: Lane[]; a: string; b: string }) {
  const here = lanes.find((lane) => lane.session.session_id === a) as Lane;
  const there = lanes.find((lane) => lane.session.session_id === b) as Lane;
  const choose = (first: string, second: string) => go("branches", [first, second], { replace: true });
  const [ofHere, ofThere] = partedCells(here, there);
  return (
    <section class="branches-compare card" aria-label="Comparison">
      <header class="branches-panel-head">
        <h2>Compare</h2>
        <span class="branches-panel-tools">
          <IconButton icon="close" label="Close the comparison" onClick={() => go("branches", [a])} />
        </span>
      </header>
      <div class="branches-pair">
        <Chooser letter="A" lanes={lanes} value={a} other={b} onChoose={(id) => choose(id, b)} />
        <Chooser letter="B" lanes={lanes} value={b} other={a} onChoose={(id) => choose(a, id)} />
      </div>
      <h3>Since they diverged</h3>
      <div class="branches-pair">
        <Parted letter="A" lane={here} cells={ofHere} />
        <Parted letter="B" lane={there} cells={ofThere} />
      </div>
      <Differences here={here} there={there} />
    </section>
  );
}

function Chooser(props: { letter: string; lanes: Lane[]; value: string; other: string; onChoose: (id: string) => void }) {
  return (
    <div class="branches-chooser">
      <b class="branches-letter" aria-hidden="true">{props.letter}</b>
      <select aria-label={`Session ${props.letter}`} value={props.value} onChange={(event) => props.onChoose(event.currentTarget.value)}>
        {props.lanes.map(({ session }) => (
          <option key={session.session_id} value={session.session_id} disabled={session.session_id === props.other}>
            {sessionTitle(session)}
            {isLive(session) ? "" : " (ended)"}
          </option>
        ))}
      </select>
    </div>
  );
}

// ---- cells ----

/** All cells of LANE, with those that it shares with its parents. */
function lineage(lane: Lane): CellRow[] {
  const shared = lane.parent ? lineage(lane.parent).filter((cell) => cell.cell <= lane.start) : [];
  return [...shared, ...lane.cells];
}

function partedCells(a: Lane, b: Lane): [CellRow[], CellRow[]] {
  const [ofA, ofB] = [lineage(a), lineage(b)];
  let common = 0;
  while (common < ofA.length && common < ofB.length && sameCell(ofA[common], ofB[common])) common++;
  return [ofA.slice(common), ofB.slice(common)];
}

function sameCell(a: CellRow | undefined, b: CellRow | undefined): boolean {
  return a?.cell === b?.cell && a?.started === b?.started && a?.code === b?.code;
}

function Parted({ letter, lane, cells }: { letter: string; lane: Lane; cells: CellRow[] }) {
  const last = cells.at(-1);
  return (
    <div class="branches-side">
      <p class="branches-side-name">
        <b class="branches-letter" aria-hidden="true">{letter}</b> <b>{sessionTitle(lane.session)}</b>
        <span class="quiet">{plural(cells.length, "cell")} of its own</span>
      </p>
      {cells.map((cell) => (
        <details key={cell.cell}>
          <summary>
            <span class="quiet">{cell.cell}</span> <code>{firstLine(cell.code)}</code>
            {cell.outcome !== "ok" && <Outcome outcome={cell.outcome} />}
          </summary>
          <Code text={cell.code} />
        </details>
      ))}
      {last && <LastResult session={lane.session.session_id} cell={last} />}
    </div>
  );
}

function LastResult({ session, cell }: { session: string; cell: CellRow }) {
  const found = useSignal<CellRow | undefined>(undefined);
  useEffect(() => {
    resultsOf(session, cell).then(
      ({ cells }) => (found.value = cells.find((each) => each.cell === cell.cell)),
      () => undefined, // the cells above are enough
    );
  }, [session, cell.cell, cell.started, cell.outcome]);
  const result = found.value?.result;
  return result ? <ResultView result={result} runId={result.run_id} /> : null;
}

// ---- variables ----

function Differences({ here, there }: { here: Lane; there: Lane }) {
  const comparison = useSignal<Comparison | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const [a, b] = [here.session, there.session];
  const live = isLive(a) && isLive(b);
  useEffect(() => {
    if (!live) return undefined;
    let current = true;
    comparison.value = undefined;
    failure.value = undefined;
    ask<Comparison>("POST", pathOf("v1", "sessions", a.session_id, "compare"), { body: { with: b.session_id }, endless: true }).then(
      (answer) => current && (comparison.value = answer),
      (error) => current && (failure.value = messageOf(error)),
    );
    return () => {
      current = false;
    };
  }, [a.session_id, b.session_id, a.cells, b.cells, live]);
  if (!live) return <p class="quiet">The variables of a session that has ended cannot be compared.</p>;
  if (failure.value) return <Failure>{failure.value}</Failure>;
  const found = comparison.value;
  if (!found) return <p class="quiet" role="status">Comparing variables…</p>;
  return (
    <>
      <h3>Variables</h3>
      <p role="status">{summaryOf(found)}</p>
      <Values a={a.session_id} b={b.session_id} differing={found.differing.filter((each) => !isTabular(each))} />
      {found.differing.filter(isTabular).map(({ name, here: left, there: right }) => (
        <TableCompare key={name} name={name} a={a.session_id} b={b.session_id} textA={variableText(left)} textB={variableText(right)} />
      ))}
      <Only title={`Only in A, ${sessionTitle(a)}`} variables={found.only_here} />
      <Only title={`Only in B, ${sessionTitle(b)}`} variables={found.only_there} />
      {found.unknown.length > 0 && (
        <p class="quiet">
          These could not be compared: <code>{found.unknown.join(", ")}</code>
        </p>
      )}
    </>
  );
}

function summaryOf({ differing, only_here, only_there, same }: Comparison): string {
  const parts = [
    differing.length > 0 && `${plural(differing.length, "variable differs", "variables differ")}`,
    only_here.length > 0 && `${plural(only_here.length, "is", "are")} only in A`,
    only_there.length > 0 && `${plural(only_there.length, "is", "are")} only in B`,
    `${plural(same, "is", "are")} the same`,
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}

function isTabular({ here, there }: Comparison["differing"][number]): boolean {
  const table = (variable: Variable) => /^(DataFrame|Series)$/.test(variable.type) || (variable.type === "ndarray" && variable.shape?.length === 2);
  return table(here) && table(there);
}

const MOST_VALUES = 100;

function Values({ a, b, differing }: { a: string; b: string; differing: Comparison["differing"] }) {
  const values = useSignal<[Map<string, string>, Map<string, string>] | undefined>(undefined);
  const names = differing.slice(0, MOST_VALUES).map((each) => each.name);
  useEffect(() => {
    if (names.length === 0) return;
    const read = async (id: string) => new Map((await variablesOf(id, names)).map((each) => [each.name, each.value ?? ""]));
    Promise.all([read(a), read(b)]).then(
      (found) => (values.value = found),
      () => undefined, // types and sizes are shown without them
    );
  }, [a, b, names.join()]);
  if (differing.length === 0) return null;
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Variables that differ">
      <table class="data branches-values">
        <thead>
          <tr>
            <th scope="col">Variable</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        <tbody>
          {differing.slice(0, MOST_VALUES).map(({ name, here, there }) => (
            <tr key={name}>
              <th scope="row"><code>{name}</code></th>
              <td><ValueText value={values.value?.[0].get(name)} variable={here} /></td>
              <td><ValueText value={values.value?.[1].get(name)} variable={there} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {differing.length > MOST_VALUES && <p class="quiet">and {plural(differing.length - MOST_VALUES, "more variable")}</p>}
    </div>
  );
}

function ValueText({ value, variable }: { value: string | undefined; variable: Variable }) {
  return (
    <>
      {value !== undefined && <pre class="branches-value">{value}</pre>}
      <span class="quiet">{variableText(variable)}</span>
    </>
  );
}

function Only({ title, variables }: { title: string; variables: Variable[] }) {
  if (variables.length === 0) return null;
  return (
    <div>
      <h4 class="quiet">{title}</h4>
      <ul class="branches-only">
        {variables.map((variable) => (
          <li key={variable.name}>
            <code>{variable.name}</code> <span class="quiet">{variableText(variable)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
