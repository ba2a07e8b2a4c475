// SPDX-License-Identifier: Apache-2.0
// A table that is read page by page, sorted by a click on a column and filtered by a text.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { resyncs } from "../app/feed.js";
import { Failure } from "../parts/controls.js";
import { numberText, plural } from "../parts/format.js";
import type { RowQuery, Rows, RowSource } from "./rows.js";
import "./output.css";

const PAGE_ROWS = 100;
const TYPING_MS = 250;

interface TableGridProps {
  source: RowSource;
  /** What it shows, for screen readers. */
  label?: string;
  pageRows?: number;
  /** Other numbers of rows that a page may have. */
  pageChoices?: number[];
  /** Whether the rows have labels of their own. */
  indexed?: boolean;
  /** What is above it, beside the filter. */
  title?: ComponentChildren;
}

export function TableGrid({ source, label = "Table", pageRows = PAGE_ROWS, pageChoices = [], indexed = true, title }: TableGridProps) {
  const query = useSignal<RowQuery>({ offset: 0, limit: pageRows });
  const rows = useSignal<Rows | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const busy = useSignal(true);
  const asked = query.value;
  useEffect(() => {
    let current = true;
    busy.value = true;
    source(asked).then(
      (answer) => {
        if (!current) return;
        rows.value = answer;
        failure.value = undefined;
        busy.value = false;
      },
      (error) => {
        if (!current) return;
        failure.value = messageOf(error);
        busy.value = false;
      },
    );
    return () => {
      current = false;
    };
  }, [source, asked]);
  const resynced = resyncs.value;
  useEffect(() => {
    if (failure.peek()) query.value = { ...query.peek() };
  }, [resynced]);
  const change = (part: Partial<RowQuery>) => (query.value = { ...query.peek(), offset: 0, ...part });
  const page = rows.value;
  const needsTools = Boolean(asked.filter) || (page?.total ?? 0) > 5;
  return (
    <div class="grid" aria-busy={busy.value}>
      {(title || needsTools) && (
        <div class="grid-head">
          <span class="grow quiet">{title}</span>
          {needsTools && <Filter onFilter={(filter) => change({ filter: filter || undefined })} />}
        </div>
      )}
      {failure.value && <Failure>{failure.value}</Failure>}
      {page && <GridTable page={page} query={asked} label={label} indexed={indexed} onSort={(sort, descending) => change({ sort, descending })} />}
      {!page && !failure.value && <p class="quiet">Loading rows…</p>}
      {page && <Pager page={page} query={asked} choices={[pageRows, ...pageChoices]} onChange={(part) => (query.value = { ...query.peek(), ...part })} />}
    </div>
  );
}

function Filter({ onFilter }: { onFilter: (text: string) => void }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = useId();
  const type = (event: Event) => {
    const text = (event.currentTarget as HTMLInputElement).value;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onFilter(text), TYPING_MS);
  };
  return (
    <>
      <label class="hidden-text" for={id}>
        Filter rows
      </label>
      <input class="grid-filter" id={id} type="search" placeholder="Filter rows" maxLength={200} onInput={type} />
    </>
  );
}

interface GridTableProps {
  page: Rows;
  query: RowQuery;
  label: string;
  indexed: boolean;
  onSort: (sort: string | undefined, descending: boolean | undefined) => void;
}

/** Ascending, descending, as it was. */
function GridTable({ page, query, label, indexed, onSort }: GridTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => scroller.current?.scrollTo({ top: 0 }), [page]);
  const numeric = page.columns.map(({ type }) => /int|float|decimal|double|number|complex/i.test(type));
  const next = (name: string): [string | undefined, boolean | undefined] => {
    if (query.sort !== name) return [name, undefined];
    return query.descending ? [undefined, undefined] : [name, true];
  };
  return (
    <div ref={scroller} class="table-scroll grid-scroll" tabIndex={0} role="group" aria-label={label}>
      <table class="data grid-table" aria-label={label}>
        <thead>
          <tr>
            {indexed && (
              <th scope="col" class="grid-index">
                <span class="hidden-text">Index</span>
              </th>
            )}
            {page.columns.map(({ name, type }, at) => {
              const sorted = query.sort === name;
              return (
                <th
                  key={at}
                  scope="col"
                  class={numeric[at] ? "number" : undefined}
                  aria-sort={sorted ? (query.descending ? "descending" : "ascending") : undefined}
                >
                  <button type="button" class="grid-sort" title={`${name}: ${type}. Sort`} onClick={() => onSort(...next(name))}>
                    <span>{name}</span>
                    <span aria-hidden="true" class="grid-arrow">
                      {sorted ? (query.descending ? "↓" : "↑") : ""}
                    </span>
                    <small>{type}</small>
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {page.rows.map((row, at) => (
            <tr key={page.offset + at}>
              {indexed && (
                <th scope="row" class="grid-index">
                  {cellText(page.index[at])}
                </th>
              )}
              {row.map((value, column) => (
                <td key={column} class={numeric[column] ? "number" : value === null ? "grid-null" : undefined} title={hint(value)}>
                  {cellText(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {page.rows.length === 0 && <p class="grid-none">{query.filter ? "No row contains this text." : "The table has no rows."}</p>}
    </div>
  );
}

interface PagerProps {
  page: Rows;
  query: RowQuery;
  /** How many rows a page may have; the smallest comes first. */
  choices: number[];
  onChange: (part: Partial<RowQuery>) => void;
}

function Pager({ page, query, choices, onChange }: PagerProps) {
  const { offset, matching, total, rows, columns_left_out: hidden = 0 } = page;
  const onOffset = (to: number) => onChange({ offset: to });
  const text =
    matching === 0
      ? `${total > 0 ? "0 of " : ""}${plural(total, "row")}`
      : `${numberText(offset + 1)}–${numberText(offset + rows.length)} of ${plural(matching, "row")}${matching < total ? `, of ${numberText(total)} in all` : ""}`;
  const end = Math.floor(Math.max(matching - 1, 0) / query.limit) * query.limit;
  return (
    <div class="grid-foot">
      <span class="quiet" role="status">
        {text}
        {hidden > 0 && `, ${plural(hidden, "more column")}`}
      </span>
      {choices.length > 1 && matching > (choices[0] ?? 0) && (
        <select aria-label="Rows of a page" value={query.limit} onChange={(event) => onChange({ offset: 0, limit: Number(event.currentTarget.value) })}>
          {choices.map((rows) => (
            <option key={rows} value={rows}>
              {plural(rows, "row")} a page
            </option>
          ))}
        </select>
      )}
      {matching > query.limit && (
        <span class="grid-pages">
          <button type="button" disabled={offset === 0} onClick={() => onOffset(0)}>
            First
          </button>
          <button type="button" disabled={offset === 0} onClick={() => onOffset(Math.max(offset - query.limit, 0))}>
            Previous
          </button>
          <button type="button" disabled={offset >= end} onClick={() => onOffset(offset + query.limit)}>
            Next
          </button>
          <button type="button" disabled={offset >= end} onClick={() => onOffset(end)}>
            Last
          </button>
        </span>
      )}
    </div>
  );
}

const DIGITS = 8;
const LONG_TEXT = 40; // characters, which may be more than the column shows

/** VALUE as a cell has it: numbers with at most eight digits. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(DIGITS)));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The whole value, where the cell may have less. */
function hint(value: unknown): string | undefined {
  const isLong = typeof value === "string" && value.length > LONG_TEXT;
  return isLong || (typeof value === "number" && !Number.isInteger(value)) ? String(value) : undefined;
}
