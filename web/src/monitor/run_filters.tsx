// SPDX-License-Identifier: Apache-2.0
// The filters above the runs. What is typed counts when typing pauses.
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { ask, queryOf } from "../app/api.js";
import { everybody, isAdmin } from "../app/caller.js";
import { spaced } from "../parts/format.js";
import { isFiltered, noFilter, type RunFilter, runFilter } from "./run_filter.js";
import { interfaceText, outcomeNames } from "./words.js";

const TYPING_MS = 300;
const periods = [
  ["", "any time"],
  ["1h", "last hour"],
  ["24h", "last 24 hours"],
  ["7d", "last 7 days"],
  ["30d", "last 30 days"],
  ["custom", "between…"],
] as const;

interface Known {
  owners: string[];
  frontEnds: string[];
}

function change(part: Partial<RunFilter>): void {
  runFilter.value = { ...runFilter.peek(), ...part };
}

export function RunFilters({ running }: { running: boolean }) {
  const known = useSignal<Known>({ owners: [], frontEnds: ["cli", "http", "mcp"] });
  useEffect(() => {
    knownValues().then(
      (values) => (known.value = values),
      () => undefined,
    );
  }, []);
  const filter = runFilter.value;
  const open = useSignal(false);
  return (
    <form class={open.value ? "monitor-filters open" : "monitor-filters"} role="search" aria-label="Filter of the runs" onSubmit={(event) => event.preventDefault()}>
      <Text id="runs-code" label="Code contains" name="code" maxLength={1000} />
      <button type="button" class="monitor-filters-open" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        Filters{isFiltered.value ? " (set)" : ""}
      </button>
      <Choice label="Outcome" name="outcome" values={[["", "any"], ...(running ? [["running", "running"] as const] : []), ...outcomeNames.map((name) => [name, spaced(name)] as const)]} />
      <Choice label="Interface" name="front_end" values={[["", "any"], ...known.value.frontEnds.map((name) => [name, interfaceText(name)] as const)]} />
      {isAdmin.value && <Choice label="Owner" name="owner" values={[["", "everybody"], ...known.value.owners.map((name) => [name, name] as const)]} />}
      <Text label="Session" name="session" maxLength={64} placeholder="name or id" />
      <Choice label="Time" name="period" values={periods} />
      {filter.period === "custom" && (
        <>
          <Time label="From" name="from" />
          <Time label="To" name="to" />
        </>
      )}
      <button type="button" disabled={!isFiltered.value} onClick={() => (runFilter.value = noFilter)}>
        Clear
      </button>
    </form>
  );
}

/** The owners and interfaces that there are. */
async function knownValues(): Promise<Known> {
  const query = queryOf({ owner: everybody() });
  const { by } = await ask<{ by: Record<"owner" | "front_end", Array<{ name: string | null }>> }>("GET", "/v1/records/stats", { query });
  const names = (list: Array<{ name: string | null }>) => list.map((each) => each.name ?? "").filter((name) => name !== "");
  return { owners: names(by.owner).sort(), frontEnds: [...new Set(["cli", "http", "mcp", ...names(by.front_end)])] };
}

type Name = keyof RunFilter;

function Choice({ label, name, values }: { label: string; name: Name; values: ReadonlyArray<readonly [string, string]> }) {
  const value = runFilter.value[name];
  const all = values.some(([each]) => each === value) ? values : [...values, [value, value] as const];
  const id = useId();
  return (
    <div class="monitor-filter">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => change({ [name]: event.currentTarget.value })}>
        {all.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface TextProps {
  id?: string;
  label: string;
  name: Name;
  maxLength: number;
  placeholder?: string;
}

function Text({ id, label, name, ...rest }: TextProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const typed = (value: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change({ [name]: value }), TYPING_MS);
  };
  const own = useId();
  return (
    <div class={name === "code" ? "monitor-filter wide" : "monitor-filter"}>
      <label for={id ?? own}>{label}</label>
      <input {...rest} id={id ?? own} type="search" autocomplete="off" spellcheck={false} value={runFilter.value[name]} onInput={(event) => typed(event.currentTarget.value)} />
    </div>
  );
}

function Time({ label, name }: { label: string; name: Name }) {
  return (
    <label class="monitor-filter">
      {label}
      <input type="datetime-local" value={runFilter.value[name]} onChange={(event) => change({ [name]: event.currentTarget.value })} />
    </label>
  );
}
