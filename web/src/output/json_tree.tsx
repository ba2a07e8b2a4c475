// SPDX-License-Identifier: Apache-2.0
// JSON as a tree. What is closed is not in the page, and long lists are shown in parts.
import { useSignal } from "@preact/signals";
import { plural } from "../parts/format.js";
import "./output.css";

const PART = 100;
const LONGEST_TEXT = 2000; // characters
const DEEPEST = 200;

interface NodeProps {
  name?: string | undefined;
  value: unknown;
  depth: number;
}

export function JsonTree({ value }: { value: unknown }) {
  return (
    <div class="output-json" role="group" aria-label="JSON">
      <Node value={value} depth={0} />
    </div>
  );
}

function Node({ name, value, depth }: NodeProps) {
  if (typeof value !== "object" || value === null || depth > DEEPEST) {
    return (
      <div class="output-json-leaf">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    );
  }
  return <Branch name={name} value={value} depth={depth} />;
}

function Branch({ name, value, depth }: NodeProps & { value: object }) {
  const open = useSignal(depth < 1);
  const shown = useSignal(PART);
  const isList = Array.isArray(value);
  const entries = open.value ? Object.entries(value) : [];
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  return (
    <details open={open.value} onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="quiet">{isList ? `list of ${plural(count, "item")}` : plural(count, "member")}</span>
      </summary>
      <div class="output-json-children">
        {entries.slice(0, shown.value).map(([key, child]) => (
          <Node key={key} name={key} value={child} depth={depth + 1} />
        ))}
        {entries.length > shown.value && (
          <button type="button" class="link" onClick={() => (shown.value += PART * 10)}>
            Show more of {plural(count, "item")}
          </button>
        )}
      </div>
    </details>
  );
}

function Name({ name }: { name?: string | undefined }) {
  return name === undefined ? null : <span class="output-json-name">{name}: </span>;
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") {
    return <span class="output-json-text">{JSON.stringify(value.length > LONGEST_TEXT ? value.slice(0, LONGEST_TEXT) + "…" : value)}</span>;
  }
  return <span class={typeof value === "number" ? "output-json-number" : "output-json-word"}>{String(value)}</span>;
}
