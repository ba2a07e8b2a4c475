// SPDX-License-Identifier: Apache-2.0
// The data of a figure of matplotlib as an option of ECharts.
import type { ChartOption } from "../parts/chart.js";
import type { ChartData, ChartSeries } from "./outputs.js";

type Item = Record<string, unknown>;

/** undefined: a kind that this page does not draw. */
export function chartOption(chart: ChartData): ChartOption | undefined {
  const make = makers[chart.kind];
  return make && { ...common(chart), ...make(chart) };
}

/** What a chart shows, in one sentence. */
export function chartLabel(chart: ChartData): string {
  const names = chart.series.map((series) => series.label).filter((label) => label);
  const of = names.length > 0 ? ` of ${names.join(", ")}` : "";
  const axes = [chart.y_label, chart.x_label].filter((label) => label).join(" by ");
  return `${kindTexts[chart.kind] ?? "Chart"}${of}${chart.title ? `: ${chart.title}` : ""}${axes ? ` (${axes})` : ""}`;
}

const kindTexts: Record<string, string> = { line: "Line chart", scatter: "Scatter plot", bar: "Bar chart", pie: "Pie chart", box: "Box plot" };

const makers: Record<string, (chart: ChartData) => ChartOption> = {
  line: (chart) => pointChart(chart, "line"),
  scatter: (chart) => pointChart(chart, "scatter"),
  bar: barChart,
  pie: pieChart,
  box: boxChart,
};

function common(chart: ChartData): ChartOption {
  const named = chart.series.length > 1 || Boolean(chart.series[0]?.label);
  return {
    ...(chart.title && { title: { text: chart.title, left: "center" } }),
    ...(named && { legend: { type: "scroll", bottom: 0 } }),
    tooltip: { trigger: chart.kind === "line" ? "axis" : "item" },
    grid: { left: 12, right: 16, top: chart.title ? 40 : 20, bottom: named ? 36 : 8, outerBoundsMode: "same", outerBoundsContain: "all" },
  };
}

function nameOf(series: ChartSeries, at: number): string {
  return series.label ?? `Series ${at + 1}`;
}

function axisName(name: string | null, gap: number): Item {
  return name ? { name, nameLocation: "middle", nameGap: gap, nameTruncate: { maxWidth: 300 } } : {};
}

function pointChart(chart: ChartData, type: "line" | "scatter"): ChartOption {
  const words = chart.x_ticks;
  const isWords = chart.series.some((series) => series.x?.some((x) => typeof x === "string"));
  const isTime = isWords && chart.series.every((series) => series.x?.every((x) => x === null || isDate(x)));
  const axisType = isTime ? "time" : isWords ? "category" : "value";
  const label = words && axisType === "value" ? { axisLabel: { formatter: (at: number) => words[at] ?? "" }, interval: 1 } : {};
  return {
    xAxis: { type: axisType, scale: true, ...axisName(chart.x_label, 28), ...label },
    yAxis: { type: "value", scale: true, ...axisName(chart.y_label, 48) },
    dataZoom: [{ type: "inside", zoomOnMouseWheel: "ctrl" }],
    series: chart.series.map((series, at) => ({
      type,
      name: nameOf(series, at),
      showSymbol: (series.x?.length ?? 0) < 40,
      symbolSize: type === "scatter" ? 7 : 5,
      data: (series.x ?? []).map((x, point) => [x, series.y?.[point] ?? null]),
    })),
  };
}

function isDate(value: unknown): boolean {
  return typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value));
}

function barChart(chart: ChartData): ChartOption {
  const names = [...new Set(chart.series.flatMap((series) => series.categories ?? []))];
  const words = names.map((name, at) => String(chart.x_ticks?.length === names.length ? chart.x_ticks[at] : name));
  const lying = chart.series[0]?.orientation === "horizontal";
  const category = { type: "category", data: words };
  const value = { type: "value" };
  return {
    xAxis: { ...(lying ? value : category), ...axisName(chart.x_label, 28) },
    yAxis: { ...(lying ? category : value), ...axisName(chart.y_label, 48) },
    series: chart.series.map((series, at) => {
      const values = new Map((series.categories ?? []).map((name, index) => [name, series.values?.[index] ?? null]));
      return { type: "bar", name: nameOf(series, at), data: names.map((name) => values.get(name) ?? null) };
    }),
  };
}

function pieChart(chart: ChartData): ChartOption {
  return {
    series: chart.series.map((series) => ({
      type: "pie",
      radius: "62%",
      data: (series.labels ?? []).map((name, at) => ({ name: String(name ?? at + 1), value: series.values?.[at] ?? null })),
    })),
  };
}

function boxChart(chart: ChartData): ChartOption {
  const labels = chart.series.flatMap((series) => series.labels ?? []).map((label, at) => String(label ?? at + 1));
  return {
    xAxis: { type: "category", data: labels, ...axisName(chart.x_label, 28) },
    yAxis: { type: "value", scale: true, ...axisName(chart.y_label, 48) },
    series: chart.series.map((series, at) => ({
      type: "boxplot",
      name: nameOf(series, at),
      data: (series.boxes ?? []).map((box) => [box.low, box.q1, box.median, box.q3, box.high]),
    })),
  };
}
