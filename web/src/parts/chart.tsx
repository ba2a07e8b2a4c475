// SPDX-License-Identifier: Apache-2.0
// A chart with its text alternative and, on request, its numbers as a table. ECharts is loaded with the first one.
import type { ECharts, EChartsCoreOption } from "echarts/core";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isDark } from "../app/theme.js";
import "./chart.css";
import { tableOf } from "./chart_table.js";
import { Failure } from "./controls.js";

/** What ECharts calls an option. Colours come from the page's theme unless it names some; "var(--bad)" is one of the page's. */
export type ChartOption = EChartsCoreOption;

export interface ChartProps {
  option: ChartOption;
  /** What the chart shows, in one sentence: it is read in place of the picture. */
  label: string;
  /** In pixels, 220 by default. The place is kept from the beginning. */
  height?: number;
  /** false: no table of the numbers below. */
  table?: boolean;
}

export function Chart({ option, label, height = 220, table = true }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const engine = useRef<typeof import("./chart_engine.js")>(undefined);
  const chart = useRef<ECharts>(undefined);
  const latest = useRef(option);
  const ready = useSignal(0);
  const failed = useSignal(false);
  latest.current = option;

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    let gone = false;
    const observer = new ResizeObserver(() => chart.current?.resize());
    import("./chart_engine.js").then(
      (loaded) => {
        if (gone) return;
        engine.current = loaded;
        chart.current = loaded.begin(element);
        observer.observe(element);
        ready.value++;
      },
      () => (failed.value = true),
    );
    return () => {
      gone = true;
      observer.disconnect();
      chart.current?.dispose();
      chart.current = undefined;
    };
  }, []);

  const dark = isDark.value;
  useEffect(() => {
    if (chart.current) engine.current?.draw(chart.current, latest.current);
  }, [option, dark, ready.value]);

  return (
    <figure class="chart">
      {failed.value && <Failure>Charts could not be loaded. Reload the page to try again; the numbers are below.</Failure>}
      <div class="chart-host" ref={host} role="img" aria-label={label} style={{ height: `${height}px` }} />
      {table && <ChartTable option={option} label={label} />}
    </figure>
  );
}

/** The numbers of a chart, which are made only while they are shown. */
function ChartTable({ option, label }: { option: ChartOption; label: string }) {
  const open = useSignal(false);
  const numbers = open.value ? tableOf(option) : undefined;
  return (
    <details class="chart-numbers" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>As a table</summary>
      {numbers && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
          <table class="data">
            <thead>
              <tr>
                {numbers.columns.map((name, at) => (
                  <th key={at} scope="col" class={at > 0 ? "number" : undefined}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {numbers.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, column) => (
                    <td key={column} class={column > 0 ? "number" : undefined}>
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
