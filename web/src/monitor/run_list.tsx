// SPDX-License-Identifier: Apache-2.0
// The list of runs, a page at a time. It follows what happens while it shows the newest runs and nobody is at its rows.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { caller, isAdmin } from "../app/caller.js";
import { type Shortcut, useKeys } from "../app/keys.js";
import { hrefOf } from "../app/router.js";
import { Empty, Failure, Outcome } from "../parts/controls.js";
import { bytesText, durationText, plural, timeText } from "../parts/format.js";
import { isFiltered, matchesRunning, runFilter } from "./run_filter.js";
import { before, ended, failure, loading, newer, newest, next, older, type RunRow, running, watchRuns, younger } from "./run_rows.js";
import { interfaceText } from "./words.js";

/** Further down than this somebody reads. */
const READING_PX = 200;

export function RunList() {
  const table = useRef<HTMLDivElement>(null);
  useEffect(() => watchRuns(() => scrollY > READING_PX || isAtRows(table.current)), []);
  const links = () => [...(table.current?.querySelectorAll<HTMLAnchorElement>("tbody a.runs-open") ?? [])];
  const move = (by: number) => {
    const all = links();
    const at = all.indexOf(document.activeElement as HTMLAnchorElement);
    all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]?.focus();
  };
  const keys = useMemo<Shortcut[]>(
    () => [
      { keys: "j", text: "Next run", group: "Runs", run: () => move(1) },
      { keys: "k", text: "Previous run", group: "Runs", run: () => move(-1) },
      { keys: "Enter", text: "Show the run", group: "Runs", run: () => false },
      { keys: "]", text: "Older runs", group: "Runs", run: () => void older() },
      { keys: "[", text: "Newer runs", group: "Runs", run: () => void younger() },
      { keys: "Escape", text: "Leave the list, which resumes live updates", group: "Runs", run: leave },
    ],
    [],
  );
  useKeys(keys);
  const filter = runFilter.value;
  const live = before.value.length > 0 ? [] : [...running.value.values()].filter((row) => matchesRunning(row, filter));
  const rows = [...live.sort((a, b) => (a.id < b.id ? 1 : -1)), ...(filter.outcome === "running" ? [] : ended.value)];
  const page = before.value.length + 1;
  return (
    <>
      <div class="runs-bar">
        <p class="quiet" role="status">
          {live.length > 0 ? `${plural(live.length, "run")} under way. ` : "Nothing runs now. "}
          {page > 1 && `Page ${page}. `}
        </p>
        <button type="button" class={newer.value ? undefined : "runs-hidden"} disabled={!newer.value} onClick={() => void newest()}>
          Show newer runs
        </button>
      </div>
      {failure.value && <Failure>{failure.value}</Failure>}
      {caller.value?.keeps_records === false && <p class="notice">This daemon keeps no records, so only runs under way are here. <code>[store] records</code> in its configuration changes that.</p>}
      <div class="table-scroll" ref={table} aria-busy={loading.value}>
        {rows.length > 0 ? <Rows rows={rows} /> : <NoRows />}
      </div>
      <nav class="row" aria-label="Pages">
        <button type="button" disabled={page === 1 || loading.value} onClick={() => void younger()}>
          Newer
        </button>
        <button type="button" disabled={!next.value || loading.value} onClick={() => void older()}>
          Older
        </button>
      </nav>
    </>
  );
}

/** Whether somebody walks along the rows, or is about to click at one. */
function isAtRows(table: HTMLElement | null): boolean {
  return Boolean(table?.contains(document.activeElement) || table?.matches(":hover"));
}

function leave(): boolean {
  const at = document.activeElement;
  if (!(at instanceof HTMLElement) || !at.closest("tbody")) return false;
  at.blur();
  return true;
}

function NoRows() {
  if (loading.value) return <p class="loading">Loading…</p>;
  if (isFiltered.value) return <Empty title="No run matches the filter." />;
  return (
    <Empty title="Nothing has run yet.">
      <p>Runs of all interfaces appear here as they happen: of the notebook, of agents over MCP and HTTP, and of</p>
      <pre class="command">adder run -c "print(6 * 7)"</pre>
    </Empty>
  );
}

function Rows({ rows }: { rows: RunRow[] }) {
  return (
    <table class="data runs-table">
      <caption class="hidden-text">Runs, the newest first</caption>
      <thead>
        <tr>
          <th scope="col">Outcome</th>
          <th scope="col" class="runs-code">
            Code
          </th>
          <th scope="col" class="runs-wide">
            Interface
          </th>
          {isAdmin.value && (
            <th scope="col" class="runs-wide">
              Owner
            </th>
          )}
          <th scope="col" class="number">
            Duration
          </th>
          <th scope="col" class="number runs-wide">
            Memory
          </th>
          <th scope="col" class="number">
            Started
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row }: { row: RunRow }) {
  return (
    <tr>
      <td>
        <Outcome outcome={row.outcome} />
      </td>
      <td class="runs-code">
        <a class="runs-open" href={hrefOf("runs", row.id)}>
          <code>{firstLine(row.code) || row.tool || (row.outcome === "running" ? "…" : "(no code)")}</code>
        </a>
        {row.cell !== null && <span class="quiet"> cell {row.cell}</span>}
      </td>
      <td class="runs-wide">{row.tool || interfaceText(row.frontEnd)}</td>
      {isAdmin.value && <td class="runs-wide runs-cut">{row.owner}</td>}
      <td class="number">{row.wallMs === null ? "" : durationText(row.wallMs)}</td>
      <td class="number runs-wide">{row.memoryBytes === null ? "" : bytesText(row.memoryBytes)}</td>
      <td class="number">
        <time dateTime={row.started}>{timeText(row.started)}</time>
      </td>
    </tr>
  );
}

/** The first line that says something. */
function firstLine(code: string): string {
  const lines = code.split("\n").map((line) => line.trim());
  const telling = lines.find((line) => line !== "" && !line.startsWith("#") && !/^(import|from) /.test(line));
  return (telling ?? lines.find((line) => line !== "") ?? "").slice(0, 160);
}
