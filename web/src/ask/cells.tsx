// SPDX-License-Identifier: Apache-2.0
// A few rows of a table.

interface SmallTableProps {
  columns: Array<{ name: string; hint?: string | undefined; number: boolean }>;
  rows: unknown[][];
  label: string;
}

export function SmallTable({ columns, rows, label }: SmallTableProps) {
  return (
    <div class="table-scroll ask-table" tabIndex={0} role="group" aria-label={label}>
      <table class="data">
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={at} scope="col" class={column.number ? "number" : undefined}>
                {column.name}
                {column.hint && <small>{column.hint}</small>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((column, index) => (
                <td key={index} class={column.number ? "number" : undefined}>
                  {cellText(row[index])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "–";
  if (typeof cell === "number") return Number.isInteger(cell) ? String(cell) : String(Number(cell.toPrecision(8)));
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

/** Whether the values of a column stand on the right. */
export function isNumeric(dtype: string): boolean {
  return /^(u?int|float|Int|UInt|Float|complex)/.test(dtype);
}
