// SPDX-License-Identifier: Apache-2.0
// How the daemon does: numbers, live charts of the last five minutes, its pools.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ask } from "../app/api.js";
import { hrefOf } from "../app/router.js";
import { Chart } from "../parts/chart.js";
import { Badge, Failure } from "../parts/controls.js";
import { bytesText, durationText, numberText, plural } from "../parts/format.js";
import { say, trying } from "../parts/toasts.js";
import { charts } from "./overview_charts.js";
import { Facts, Section } from "./section.js";
import { paused, type Pool, poolName, samples, type Status, status, statusFailure, watchStatus } from "./status.js";
import { Tile } from "./tile.js";

export function Overview() {
  useEffect(watchStatus, []);
  const now = status.value;
  if (!now) return statusFailure.value ? <Failure>{statusFailure.value}</Failure> : <p class="loading">Loading…</p>;
  return (
    <>
      {statusFailure.value && <Failure>{statusFailure.value}</Failure>}
      {now.config_changed && <Reload />}
      {now.program_replaced && <p class="notice" role="status">A newer program is installed. Restarting the daemon changes to it, and ends sessions.</p>}
      {now.engine.store.last_problem && <Failure>The store has a problem: {now.engine.store.last_problem}</Failure>}
      <Tiles now={now} />
      <div class="runs-bar">
        <h2>The last five minutes</h2>
        <button type="button" aria-pressed={paused.value} onClick={() => (paused.value = !paused.value)}>
          {paused.value ? "Go on" : "Pause"}
        </button>
      </div>
      <div class="monitor-charts">
        <Charts />
      </div>
      <Pools pools={now.engine.pools} />
      <Serving now={now} />
    </>
  );
}

function Tiles({ now }: { now: Status }) {
  const { engine } = now;
  const bytes = engine.memory.running_bytes + engine.memory.parked_bytes + engine.sessions.memory_bytes;
  return (
    <dl class="tiles">
      <Tile name="Running" value={numberText(engine.running)} />
      <Tile name="Waiting" value={numberText(engine.waiting)} />
      <Tile name="Runs so far" value={numberText(Object.values(engine.runs).reduce((sum, count) => sum + count, 0))} />
      <Tile name="Ready" value={numberText(engine.pools.reduce((sum, pool) => sum + pool.parked, 0))} />
      <Tile name="Sessions" value={numberText(engine.sessions.live)} />
      <Tile name="Approvals" value={numberText(engine.approvals.waiting)} />
      <Tile name="Memory" value={bytesText(bytes)} />
      <Tile name="Up for" value={upText(now.uptime_ms)} />
    </dl>
  );
}

/** Without seconds, which would only flicker. */
function upText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : durationText(minutes * 60_000);
}

function Charts() {
  const points = samples.value;
  const drawn = useMemo(() => charts.map((chart) => ({ ...chart, option: chart.option(points), text: chart.label(points) })), [points]);
  return (
    <>
      {drawn.map((chart) => (
        <section key={chart.title} class="card" aria-label={chart.title}>
          <h3>{chart.title}</h3>
          <Chart option={chart.option} label={chart.text} height={170} />
        </section>
      ))}
    </>
  );
}

function Pools({ pools }: { pools: Pool[] }) {
  return (
    <section class="monitor-section" aria-labelledby="pools">
      <h2 id="pools">Pools</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Table of pools">
        <table class="data">
          <thead>
            <tr>
              <th scope="col">Environment</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Zygotes
              </th>
              <th scope="col" class="number">
                Ready
              </th>
              <th scope="col" class="number">
                For sessions
              </th>
              <th scope="col" class="number">
                Being made
              </th>
              <th scope="col" class="number">
                Starts
              </th>
            </tr>
          </thead>
          <tbody>
            {pools.map((pool) => (
              <tr key={poolName(pool)}>
                <td>{poolName(pool)}</td>
                <td>
                  <PoolState pool={pool} />
                </td>
                <td class="number">{pool.zygotes}</td>
                <td class="number">{pool.parked}</td>
                <td class="number">{pool.for_sessions}</td>
                <td class="number">{pool.parking}</td>
                <td class="number">{pool.starts}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">A zygote is an interpreter with its packages loaded, from which sandboxes are forked. Environments that nobody has used yet have no pool.</p>
    </section>
  );
}

function PoolState({ pool }: { pool: Pool }) {
  if (pool.failure) return <span class="bad-text">{pool.failure}</span>;
  if (!pool.serving) return <Badge kind="wait">starting</Badge>;
  return <Badge kind="good">{pool.bare ? "serving, packages still loading" : "serving"}</Badge>;
}

function Serving({ now }: { now: Status }) {
  const { engine } = now;
  const rows: Array<[string, string]> = [
    ["Version", now.version],
    ["Process", String(now.pid)],
    ["Local socket", `${now.socket}, ${plural(now.connections, "connection")}`],
    ["HTTP", `${now.http.join(", ") || "not served"}, ${plural(now.http_connections, "connection")}`],
    ["Control groups", engine.cgroup ?? `none: ${engine.cgroup_reason ?? "unknown reason"}`],
    ["Processors", String(engine.cpus)],
    ["Memory for runs", bytesText(engine.memory.max_bytes)],
    ["Ends when unused", now.idle_exit_ms > 0 ? `after ${durationText(now.idle_exit_ms)}` : "never"],
  ];
  return (
    <Section title="This daemon">
      <Facts rows={rows} />
      <p class="row">
        <a href={hrefOf("runs")}>Runs</a>
        <a href={hrefOf("tools")}>Tools</a>
        <a href={hrefOf("tokens")}>Tokens</a>
      </p>
    </Section>
  );
}

interface Reloaded {
  applied: string[];
  restart: string[];
}

/** The configuration has changed since it was read. */
function Reload() {
  const busy = useSignal(false);
  const restart = useSignal<string[]>([]);
  const reload = async () => {
    busy.value = true;
    const done = await trying(() => ask<Reloaded>("POST", "/v1/daemon/reload", { body: {} }));
    busy.value = false;
    if (!done) return;
    restart.value = done.restart;
    say(done.applied.length > 0 ? `Applied: ${done.applied.join(", ")}.` : "The configuration has not changed.");
  };
  return (
    <div class="notice row" role="status">
      <span class="grow">
        {restart.value.length > 0
          ? `These settings need a restart of the daemon: ${restart.value.join(", ")}.`
          : "The configuration has changed since the daemon read it."}
      </span>
      <button type="button" disabled={busy.value} onClick={() => void reload()}>
        Read it again
      </button>
    </div>
  );
}
