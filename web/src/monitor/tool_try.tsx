// SPDX-License-Identifier: Apache-2.0
// One tool: what it is for, a form for its arguments, what it replies, and the same call as a command.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Tool } from "../../../clients/typescript/src/api.js";
import type { ToolReply } from "../../../clients/typescript/src/tool_reply.js";
import { adder, messageOf } from "../app/api.js";
import { hrefOf } from "../app/router.js";
import { Badge, Failure } from "../parts/controls.js";
import { CopyButton } from "../parts/copy_button.js";
import { durationText } from "../parts/format.js";
import { oncePerFrame } from "../parts/frames.js";
import { Icon } from "../parts/icons.js";
import { SchemaForm } from "../parts/form.js";
import { missingOf } from "../parts/schema.js";
import { ToolReplyView } from "./tool_reply_view.js";

type Values = Record<string, unknown>;

/** The tools of this page share a conversation, so that those with a session find it again. */
const CONVERSATION = "web-tools";
const SHOWN_CHARACTERS = 100_000;

/** Arguments stay while other tools are looked at. */
const kept = new Map<string, Values>();

interface Call {
  state: "running" | "done";
  output: string;
  progress: string;
  reply?: ToolReply;
  failure?: string;
  ms?: number;
}

export function ToolTry({ tool, toolset }: { tool: Tool; toolset: string }) {
  const key = `${toolset}.${tool.name}`;
  const values = useSignal<Values>(kept.get(key) ?? {});
  const call = useSignal<Call | undefined>(undefined);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const change = (next: Values) => {
    values.value = next;
    kept.set(key, next);
  };
  const run = async (event: Event) => {
    event.preventDefault();
    stop.current?.abort();
    const own = (stop.current = new AbortController());
    await perform(tool.name, toolset, values.peek(), own.signal, (next) => {
      if (stop.current === own) call.value = next;
    });
  };
  const running = call.value?.state === "running";
  const missing = missingOf(tool.inputSchema, values.value);
  return (
    <>
      <p class="phone-only">
        <a href={hrefOf("tools", "", toolset)}>← Tools</a>
      </p>
      <section class="card tool-head" aria-labelledby="tool-name">
        <h2 id="tool-name">
          {tool.title} <span class="mono quiet">{tool.name}</span>
        </h2>
        <p class="row">
          {Boolean(tool.annotations["readOnlyHint"]) && <Badge>only reads</Badge>}
          {Boolean(tool.annotations["destructiveHint"]) && <Badge kind="wait">may change or delete</Badge>}
          {Boolean(tool.annotations["openWorldHint"]) && <Badge>may reach other hosts</Badge>}
        </p>
        <p>{tool.description}</p>
      </section>
      <form class="card tool-form" aria-label={`Arguments of ${tool.name}`} onSubmit={run}>
        <SchemaForm schema={tool.inputSchema} value={values.value} onChange={change} />
        <div class="row">
          <button type="submit" class="primary" disabled={running || missing.length > 0}>
            <Icon name="play" /> Call it
          </button>
          {running && (
            <button type="button" onClick={() => stop.current?.abort()}>
              <Icon name="stop" /> Cancel
            </button>
          )}
          <span class="quiet" role="status">
            {missing.length > 0 ? `Still needed: ${missing.join(", ")}.` : ""}
            {running ? call.value?.progress || "Running…" : ""}
          </span>
        </div>
      </form>
      {call.value && <Outcome call={call.value} />}
      <Command tool={tool.name} toolset={toolset} values={values.value} />
    </>
  );
}

/** Calls the tool, and shows how far it is whenever something comes. */
async function perform(tool: string, toolset: string, values: Values, signal: AbortSignal, show: (call: Call) => void): Promise<void> {
  const began = performance.now();
  let call: Call = { state: "running", output: "", progress: "" };
  show(call);
  const soon = oncePerFrame(() => show(call));
  try {
    for await (const event of adder.tools.stream(tool, values, { toolset, conversation: CONVERSATION, signal })) {
      if (event.type === "stdout" || event.type === "stderr") call = { ...call, output: (call.output + event.text).slice(-SHOWN_CHARACTERS) };
      if (event.type === "progress") call = { ...call, progress: event.of > 0 ? `${event.text} (${event.done} of ${event.of})` : event.text };
      if (event.type === "reply") call = { ...call, state: "done", reply: event.reply };
      soon();
    }
  } catch (error) {
    call = { ...call, failure: signal.aborted ? "You cancelled the call." : messageOf(error) };
  }
  call = { ...call, state: "done", ms: performance.now() - began };
  show(call);
}

function Outcome({ call }: { call: Call }) {
  const { reply, failure, output } = call;
  return (
    <section class="card tool-reply" aria-label="Reply" aria-busy={call.state === "running"}>
      <h2>
        {reply ? "Reply" : "Output so far"}{" "}
        {reply && <Badge kind={reply.is_error ? "bad" : "good"}>{reply.is_error ? "error" : "ok"}</Badge>}{" "}
        {call.ms !== undefined && <span class="quiet">after {durationText(call.ms)}</span>}
      </h2>
      {failure && <Failure>{failure}</Failure>}
      {!reply && (
        <pre class="command run-code" role="log" tabIndex={0}>
          {output}
        </pre>
      )}
      {reply && <ToolReplyView reply={reply} />}
    </section>
  );
}

/** The call as a command, which works as it is once $ADDER_TOKEN is set. */
function Command({ tool, toolset, values }: { tool: string; toolset: string; values: Values }) {
  const body = JSON.stringify({ toolset, arguments: values });
  const text = [
    `curl ${location.origin}/v1/tools/${tool} \\`,
    `  -H "Authorization: Bearer $ADDER_TOKEN" -H "Content-Type: application/json" \\`,
    `  -d '${body.replace(/'/g, "'\\''")}'`,
  ].join("\n");
  return (
    <section class="card tool-reply" aria-label="As a command">
      <h2>As a command</h2>
      <pre class="command run-code" tabIndex={0}>
        {text}
      </pre>
      <p>
        <CopyButton text={text} what="the command" />
      </p>
    </section>
  );
}
