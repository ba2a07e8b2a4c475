// SPDX-License-Identifier: Apache-2.0
// Pictures, and figures that can be drawn again from their data.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Chart } from "../parts/chart.js";
import { toBase64 } from "../../../clients/typescript/src/base64.js";
import { chartLabel, chartOption } from "./chart_option.js";
import type { Bundle, FigureData } from "./outputs.js";
import "./output.css";

/** Those that browsers show, the sharpest first. */
export const PICTURE_MIMES = ["image/svg+xml", "image/png", "image/jpeg", "image/webp", "image/gif"];

/** The address of the picture in DATA: it contains the whole picture, and an SVG in <img> can neither run nor load anything. */
function pictureUrl(data: Bundle): string | undefined {
  for (const mime of PICTURE_MIMES) {
    const value = data[mime];
    if (typeof value !== "string") continue;
    return mime === "image/svg+xml"
      ? `data:${mime};base64,${toBase64(new TextEncoder().encode(value))}`
      : `data:${mime};base64,${value.replace(/[^\w+/=]/g, "")}`;
  }
  return undefined;
}

export function Picture({ data, label }: { data: Bundle; label?: string | undefined }) {
  const url = useMemo(() => pictureUrl(data), [data]);
  const text = data["text/plain"];
  return url ? <img class="output-picture" src={url} alt={label ?? (typeof text === "string" ? text.slice(0, 300) : "Picture")} /> : null;
}

/** The picture as it was drawn, or the same data drawn by the page. */
export function Figure({ data, chart }: { data: Bundle; chart: FigureData }) {
  const drawn = useSignal(false);
  const charts = useMemo(() => chart.charts.flatMap((each) => ({ option: chartOption(each), label: chartLabel(each) })), [chart]);
  const label = charts.map((each) => each.label).join("; ");
  if (!charts.every(({ option }) => option)) return <Picture data={data} label={label} />;
  return (
    <div class="output-figure">
      <div class="switch" role="group" aria-label="Show the figure as">
        <button type="button" aria-pressed={!drawn.value} onClick={() => (drawn.value = false)}>
          Picture
        </button>
        <button type="button" aria-pressed={drawn.value} onClick={() => (drawn.value = true)}>
          Chart
        </button>
      </div>
      {drawn.value ? (
        charts.map((each, at) => each.option && <Chart key={at} option={each.option} label={each.label} height={charts.length > 1 ? 280 : 360} />)
      ) : (
        <Picture data={data} label={label} />
      )}
    </div>
  );
}
