// SPDX-License-Identifier: Apache-2.0
// Tables of a conversation: their names in the code, and what is in them.
import { adder } from "../app/api.js";
import type { AskedTable, ReadingOptions, Schema } from "./types.js";

/** What the browser's chooser offers. The daemon goes by the content. */
export const ACCEPT = ".csv,.tsv,.txt,.xlsx,.xls,.ods,.parquet,.feather,.json,.jsonl,.ndjson,.sqlite,.sqlite3,.db,.gz,.zst";
export const MOST_TABLES = 16;
const NAME_BYTES = 64;

/** "data/Sales 2026.csv.gz" -> "Sales 2026", and another one where a table has that name. */
export function tableName(file: string, taken: string[]): string {
  const base = (file.split("/").pop() ?? file).replace(/[\p{Cc}\p{Cf}]/gu, "").replace(/(\.[A-Za-z]\w{0,8}){1,2}$/, "") || "table";
  let name = base;
  for (let number = 2; taken.includes(name); number++) name = `${base}_${number}`;
  while (new TextEncoder().encode(name).length > NAME_BYTES) name = [...name].slice(0, -1).join("");
  return name;
}

/** Those of SCHEMAS that TABLE has: a workbook or a database may have several, each with a name of its own. */
export function schemasOf({ name }: AskedTable, schemas: Schema[]): Schema[] {
  return schemas.filter((schema) => schema.name === name || schema.name.startsWith(`${name}.`));
}

/** The arguments that name TABLES to each tool of the analyst. */
export function tableArguments(tables: AskedTable[], options: ReadingOptions): Record<string, unknown> {
  const files = tables.map(({ file_id, name }) => ({ file_id, name }));
  return Object.keys(options).length > 0 ? { files, options } : { files };
}

/** Looks at TABLES. Rejects with the tool's sentence. */
export async function scan(tables: AskedTable[], options: ReadingOptions, signal?: AbortSignal): Promise<Schema[]> {
  const { reply } = await adder.tools.call("scan_csv", tableArguments(tables, options), { toolset: "analyst", signal });
  if (typeof reply["error"] === "string") throw new Error(reply["error"]);
  return reply["schema"] as Schema[];
}
