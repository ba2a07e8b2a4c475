// SPDX-License-Identifier: Apache-2.0
// Notebooks as files: nbformat 4.5. What Adder knows beyond it is in the metadata of outputs.
import type { FigureData } from "../output/outputs.js";
import { newId, type CellType, type StoredCell, type StoredOutput } from "./cell.js";

type Json = Record<string, unknown>;

export interface ImportedNotebook {
  cells: StoredCell[];
  metadata: Json;
}

const LONGEST_FILE = 256 * 1024 * 1024; // characters
const MOST_CELLS = 10_000;
const MINE = "adder";

/** The text of an .ipynb file. */
export function toIpynb(cells: StoredCell[], metadata: Json): string {
  const notebook = {
    cells: cells.map(cellJson),
    metadata: { kernelspec: { display_name: "Python 3", language: "python", name: "python3" }, language_info: { name: "python" }, ...metadata },
    nbformat: 4,
    nbformat_minor: 5,
  };
  return JSON.stringify(notebook, null, 1) + "\n";
}

function cellJson(cell: StoredCell): Json {
  const common = { id: cell.id, metadata: cell.metadata ?? {}, source: linesOf(cell.source) };
  if (cell.type === "markdown") {
    const { raw, attachments } = cell.kept ?? {};
    return { cell_type: raw ? "raw" : "markdown", ...common, ...(attachments !== undefined && { attachments }) };
  }
  return { cell_type: "code", ...common, execution_count: cell.count, outputs: cell.outputs.map((output) => outputJson(output, cell.count)) };
}

function outputJson(output: StoredOutput, count: number | null): Json {
  if (output.kind === "stream") return { output_type: "stream", name: output.name, text: linesOf(output.text) };
  if (output.kind === "error") {
    const { type, message, traceback } = output.error;
    return { output_type: "error", ename: type, evalue: message, traceback: traceback ? traceback.split("\n") : [] };
  }
  const metadata = output.chart ? { [MINE]: { chart: output.chart } } : {};
  const data = bundleJson(output.data);
  return output.kind === "value"
    ? { output_type: "execute_result", execution_count: count, data, metadata }
    : { output_type: "display_data", data, metadata };
}

/** Anything but JSON is text; pictures stay in base64. */
function bundleJson(data: Json): Json {
  const entries = Object.entries(data).map(([mime, value]) => {
    if (isJson(mime)) return [mime, value];
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [mime, mime.startsWith("image/") && mime !== "image/svg+xml" ? text : linesOf(text)];
  });
  return Object.fromEntries(entries) as Json;
}

function isJson(mime: string): boolean {
  return /^application\/(.*\+)?json$/.test(mime);
}

/** Lines with their ends, as notebooks have them. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** What TEXT has; throws an Error of one sentence if it is no notebook. */
export function fromIpynb(text: string): ImportedNotebook {
  if (text.length > LONGEST_FILE) throw new Error("cannot import the notebook: it is longer than 256 MiB");
  let notebook: unknown;
  try {
    notebook = JSON.parse(text);
  } catch {
    throw new Error("cannot import the notebook: it is not JSON");
  }
  if (!isObject(notebook) || !Array.isArray(notebook["cells"])) throw new Error("cannot import the notebook: it has no cells");
  if (notebook["nbformat"] !== 4) throw new Error("cannot import the notebook: its format is not version 4. Save it with a current Jupyter first.");
  if (notebook["cells"].length > MOST_CELLS) throw new Error(`cannot import the notebook: it has more than ${MOST_CELLS} cells`);
  const ids = new Set<string>();
  const cells = notebook["cells"].filter(isObject).map((cell) => storedCell(cell, ids));
  return { cells, metadata: isObject(notebook["metadata"]) ? notebook["metadata"] : {} };
}

function storedCell(cell: Json, ids: Set<string>): StoredCell {
  const type: CellType = cell["cell_type"] === "code" ? "code" : "markdown";
  const outputs = type === "code" && Array.isArray(cell["outputs"]) ? cell["outputs"].filter(isObject).flatMap(storedOutput) : [];
  const count = typeof cell["execution_count"] === "number" ? cell["execution_count"] : null;
  const metadata = isObject(cell["metadata"]) ? cell["metadata"] : {};
  const kept = { ...(cell["cell_type"] === "raw" && { raw: true }), ...(isObject(cell["attachments"]) && { attachments: cell["attachments"] }) };
  return { id: idOf(cell["id"], ids), type, source: textOf(cell["source"]), count, outputs, run: null, metadata, kept };
}

/** The cell's own id if it is one, and the only one. */
function idOf(given: unknown, ids: Set<string>): string {
  const valid = typeof given === "string" && /^[\w-]{1,64}$/.test(given) && !ids.has(given);
  const id = valid ? (given as string) : newId();
  ids.add(id);
  return id;
}

function storedOutput(output: Json): StoredOutput[] {
  switch (output["output_type"]) {
    case "stream":
      return [{ kind: "stream", name: output["name"] === "stderr" ? "stderr" : "stdout", text: textOf(output["text"]), dropped: 0 }];
    case "display_data":
      return [{ kind: "display", data: bundleOf(output["data"]), chart: chartOf(output["metadata"]) }];
    case "execute_result":
      return [{ kind: "value", data: bundleOf(output["data"]), chart: chartOf(output["metadata"]) }];
    case "error":
      return [errorOf(output)];
    default:
      return [];
  }
}

function errorOf(output: Json): StoredOutput {
  const lines = Array.isArray(output["traceback"]) ? output["traceback"].map(String) : [];
  const error = { type: String(output["ename"] ?? ""), message: String(output["evalue"] ?? ""), line: null, hint: null };
  return { kind: "error", error: { ...error, traceback: lines.length > 0 ? lines.join("\n") : null } };
}

function bundleOf(data: unknown): Json {
  if (!isObject(data)) return {};
  return Object.fromEntries(Object.entries(data).map(([mime, value]) => [mime, isJson(mime) ? value : textOf(value)]));
}

function chartOf(metadata: unknown): FigureData | undefined {
  const mine = isObject(metadata) ? metadata[MINE] : undefined;
  const chart = isObject(mine) ? mine["chart"] : undefined;
  return isObject(chart) && Array.isArray(chart["charts"]) ? (chart as unknown as FigureData) : undefined;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join("");
  return typeof value === "string" ? value : "";
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
