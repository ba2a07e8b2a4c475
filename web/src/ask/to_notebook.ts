// SPDX-License-Identifier: Apache-2.0
// An answer's code as cells of a new session: the first loads the tables and has what the code of an analysis can use.
import { adder } from "../app/api.js";
import { go } from "../app/router.js";
import { schemasOf } from "./tables.js";
import type { AskedTable, Question, Schema } from "./types.js";

/** Makes a session with the question's tables and code, and shows it. Rejects where a cell fails. */
export async function openInNotebook(question: Question): Promise<void> {
  const { reply, tables } = question;
  if (!reply?.code) return;
  const session = await adder.sessions.new({});
  const files = tables.map(({ file_id, file }) => ({ file_id, name: file }));
  await session.run(setupCell(question.text, tables, reply.schema, reply.code), { files });
  await session.run(`${reply.code.trimEnd()}\nresult`);
  go("notebook", [session.info.session_id]);
}

/** The cell that loads TABLES as the analysis read them. */
function setupCell(question: string, tables: AskedTable[], schemas: Schema[], code: string): string {
  const asked = question.split("\n").map((line) => `# ${line}`).join("\n");
  const reads = tables.flatMap((table) => schemasOf(table, schemas).map((schema) => `dfs[${quoted(schema.name)}] = ${readCall(table, schema)}`));
  const helpers = helperCells.filter(([name]) => new RegExp(`\\b${name}[.(]`).test(code)).map(([, text]) => text);
  return [asked, "import numpy as np\nimport pandas as pd", "dfs = {}\n" + reads.join("\n") + "\ndf = next(iter(dfs.values()))", ...helpers].join("\n\n") + "\n";
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function readCall(table: AskedTable, schema: Schema): string {
  const file = quoted(table.file);
  const sheet = schema.name.slice(table.name.length + 1);
  const dates = schema.columns.filter((column) => /^datetime/.test(column.dtype)).map((column) => column.name);
  switch (schema.format) {
    case "excel":
      return `pd.read_excel(${file}${sheet ? `, sheet_name=${quoted(sheet)}` : ""})`;
    case "parquet":
      return `pd.read_parquet(${file})`;
    case "feather":
      return `pd.read_feather(${file})`;
    case "json":
      return `pd.read_json(${file})`;
    case "jsonl":
      return `pd.read_json(${file}, lines=True)`;
    case "sqlite":
      return `pd.read_sql('select * from "${sheet || table.name}"', __import__("sqlite3").connect(${file}))`;
    default:
      return `pd.read_csv(${[file, ...csvOptions(schema, dates)].join(", ")})`;
  }
}

function csvOptions(schema: Schema, dates: string[]): string[] {
  const names = schema.columns.map((column) => column.name);
  return [
    schema.delimiter && schema.delimiter !== "," && `sep=${quoted(schema.delimiter)}`,
    schema.encoding && !/^utf-?8$/i.test(schema.encoding) && `encoding=${quoted(schema.encoding)}`,
    schema.decimal && schema.decimal !== "." && `decimal=${quoted(schema.decimal)}`,
    schema.thousands && `thousands=${quoted(schema.thousands)}`,
    !schema.header && `header=None, names=${JSON.stringify(names)}`,
    dates.length > 0 && `parse_dates=${JSON.stringify(dates)}`,
    'on_bad_lines="skip"',
  ].filter((option): option is string => Boolean(option));
}

// What the code of an analysis has besides pandas (docs/analysis.md), in short.
const helperCells: Array<[string, string]> = [
  ["stats", "from scipy import stats"],
  [
    "col",
    `def col(frame, name):
    plain = lambda text: str(text).lower().replace(" ", "").replace("_", "")
    return frame[next(each for each in frame.columns if plain(each) == plain(name))]`,
  ],
  [
    "numbers",
    `def numbers(series):
    text = series.astype(str).str.replace(r"[^0-9.()eE+-]", "", regex=True)
    return pd.to_numeric(text.str.replace(r"^\\((.*)\\)$", r"-\\1", regex=True), errors="coerce")`,
  ],
  [
    "dates",
    `def dates(series, day_first=False):
    return pd.to_datetime(series, dayfirst=day_first, errors="coerce")`,
  ],
  [
    "change",
    `def change(series, by=None):
    previous = series.shift() if by is None else series.groupby(by).shift()
    return (series - previous) / previous.where(previous != 0)`,
  ],
  [
    "sql",
    `def sql(query):
    import duckdb
    with duckdb.connect() as base:
        for name, frame in {**dfs, "df": df}.items():
            base.register(name, frame)
        return base.sql(query).df()`,
  ],
  ...["month", "quarter", "year"].map((period): [string, string] => [
    `by_${period}`,
    `def by_${period}(frame, column):
    return pd.to_datetime(frame[column], errors="coerce").dt.to_period("${period.charAt(0).toUpperCase()}").rename(${JSON.stringify(period)})`,
  ]),
];
