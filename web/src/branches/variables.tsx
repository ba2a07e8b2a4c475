// SPDX-License-Identifier: Apache-2.0
// The variables of a session, with a value each when it is asked for.
import { useSignal } from "@preact/signals";
import type { Variable } from "adder-client";
import { useEffect } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { Failure } from "../parts/controls.js";
import { bytesText, plural, shapeText } from "../parts/format.js";
import { variablesOf } from "./store.js";

const AT_FIRST = 12;

/** STAMP differs whenever the variables may. A busy session would answer only after its cell. */
export function Variables({ id, stamp, busy }: { id: string; stamp: string; busy: boolean }) {
  const variables = useSignal<Variable[] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const all = useSignal(false);
  useEffect(() => {
    if (busy) return undefined;
    let current = true;
    variablesOf(id).then(
      (found) => {
        if (!current) return;
        variables.value = found;
        failure.value = undefined;
      },
      (error) => current && (failure.value = messageOf(error)),
    );
    return () => {
      current = false;
    };
  }, [id, stamp, busy]);
  if (failure.value) return <Failure>{failure.value}</Failure>;
  if (busy && !variables.value) return <p class="quiet">A cell is running. Variables appear when it has ended.</p>;
  if (!variables.value) return <p class="quiet">Loading…</p>;
  if (variables.value.length === 0) return <p class="quiet">There are none yet.</p>;
  const shown = all.value ? variables.value : variables.value.slice(0, AT_FIRST);
  return (
    <>
      <ul class="branches-variables">
        {shown.map((variable) => (
          <VariableRow key={variable.name} id={id} variable={variable} stamp={stamp} />
        ))}
      </ul>
      {shown.length < variables.value.length && (
        <button type="button" onClick={() => (all.value = true)}>
          Show {plural(variables.value.length - shown.length, "more variable")}
        </button>
      )}
    </>
  );
}

function VariableRow({ id, variable, stamp }: { id: string; variable: Variable; stamp: string }) {
  const value = useSignal<string | undefined>(undefined);
  const open = useSignal(false);
  useEffect(() => {
    if (!open.value) return;
    variablesOf(id, [variable.name]).then(
      ([found]) => (value.value = found?.value ?? "It is no longer there."),
      (error) => (value.value = messageOf(error)),
    );
  }, [open.value, stamp]);
  return (
    <li>
      <details onToggle={(event) => (open.value = event.currentTarget.open)}>
        <summary>
          <code>{variable.name}</code>
          <span class="quiet">{variableText(variable)}</span>
        </summary>
        {open.value && <pre class="branches-value">{value.value ?? "Loading…"}</pre>}
      </details>
    </li>
  );
}

/** "DataFrame 120 × 4, 6.4 KiB". */
export function variableText(variable: Pick<Variable, "type" | "shape" | "bytes">): string {
  const shape = variable.shape?.length ? ` ${shapeText(variable.shape)}` : "";
  return `${variable.type}${shape}${variable.bytes === null ? "" : `, ${bytesText(variable.bytes)}`}`;
}
