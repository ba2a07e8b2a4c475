// SPDX-License-Identifier: Apache-2.0
// What a result shows, in order: printed text, displays, the value, the error. Stored tables and chart data are found for each display.
import type { MadeFile, ResultData, RunError } from "adder-client";

/** One thing in several forms, by MIME type. */
export type Bundle = Record<string, unknown>;

/** One axes of a figure as docs/results.md describes `charts`. */
export interface ChartData {
  kind: string;
  title: string | null;
  x_label: string | null;
  y_label: string | null;
  x_ticks: string[] | null;
  series: ChartSeries[];
  series_left_out?: number;
}

export interface ChartSeries {
  label: string | null;
  points?: number;
  x?: unknown[];
  y?: unknown[];
  categories?: unknown[];
  values?: unknown[];
  labels?: unknown[];
  orientation?: string;
  boxes?: Array<Record<"low" | "q1" | "median" | "q3" | "high", number | null>>;
}

export interface FigureData {
  title: string | null;
  charts: ChartData[];
}

export interface StreamOutput {
  kind: "stream";
  name: "stdout" | "stderr";
  text: string;
}

export interface DisplayOutput {
  kind: "display" | "value";
  data: Bundle;
  displayId?: string | null;
  /** The data of a figure. */
  chart?: FigureData | undefined;
  /** The number of the stored table, from 1. */
  table?: number | undefined;
}

export interface ErrorOutput {
  kind: "error";
  error: RunError;
}

export type Output = StreamOutput | DisplayOutput | ErrorOutput;

export const TABLE_MIME = "application/vnd.adder.table+json";

/** All that a finished RESULT shows. */
export function outputsOf(result: ResultData): Output[] {
  const outputs: Output[] = [];
  if (result.stdout) outputs.push({ kind: "stream", name: "stdout", text: result.stdout });
  if (result.stderr) outputs.push({ kind: "stream", name: "stderr", text: result.stderr });
  for (const data of result.displays) outputs.push({ kind: "display", data });
  if (result.value) outputs.push({ kind: "value", data: result.value });
  if (result.error) outputs.push({ kind: "error", error: result.error });
  return annotated(outputs, result);
}

/** OUTPUTS with the chart data and the numbers of stored tables that RESULT has for them. */
export function annotated(outputs: Output[], result: ResultData): Output[] {
  const charts = [...(result.charts as unknown as FigureData[])];
  const stored = storedTables(result.files);
  let tables = 0;
  return outputs.map((output) => {
    if (output.kind !== "display" && output.kind !== "value") return output;
    const chart = isFigure(output.data) ? charts.shift() : undefined;
    const number = TABLE_MIME in output.data ? ++tables : 0;
    const table = stored.has(number) ? number : undefined;
    return { ...output, chart: chart?.charts.length ? chart : undefined, table };
  });
}

function isFigure(data: Bundle): boolean {
  return "image/png" in data && String(data["text/plain"]).startsWith("<Figure ");
}

function storedTables(files: MadeFile[]): Set<number> {
  const numbers = new Set<number>();
  for (const { name, file_id } of files) {
    const number = /^tmp\/output\/table-(\d+)(?:-\d+)?\.(?:csv|parquet|json)$/.exec(name)?.[1];
    if (number && file_id) numbers.add(Number(number));
  }
  return numbers;
}
