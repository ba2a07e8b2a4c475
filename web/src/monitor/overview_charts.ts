// SPDX-License-Identifier: Apache-2.0
// The live charts of the overview: which numbers of the samples each shows.
import type { ChartOption } from "../parts/chart.js";
import { bytesText } from "../parts/format.js";
import { type Sample, SPAN_MS } from "./status.js";

interface Line {
  name: string;
  of: (sample: Sample) => number | null;
}

interface LiveChart {
  title: string;
  option: (samples: Sample[]) => ChartOption;
  label: (samples: Sample[]) => string;
}

const plain = (value: number) => value.toLocaleString(undefined, { maximumFractionDigits: 1 });

export const charts: LiveChart[] = [
  liveChart("Runs per second", () => [{ name: "Runs per second", of: (sample) => sample.rate }], plain),
  liveChart("Running and waiting", () => [
    { name: "running", of: (sample) => sample.running },
    { name: "waiting", of: (sample) => sample.waiting },
  ], plain),
  liveChart("Sandboxes ready, by pool", poolLines, plain),
  liveChart("Memory", () => [
    { name: "set aside for runs", of: (sample) => sample.runningBytes },
    { name: "ready sandboxes", of: (sample) => sample.parkedBytes },
    { name: "sessions", of: (sample) => sample.sessionBytes },
  ], bytesText),
];

function poolLines(samples: Sample[]): Line[] {
  const names = [...new Set(samples.flatMap((sample) => Object.keys(sample.parked)))].sort();
  return names.map((name) => ({ name, of: (sample) => sample.parked[name] ?? 0 }));
}

function liveChart(title: string, lines: (samples: Sample[]) => Line[], text: (value: number) => string): LiveChart {
  return {
    title,
    option: (samples) => optionOf(samples, lines(samples), text),
    label: (samples) => labelOf(title, samples.at(-1), lines(samples), text),
  };
}

function labelOf(title: string, last: Sample | undefined, lines: Line[], text: (value: number) => string): string {
  const now = lines.map((line) => [line.name, last ? line.of(last) : null] as const).filter(([, value]) => value !== null);
  return `${title} over the last five minutes. Now ${now.map(([name, value]) => `${name}: ${text(value ?? 0)}`).join(", ") || "nothing is known"}.`;
}

function optionOf(samples: Sample[], lines: Line[], text: (value: number) => string): ChartOption {
  const end = samples.at(-1)?.time ?? Date.now();
  const ago = (sample: Sample) => Math.round((end - sample.time) / 1000);
  return {
    grid: { left: 8, right: 14, top: lines.length > 1 ? 30 : 10, bottom: 4, containLabel: true },
    ...(lines.length > 1 && { legend: { top: 0, left: 0, type: "scroll", icon: "roundRect", itemWidth: 14, itemHeight: 4 } }),
    tooltip: { trigger: "axis", valueFormatter: (value: unknown) => (value === null || value === undefined ? "–" : text(Number(value))) },
    xAxis: {
      id: "Seconds ago",
      type: "value",
      inverse: true,
      min: 0,
      max: SPAN_MS / 1000,
      interval: 60,
      splitLine: { show: false },
      axisLabel: { formatter: (seconds: number) => (seconds === 0 ? "now" : `${seconds / 60} min ago`), hideOverlap: true },
    },
    yAxis: { position: "left", axisLine: { show: false }, axisTick: { show: false }, type: "value", min: 0, minInterval: 1, splitNumber: 3, axisLabel: { formatter: text }, ...roundBytes(samples, lines, text) },
    series: lines.map((line) => ({
      type: "line",
      name: line.name,
      showSymbol: samples.length < 3,
      symbolSize: 4,
      lineStyle: { width: 1.8 },
      areaStyle: lines.length === 1 ? { opacity: 0.12 } : undefined,
      data: samples.map((sample) => [ago(sample), line.of(sample)]),
    })),
  };
}

/** Bytes are halved and doubled: an axis of them ends at a power of two. */
function roundBytes(samples: Sample[], lines: Line[], text: (value: number) => string): object {
  if (text !== bytesText) return {};
  const most = Math.max(2 ** 20, ...samples.flatMap((sample) => lines.map((line) => line.of(sample) ?? 0)));
  const max = 2 ** Math.ceil(Math.log2(most));
  return { max, interval: max / 4 };
}
