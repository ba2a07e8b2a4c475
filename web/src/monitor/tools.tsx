// SPDX-License-Identifier: Apache-2.0
// The tools that models call, by toolset, with a form to try each.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Tool } from "../../../clients/typescript/src/api.js";
import { ask, queryOf } from "../app/api.js";
import { type Shortcut, useKeys } from "../app/keys.js";
import { go, hrefOf } from "../app/router.js";
import type { ViewProps } from "../app/views.js";
import { Empty, Failure } from "../parts/controls.js";
import { plural } from "../parts/format.js";
import { useLoaded } from "./loaded.js";
import "./monitor.css";
import "./tools.css";
import { ToolTry } from "./tool_try.js";

interface Toolset {
  toolset: string;
  toolsets: string[];
  tools: Tool[];
}

/** The address is #/tools/TOOL/TOOLSET; without a toolset it is the caller's first. */
export function View({ path }: ViewProps) {
  const [name, toolset] = path;
  const { value: set, failure } = useLoaded<Toolset>(() => ask("GET", "/v1/tools", { query: queryOf({ toolset }) }), [toolset]);
  const sought = useSignal("");
  const tool = set?.tools.find((each) => each.name === name);
  const keys = useMemo<Shortcut[]>(
    () => [{ keys: "/", text: "Search the tools", group: "Tools", run: () => document.getElementById("tools-search")?.focus() }],
    [],
  );
  useKeys(keys);
  const word = sought.value.trim().toLowerCase();
  const shown = set?.tools.filter((each) => `${each.name} ${each.title}`.toLowerCase().includes(word)) ?? [];
  return (
    <>
      <div class="view-head">
        <h1>Tools</h1>
      </div>
      {failure && <Failure>{failure}</Failure>}
      {!set && !failure && <p class="loading">Loading…</p>}
      {set && (
        <div class={name ? "tools chosen" : "tools"}>
          <nav class="tools-list card" aria-label="Tools">
            <div class="field">
              <label for="tools-set">Toolset</label>
              <select id="tools-set" value={set.toolset} onChange={(event) => go("tools", ["", event.currentTarget.value])}>
                {set.toolsets.map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </select>
            </div>
            <input id="tools-search" type="search" aria-label="Search the tools" placeholder="Search" value={sought.value} onInput={(event) => (sought.value = event.currentTarget.value)} />
            <p class="quiet" role="status">
              {plural(shown.length, "tool")}
            </p>
            <ul>
              {shown.map((each) => (
                <li key={each.name}>
                  <a href={hrefOf("tools", each.name, set.toolset)} aria-current={each === tool ? "page" : undefined}>
                    <span class="mono">{each.name}</span>
                    <span class="quiet">{each.title}</span>
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <div class="tools-one">
            {tool && <ToolTry key={`${set.toolset}.${tool.name}`} tool={tool} toolset={set.toolset} />}
            {name && !tool && <Empty title={`The toolset ${set.toolset} has no tool ${name} for you.`} />}
            {!name && (
              <Empty title="Choose a tool.">
                <p>Agents call these over MCP and HTTP. Here you see what each takes, and try it.</p>
              </Empty>
            )}
          </div>
        </div>
      )}
    </>
  );
}
