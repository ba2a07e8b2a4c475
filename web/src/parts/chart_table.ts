// SPDX-License-Identifier: Apache-2.0
// The numbers of an ECharts option as a table: one row for each place on the axis, one column for each series. The first column is
// called as the axis is, by its name or else its id.
import type { EChartsCoreOption } from "echarts/core";

export interface ChartNumbers {
  columns: string[];
  rows: string[][];
}

interface Series {
  name?: string;
  data?: unknown[];
}

const MOST_ROWS = 1000;

/** At most 1000 rows. Series whose data are elsewhere (`dataset`) give none. */
export function tableOf(option: EChartsCoreOption): ChartNumbers {
  const series = listOf<Series>(option["series"]);
  const [axis] = listOf<{ name?: string; id?: string; type?: string; data?: unknown[] }>(option["xAxis"]);
  const [across] = listOf<{ data?: unknown[] }>(option["yAxis"]);
  const categories = axis?.data ?? across?.data;
  const rows = new Map<string, string[]>();
  series.forEach((each, column) => {
    each.data?.forEach((item, at) => {
      const [place, value] = pointOf(item, at, categories);
      const key = axis?.type === "time" ? new Date(Number(place)).toLocaleTimeString([], { hour12: false }) : String(place);
      const row = rows.get(key) ?? (rows.size < MOST_ROWS ? [key, ...series.map(() => "")] : undefined);
      if (!row) return;
      row[column + 1] = textOf(value);
      rows.set(key, row);
    });
  });
  const named = series.map((each, at) => each.name ?? (series.length === 1 ? "Value" : `Series ${at + 1}`));
  return { columns: [axis?.name ?? axis?.id ?? "", ...named], rows: [...rows.values()] };
}

function pointOf(item: unknown, at: number, categories: unknown[] | undefined): [unknown, unknown] {
  const value = isObject(item) ? item["value"] : item;
  if (isObject(item) && typeof item["name"] === "string") return [item["name"], value];
  if (categories) return [categories[at] ?? at, value];
  return Array.isArray(value) && value.length === 2 ? [value[0], value[1]] : [at, value];
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === "-") return "";
  if (typeof value === "number") return value.toLocaleString(undefined, { maximumFractionDigits: 3 });
  return Array.isArray(value) ? value.map(textOf).join(", ") : String(value);
}

function listOf<T>(value: unknown): T[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]) as T[];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
