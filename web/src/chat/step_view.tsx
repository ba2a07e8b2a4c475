// SPDX-License-Identifier: Apache-2.0
// A call of a tool: its code or arguments, what it printed and replied, pictures and files.
import { useMemo } from "preact/hooks";
import { hrefOf } from "../app/router.js";
import { DisplayView } from "../output/display_view.js";
import { TextOutput } from "../output/text_output.js";
import { Code } from "../parts/code.js";
import { bytesText, durationText } from "../parts/format.js";
import { Icon, type IconName } from "../parts/icons.js";
import { ApprovalCard } from "./approval_card.js";
import type { StepItem } from "./state.js";
import { filesOf, picturesOf } from "./toolkit.js";

const states: Record<StepItem["state"], { icon: IconName; text: string; kind: string }> = {
  running: { icon: "more", text: "under way", kind: "busy" },
  waiting: { icon: "approvals", text: "waits for an approval", kind: "wait" },
  done: { icon: "check", text: "done", kind: "good" },
  failed: { icon: "close", text: "failed", kind: "bad" },
  stopped: { icon: "stop", text: "stopped", kind: "" },
};

export function StepView({ step }: { step: StepItem }) {
  const state = states[step.state];
  const reply = step.reply;
  const pictures = useMemo(() => (reply ? picturesOf(reply) : []), [reply]);
  const files = reply ? filesOf(reply) : [];
  const shows = step.state === "running" || step.state === "waiting" || pictures.length > 0;
  return (
    <details class={`chat-step ${state.kind}`} open={shows}>
      <summary>
        <Icon name={state.icon} size={16} />
        <b>{step.name}</b>
        <span class="chat-about">{aboutOf(step)}</span>
        <span class={step.state === "done" ? "hidden-text" : "quiet"}>{state.text}</span>
        {step.took_ms !== undefined && <span class="quiet">{durationText(step.took_ms)}</span>}
      </summary>
      <div class="chat-step-body">
        {step.state !== "waiting" && <Arguments given={step.arguments} />}
        {step.approval_id && step.state === "waiting" && <ApprovalCard id={step.approval_id} />}
        {step.decision && <p class="quiet">{step.decision}</p>}
        <Words step={step} />
        {pictures.map((data, at) => (
          <DisplayView key={at} data={data} />
        ))}
        {files.length > 0 && (
          <ul aria-label="Files">
            {files.map((file) => (
              <li key={file.url}>
                <a href={file.url} download={file.name.split("/").pop()}>
                  <Icon name="download" size={14} /> {file.name}
                </a>
                {file.bytes !== undefined && <span class="quiet"> {bytesText(file.bytes)}</span>}
              </li>
            ))}
          </ul>
        )}
        {step.run_id && (
          <p class="quiet">
            <a href={hrefOf("runs", step.run_id)}>The run with all that is recorded</a>
          </p>
        )}
      </div>
    </details>
  );
}

/** What the call is for, in a line. */
function aboutOf({ arguments: given }: StepItem): string {
  const text = [given["description"], given["code"], given["command"], given["question"]].find((each) => typeof each === "string" && each);
  return String(text ?? "").split("\n").find((line) => line.trim())?.slice(0, 160) ?? "";
}

function Arguments({ given }: { given: Record<string, unknown> }) {
  const { code, command, description: _, ...rest } = given;
  const others = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null && value !== false));
  return (
    <>
      {typeof code === "string" && <Code text={code} label="Code" />}
      {typeof command === "string" && <Code text={command} language="text" label="Command" />}
      {Object.keys(others).length > 0 && <Code text={JSON.stringify(others, null, 1)} language="json" label="Arguments" />}
    </>
  );
}

/** While it runs, what is printed; then what the model got. */
function Words({ step }: { step: StepItem }) {
  const text = step.text ?? step.output;
  if (!text) return null;
  const shown = step.state === "done" || step.state === "failed" ? readable(step, text) : step.output;
  return shown ? <TextOutput name="text" text={shown} /> : null;
}

/** A reply without words of its own is JSON: of a run, its output says more. */
function readable({ reply }: StepItem, text: string): string {
  if (!reply || typeof reply["text"] === "string" || typeof reply["error"] === "string") return text.replace(/\n\[(A picture was|\d+ pictures were) made[^\]]*\]$/, "");
  const { stdout, stderr } = reply;
  if (typeof stdout !== "string") return JSON.stringify(reply, null, 1);
  return [stdout, typeof stderr === "string" ? stderr : ""].filter(Boolean).join("\n") || "(no output)";
}
