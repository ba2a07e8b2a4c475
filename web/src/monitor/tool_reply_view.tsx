// SPDX-License-Identifier: Apache-2.0
// What a tool replied: texts as text, displays and pictures as they look, the rest and the whole as JSON.
import type { ToolReply } from "../../../clients/typescript/src/tool_reply.js";
import { hrefOf } from "../app/router.js";
import { DisplayView } from "../output/display_view.js";
import { JsonTree } from "../output/json_tree.js";
import type { Bundle, FigureData } from "../output/outputs.js";

export function ToolReplyView({ reply }: { reply: ToolReply }) {
  const { displays, charts, ...rest } = reply.reply;
  const bundles = listOf<Bundle>(displays).filter((each) => typeof each === "object" && each !== null);
  const figures = listOf<FigureData>(charts);
  const runId = typeof rest["run_id"] === "string" ? rest["run_id"] : undefined;
  const texts = Object.entries(rest).filter(isText);
  const others = Object.fromEntries(Object.entries(rest).filter((entry) => !isText(entry) && !isEmpty(entry[1])));
  return (
    <>
      {texts.map(([name, text]) => (
        <div key={name} class="tool-text">
          <h3 class="mono">{name}</h3>
          <pre class="command run-code" tabIndex={0}>
            {text}
          </pre>
        </div>
      ))}
      {bundles.map((data, at) => (
        <DisplayView key={at} data={data} chart={"image/png" in data ? figures[at] : undefined} runId={runId} />
      ))}
      {reply.approvalId && (
        <p>
          A person has to approve this: <a href={hrefOf("approvals", reply.approvalId)}>{reply.approvalId}</a>. Then call it again with the same arguments.
        </p>
      )}
      {runId && (
        <p>
          <a href={hrefOf("runs", runId)}>Show its run</a>
        </p>
      )}
      {Object.keys(others).length > 0 && <JsonTree value={others} />}
      <details class="chart-numbers">
        <summary>The whole reply as JSON</summary>
        <JsonTree value={shortened(reply.reply)} />
      </details>
    </>
  );
}

/** Something that reads better as text than as a string of JSON. */
function isText(entry: [string, unknown]): entry is [string, string] {
  const [name, value] = entry;
  return typeof value === "string" && value !== "" && (value.includes("\n") || value.length > 120 || ["stdout", "stderr", "text", "value", "answer"].includes(name));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

const LONGEST = 2000;

/** VALUE with the beginnings of its long texts: pictures are shown above. */
function shortened(value: unknown): unknown {
  if (typeof value === "string") return value.length > LONGEST ? `${value.slice(0, LONGEST)}… (${value.length} characters)` : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each)]));
}
