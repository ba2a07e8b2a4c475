// SPDX-License-Identifier: Apache-2.0
// The variables of a session: what they are, how large, and what is in them.
import type { Variable } from "adder-client";
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { messageOf, sessionOf } from "../app/api.js";
import { variableRows } from "../output/rows.js";
import { TableGrid } from "../output/table_grid.js";
import { TextOutput } from "../output/text_output.js";
import { Dialog, Failure } from "../parts/controls.js";
import { bytesText, shapeText } from "../parts/format.js";
import type { Workspace } from "./workspace.js";

export function VariablesPanel({ workspace }: { workspace: Workspace }) {
  const shown = useSignal<Variable | undefined>(undefined);
  const variables = workspace.notebook.ended.value ? [] : workspace.variables.value;
  const isBusy = workspace.runner.running.value !== undefined;
  return (
    <>
      {variables.length === 0 && <p class="quiet">{isBusy ? "They are shown when the cell has ended." : "Variables that cells assign are listed here."}</p>}
      {variables.length > 0 && (
        <ul class="notebook-variables" aria-label="Variables">
          {variables.map((variable) => (
            <li key={variable.name}>
              <button type="button" onClick={() => (shown.value = variable)} title={`Show ${variable.name}`}>
                <span class="notebook-variable-name">{variable.name}</span>
                <span class="notebook-variable-type">
                  {variable.type}
                  {variable.shape && variable.shape.length > 0 && ` ${shapeText(variable.shape)}`}
                </span>
                <span class="notebook-variable-size">{variable.bytes === null ? "" : bytesText(variable.bytes)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {shown.value && <Preview sessionId={workspace.notebook.sessionId} variable={shown.value} onClose={() => (shown.value = undefined)} />}
    </>
  );
}

interface PreviewProps {
  sessionId: string;
  variable: Variable;
  onClose: () => void;
}

function Preview({ sessionId, variable, onClose }: PreviewProps) {
  const { name, type, shape } = variable;
  const source = useMemo(() => variableRows(sessionId, name), [sessionId, name]);
  const title = `${name}: ${type}${shape?.length ? `, ${shapeText(shape)}` : ""}`;
  return (
    <Dialog title={title} onClose={onClose} wide>
      {isTabular(variable) ? <TableGrid source={source} label={title} /> : <Value sessionId={sessionId} name={name} />}
    </Dialog>
  );
}

function isTabular({ type, shape }: Variable): boolean {
  return /^(?:DataFrame|Series|ndarray)$/.test(type) && shape !== null && shape.length > 0 && shape.length <= 2;
}

function Value({ sessionId, name }: { sessionId: string; name: string }) {
  const value = useSignal<string | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  useEffect(() => {
    sessionOf(sessionId).variables([name]).then(
      ([variable]) => (value.value = variable?.value ?? ""),
      (error) => (failure.value = messageOf(error)),
    );
  }, [sessionId, name]);
  if (failure.value) return <Failure>{failure.value}</Failure>;
  return value.value === undefined ? <p class="quiet">Loading…</p> : <TextOutput name="text" text={value.value} />;
}
