// SPDX-License-Identifier: Apache-2.0
// The runs: a list, statistics, and everything about one.
import { useMemo } from "preact/hooks";
import { type Shortcut, useKeys } from "../app/keys.js";
import { go, hrefOf } from "../app/router.js";
import type { ViewProps } from "../app/views.js";
import "./monitor.css";
import { RunFilters } from "./run_filters.js";
import { RunList } from "./run_list.js";
import { RunStatistics } from "./run_statistics.js";
import { RunView } from "./run_view.js";

/** In place of an id. */
const STATISTICS = "statistics";

export function View({ path }: ViewProps) {
  const run = path[0];
  if (run && run !== STATISTICS) return <RunView key={run} id={run} />;
  return <Runs statistics={run === STATISTICS} />;
}

function Runs({ statistics }: { statistics: boolean }) {
  const keys = useMemo<Shortcut[]>(
    () => [
      { keys: "s", text: "Between the list and the statistics", group: "Runs", run: () => go("runs", statistics ? [] : [STATISTICS]) },
      { keys: "/", text: "Search in the code", group: "Runs", run: () => document.getElementById("runs-code")?.focus() },
    ],
    [statistics],
  );
  useKeys(keys);
  return (
    <>
      <div class="view-head">
        <h1>Runs</h1>
        <nav class="monitor-tabs" aria-label="Runs as">
          <a href={hrefOf("runs")} aria-current={statistics ? undefined : "page"}>
            List
          </a>
          <a href={hrefOf("runs", STATISTICS)} aria-current={statistics ? "page" : undefined}>
            Statistics
          </a>
        </nav>
      </div>
      <RunFilters running={!statistics} />
      {statistics ? <RunStatistics /> : <RunList />}
    </>
  );
}
