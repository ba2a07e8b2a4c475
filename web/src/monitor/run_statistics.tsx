// SPDX-License-Identifier: Apache-2.0
// Statistics of the runs that the filter lets through: how many, how they ended, how long they took, day by day.
import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { RecordStats } from "../../../clients/typescript/src/api.js";
import { ask, messageOf, queryOf } from "../app/api.js";
import { caller } from "../app/caller.js";
import { Chart, type ChartOption } from "../parts/chart.js";
import { Empty, Failure } from "../parts/controls.js";
import { bytesText, durationText, numberText, plural, spaced } from "../parts/format.js";
import { filterQuery, isFiltered } from "./run_filter.js";
import { Tile } from "./tile.js";
import { interfaceText } from "./words.js";

interface Statistics {
  all: RecordStats;
  /** Runs of each day, by outcome. */
  days: string[];
  outcomes: Array<{ name: string; counts: number[] }>;
}

type Tally = RecordStats["by"]["day"][number];

/** So many outcomes have a colour of their own; the others share one. */
const MOST_OUTCOMES = 5;

async function load(): Promise<Statistics> {
  const query = filterQuery.peek();
  const stats = (more: Record<string, string>) => ask<RecordStats>("GET", "/v1/records/stats", { query: queryOf({ ...query, ...more }) });
  const all = await stats({});
  const named = all.by.outcome.slice(0, MOST_OUTCOMES).map((each) => each.name ?? "");
  const byDay = all.by.day.toSorted((a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1));
  const each = await Promise.all(named.map(async (outcome) => (named.length === 1 ? all : await stats({ outcome }))));
  const outcomes = each.map((part, at) => ({ name: named[at] ?? "", counts: byDay.map((day) => countOf(part, day.name)) }));
  const rest = byDay.map((day, at) => day.records - outcomes.reduce((sum, outcome) => sum + (outcome.counts[at] ?? 0), 0));
  if (rest.some((count) => count > 0)) outcomes.push({ name: "others", counts: rest });
  return { all, days: byDay.map((day) => day.name ?? ""), outcomes };
}

function countOf(stats: RecordStats, day: string | null): number {
  return stats.by.day.find((each) => each.name === day)?.records ?? 0;
}

export function RunStatistics() {
  const statistics = useSignal<Statistics | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const query = filterQuery.value;
  useEffect(() => {
    let gone = false;
    load().then(
      (loaded) => {
        if (gone) return;
        statistics.value = loaded;
        failure.value = undefined;
      },
      (error) => (failure.value = messageOf(error)),
    );
    return () => void (gone = true);
  }, [query]);
  const runs = useComputed(() => statistics.value && runsOption(statistics.value));
  const durations = useComputed(() => statistics.value && durationOption(statistics.value));
  if (caller.value?.keeps_records === false) return <p class="notice">This daemon keeps no records, so there is nothing to count.</p>;
  if (failure.value) return <Failure>{failure.value}</Failure>;
  const loaded = statistics.value;
  if (!loaded) return <p class="loading">Counting…</p>;
  if (loaded.all.records === 0) {
    return <Empty title={isFiltered.value ? "No run matches the filter." : "Nothing has run yet."}>Statistics appear with the first run.</Empty>;
  }
  return (
    <>
      <Tiles stats={loaded.all} />
      <div class="monitor-charts">
        <section class="card" aria-labelledby="runs-by-day">
          <h2 id="runs-by-day">Runs by day and outcome</h2>
          {runs.value && <Chart option={runs.value} height={260} label={runsLabel(loaded)} />}
        </section>
        <section class="card" aria-labelledby="time-by-day">
          <h2 id="time-by-day">Average duration by day</h2>
          {durations.value && <Chart option={durations.value} height={260} label={durationLabel(loaded.all)} />}
        </section>
      </div>
      <div class="monitor-cards">
        <TallyTable title="Outcomes" of={loaded.all.by.outcome} text={spaced} />
        <TallyTable title="Interfaces" of={loaded.all.by.front_end} text={interfaceText} />
        <TallyTable title="Tools" of={loaded.all.by.tool.filter((each) => each.name)} text={String} />
        <TallyTable title="Profiles" of={loaded.all.by.profile.filter((each) => each.name)} text={String} />
        <TallyTable title="Owners" of={loaded.all.by.owner} text={String} />
      </div>
    </>
  );
}

function Tiles({ stats }: { stats: RecordStats }) {
  const good = stats.by.outcome.find((each) => each.name === "ok")?.records ?? 0;
  const time = (ms: number | null) => (ms === null ? "–" : durationText(ms));
  return (
    <dl class="tiles">
      <Tile name="Runs" value={numberText(stats.records)} />
      <Tile name="Ended well" value={`${Math.round((100 * good) / stats.records)} %`} />
      <Tile name="Median duration" value={time(stats.wall_ms.p50)} />
      <Tile name="90 % within" value={time(stats.wall_ms.p90)} />
      <Tile name="99 % within" value={time(stats.wall_ms.p99)} />
      <Tile name="Longest" value={time(stats.wall_ms.max)} />
      <Tile name="Processor time" value={durationText(stats.cpu_ms_total)} />
      <Tile name="Highest memory" value={bytesText(stats.peak_memory_bytes)} />
    </dl>
  );
}

function TallyTable({ title, of, text }: { title: string; of: Tally[]; text: (name: string) => string }) {
  if (of.length === 0) return null;
  const most = Math.max(...of.map((each) => each.records));
  return (
    <section class="card" aria-label={title}>
      <table class="data tally">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col" class="number">
              Runs
            </th>
            <th scope="col" class="number">
              Average
            </th>
          </tr>
        </thead>
        <tbody>
          {of.slice(0, 12).map((each) => (
            <tr key={each.name}>
              <td>
                <span class="tally-bar" style={{ width: `${(100 * each.records) / most}%` }} />
                {each.name ? text(each.name) : "none"}
              </td>
              <td class="number">{numberText(each.records)}</td>
              <td class="number">{durationText(each.wall_ms / Math.max(1, each.records))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {of.length > 12 && <p class="quiet">and {plural(of.length - 12, "other")}</p>}
    </section>
  );
}

const outcomeColours: Record<string, string> = {
  ok: "good",
  error: "bad",
  timeout: "wait",
  cpu_limit: "code-number",
  memory_limit: "code-keyword",
  output_limit: "code-type",
  refused: "busy",
  approval_required: "code-name",
  crashed: "text",
  failed: "code-string",
};

const space = { left: 8, right: 12, top: 34, bottom: 4, containLabel: true };

function runsOption({ days, outcomes }: Statistics): ChartOption {
  return {
    grid: space,
    legend: { top: 0, left: 0, type: "scroll" },
    tooltip: { trigger: "axis" },
    xAxis: { type: "category", id: "Day", data: days },
    yAxis: { type: "value", minInterval: 1 },
    series: outcomes.map((outcome) => ({
      type: "bar",
      stack: "runs",
      name: spaced(outcome.name),
      barMaxWidth: 36,
      itemStyle: { color: `var(--${outcomeColours[outcome.name] ?? "strong-line"})` },
      data: outcome.counts,
    })),
  };
}

function durationOption({ all, days }: Statistics): ChartOption {
  const average = new Map(all.by.day.map((day) => [day.name ?? "", day.wall_ms / Math.max(1, day.records)]));
  return {
    grid: { ...space, top: 16 },
    tooltip: { trigger: "axis", valueFormatter: (value: unknown) => durationText(Number(value)) },
    xAxis: { type: "category", id: "Day", data: days },
    yAxis: { type: "value", axisLabel: { formatter: (value: number) => durationText(value).replace(".0", "") } },
    series: [{ type: "line", name: "Average in ms", symbolSize: 6, data: days.map((day) => Math.round(10 * (average.get(day) ?? 0)) / 10) }],
  };
}

function runsLabel({ all, days }: Statistics): string {
  return `${plural(all.records, "run")} on ${plural(days.length, "day")}: ${all.by.outcome.map((each) => `${each.records} ${each.name ?? "none"}`).join(", ")}.`;
}

function durationLabel(all: RecordStats): string {
  const { p50, max } = all.wall_ms;
  return p50 === null ? "No run had a sandbox." : `Half of the runs took at most ${durationText(p50)}, the longest ${durationText(max ?? 0)}.`;
}
