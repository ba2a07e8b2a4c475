// SPDX-License-Identifier: Apache-2.0
// A table of two sessions side by side, page by page. Cells that differ are marked.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { type Rows, variableRows } from "../output/rows.js";
import { cellText } from "../output/table_grid.js";
import { Failure } from "../parts/controls.js";
import { numberText, plural } from "../parts/format.js";

const PAGE_ROWS = 50;

interface TableCompareProps {
  name: string;
  a: string;
  b: string;
  textA: string;
  textB: string;
}

export function TableCompare({ name, a, b, textA, textB }: TableCompareProps) {
  const offset = useSignal(0);
  const pages = useSignal<[Rows, Rows] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const onlyDiffering = useSignal(false);
  const boxes = useRef<Array<HTMLDivElement | null>>([null, null]);
  useEffect(() => {
    let current = true;
    const query = { offset: offset.value, limit: PAGE_ROWS };
    Promise.all([variableRows(a, name)(query), variableRows(b, name)(query)]).then(
      (found) => current && (pages.value = found),
      (error) => current && (failure.value = messageOf(error)),
    );
    return () => {
      current = false;
    };
  }, [a, b, name, offset.value]);
  const both = pages.value;
  const total = both ? Math.max(both[0].total, both[1].total) : 0;
  const differing = both ? differingRows(both) : new Set<number>();
  /* Both show the same part. */
  const scroll = (event: Event) => {
    const from = event.currentTarget as HTMLDivElement;
    for (const box of boxes.current) {
      if (box && box !== from) box.scrollTo(from.scrollLeft, from.scrollTop);
    }
  };
  return (
    <div class="branches-tables">
      <div class="branches-table-head">
        <h4>
          <code>{name}</code>
        </h4>
        {both && <span class="quiet">{plural(differing.size, "row differs", "rows differ")} of these {Math.min(PAGE_ROWS, total)}</span>}
        {differing.size > 0 && (
          <label class="check-field">
            <input type="checkbox" checked={onlyDiffering.value} onChange={(event) => (onlyDiffering.value = event.currentTarget.checked)} />
            Only these
          </label>
        )}
      </div>
      {failure.value && <Failure>{failure.value}</Failure>}
      {!both && !failure.value && <p class="quiet">Loading rows…</p>}
      {both && (
        <div class="branches-pair">
          {both.map((page, side) => (
            <div key={side} class="branches-side">
              <p class="quiet">
                <b class="branches-letter" aria-hidden="true">{side === 0 ? "A" : "B"}</b> {side === 0 ? textA : textB}
              </p>
              <div
                class="table-scroll branches-rows"
                tabIndex={0}
                role="group"
                aria-label={`${name} in ${side === 0 ? "A" : "B"}`}
                ref={(box) => void (boxes.current[side] = box)}
                onScroll={scroll}
              >
                <ComparedTable page={page} other={both[1 - side] as Rows} rows={onlyDiffering.value ? differing : undefined} />
              </div>
            </div>
          ))}
        </div>
      )}
      {total > PAGE_ROWS && (
        <div class="row">
          <span class="quiet" role="status">
            Rows {numberText(offset.value + 1)}–{numberText(Math.min(offset.value + PAGE_ROWS, total))} of {numberText(total)}
          </span>
          <button type="button" disabled={offset.value === 0} onClick={() => (offset.value -= PAGE_ROWS)}>
            Previous
          </button>
          <button type="button" disabled={offset.value + PAGE_ROWS >= total} onClick={() => (offset.value += PAGE_ROWS)}>
            Next
          </button>
        </div>
      )}
    </div>
  );
}

/** What is at ROW in the column NAME, as text; undefined where there is nothing. */
function textAt(page: Rows, row: number, name: string): string | undefined {
  const column = page.columns.findIndex((each) => each.name === name);
  const values = page.rows[row];
  return column < 0 || !values ? undefined : JSON.stringify(values[column] ?? null);
}

function differingRows([a, b]: [Rows, Rows]): Set<number> {
  const names = [...new Set([...a.columns, ...b.columns].map((column) => column.name))];
  const rows = Array.from({ length: Math.max(a.rows.length, b.rows.length) }, (_, row) => row);
  return new Set(rows.filter((row) => names.some((name) => textAt(a, row, name) !== textAt(b, row, name))));
}

function ComparedTable({ page, other, rows }: { page: Rows; other: Rows; rows: Set<number> | undefined }) {
  return (
    <table class="data">
      <thead>
        <tr>
          <th scope="col">
            <span class="hidden-text">Index</span>
          </th>
          {page.columns.map(({ name }) => (
            <th key={name} scope="col" class={other.columns.some((each) => each.name === name) ? undefined : "differs"}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {page.rows.map((values, row) =>
          rows && !rows.has(row) ? null : (
            <tr key={row}>
              <th scope="row">{cellText(page.index[row])}</th>
              {page.columns.map(({ name }, column) => {
                const differs = textAt(other, row, name) !== textAt(page, row, name);
                return (
                  <td key={name} class={`${typeof values[column] === "number" ? "number" : ""}${differs ? " differs" : ""}`}>
                    {cellText(values[column]) || <span class="quiet">none</span>}
                    {differs && <span class="hidden-text"> (differs)</span>}
                  </td>
                );
              })}
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}
