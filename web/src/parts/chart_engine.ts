// SPDX-License-Identifier: Apache-2.0
// ECharts with what the page draws. Loaded with the first chart.
import { BarChart, BoxplotChart, HeatmapChart, LineChart, PieChart, ScatterChart } from "echarts/charts";
import {
  DatasetComponent,
  DataZoomInsideComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TitleComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import { type ECharts, type EChartsCoreOption, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([
  BarChart,
  BoxplotChart,
  HeatmapChart,
  LineChart,
  PieChart,
  ScatterChart,
  DatasetComponent,
  DataZoomInsideComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TitleComponent,
  TooltipComponent,
  VisualMapComponent,
  CanvasRenderer,
]);

const REPLACED = ["series", "xAxis", "yAxis", "grid", "legend", "title", "dataset", "visualMap"];

/** A chart in HOST, which is empty. The caller ends it with `dispose`. */
export function begin(host: HTMLElement): ECharts {
  // The library empties its element by innerHTML, which Trusted Types refuse even for an empty text.
  Object.defineProperty(host, "innerHTML", { configurable: true, set: () => host.replaceChildren() });
  return init(host, themeNow(), { renderer: "canvas" });
}

/** Draws OPTION in CHART, with the colours of the page as they are now: "var(--bad)" is one of them. */
export function draw(chart: ECharts, option: EChartsCoreOption): void {
  chart.setTheme(themeNow());
  // A tooltip made of HTML would be refused by the page's policy. Nothing moves by itself.
  const tooltip = { confine: true, ...(option["tooltip"] as object | undefined), renderMode: "richText" };
  chart.setOption(coloured({ animation: false, ...option, tooltip }), { replaceMerge: REPLACED });
}

/** OPTION with the values of the page's colours. Data stay as they are. */
function coloured<T>(option: T): T {
  if (typeof option === "string") return (option.startsWith("var(--") ? colourOf(option.slice(6, -1)) : option) as T;
  if (Array.isArray(option)) return option.map(coloured) as T;
  if (typeof option !== "object" || option === null || Object.getPrototypeOf(option) !== Object.prototype) return option;
  return Object.fromEntries(Object.entries(option).map(([name, value]) => [name, name === "data" ? value : coloured(value)])) as T;
}

function colourOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The page's colours, as the library wants them. */
function themeNow(): object {
  const [text, quiet, line] = [colourOf("text"), colourOf("quiet"), colourOf("line")];
  const axis = {
    axisLine: { lineStyle: { color: colourOf("strong-line") } },
    axisTick: { lineStyle: { color: colourOf("strong-line") } },
    axisLabel: { color: quiet },
    nameTextStyle: { color: quiet },
    splitLine: { lineStyle: { color: line } },
  };
  return {
    color: ["accent", "busy", "wait", "code-keyword", "bad", "code-type", "strong-line", "code-number"].map(colourOf),
    backgroundColor: "transparent",
    textStyle: { color: text, fontFamily: getComputedStyle(document.body).fontFamily },
    title: { textStyle: { color: text, fontSize: 14 }, subtextStyle: { color: quiet } },
    legend: { textStyle: { color: text }, pageTextStyle: { color: text }, pageIconColor: quiet },
    tooltip: { backgroundColor: colourOf("raised"), borderColor: line, textStyle: { color: text } },
    categoryAxis: axis,
    valueAxis: axis,
    logAxis: axis,
    timeAxis: axis,
  };
}
