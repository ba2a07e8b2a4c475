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

/** Draws OPTION in CHART, with the colours of the page as they are now. */
export function draw(chart: ECharts, option: EChartsCoreOption): void {
  chart.setTheme(themeNow());
  // A tooltip made of HTML would be refused by the page's policy. Nothing moves by itself.
  const tooltip = { confine: true, ...(option["tooltip"] as object | undefined), renderMode: "richText" };
  chart.setOption({ animation: false, ...option, tooltip }, { replaceMerge: REPLACED });
}

/** The page's colours, as the library wants them. */
function themeNow(): object {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const [text, quiet, line] = [colour("text"), colour("quiet"), colour("line")];
  const axis = {
    axisLine: { lineStyle: { color: colour("strong-line") } },
    axisTick: { lineStyle: { color: colour("strong-line") } },
    axisLabel: { color: quiet },
    nameTextStyle: { color: quiet },
    splitLine: { lineStyle: { color: line } },
  };
  return {
    color: ["accent", "busy", "wait", "code-keyword", "bad", "code-type", "strong-line", "code-number"].map(colour),
    backgroundColor: "transparent",
    textStyle: { color: text, fontFamily: getComputedStyle(document.body).fontFamily },
    title: { textStyle: { color: text, fontSize: 14 }, subtextStyle: { color: quiet } },
    legend: { textStyle: { color: text }, pageTextStyle: { color: text }, pageIconColor: quiet },
    tooltip: { backgroundColor: colour("raised"), borderColor: line, textStyle: { color: text } },
    categoryAxis: axis,
    valueAxis: axis,
    logAxis: axis,
    timeAxis: axis,
  };
}
