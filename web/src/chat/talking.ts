// SPDX-License-Identifier: Apache-2.0
// A turn of a chat: the loop with the daemon's model and tools, told to the page.
import type { StoredFile } from "adder-client";
import { adder, messageOf } from "../app/api.js";
import { type Decision, type LoopEvent, type Ports, runTurn } from "./loop.js";
import { type CallPart, type Message, userMessage } from "./messages.js";
import { askModel } from "./model.js";
import { addItem, type Attached, type Chat, change, changeStep, type Item, type StepItem } from "./state.js";
import { callTool, loadToolkit, type Toolkit } from "./toolkit.js";

const OUTPUT_MAX = 200_000; // characters that a step shows; the record has all
const WAIT_MS = 20_000;

const turns = new Map<string, AbortController>();

/** Ends the turn of the chat ID: the model's answer, the run, or the wait for a decision. */
export function stop(id: string): void {
  turns.get(id)?.abort();
}

/** Says TEXT in CHAT, with FILES attached, and carries out what the model makes of it. */
export async function say(chat: Chat, text: string, files: StoredFile[]): Promise<void> {
  if (turns.has(chat.id)) return;
  const controller = new AbortController();
  const { id } = chat;
  turns.set(id, controller);
  const attached = files.map(({ name, file_id }) => ({ name, file_id }));
  change(id, (old) => ({ ...old, title: old.title || text.slice(0, 200), busy: true, items: [...old.items, { kind: "said", text, files: attached }] }));
  try {
    await take(chat, text, attached, controller.signal);
  } catch (error) {
    addItem(id, { kind: "note", text: controller.signal.aborted ? "Stopped." : messageOf(error) });
  } finally {
    turns.delete(id);
    change(id, (old) => ({ ...old, busy: false }));
  }
}

async function take(chat: Chat, text: string, files: Attached[], signal: AbortSignal): Promise<void> {
  const toolkit = await loadToolkit(chat.toolset);
  const messages: Message[] = [...chat.messages, userMessage(text + (await attach(chat.id, toolkit, files, signal)))];
  const end = await runTurn(messages, toolkit.tools, ports(chat.id, toolkit), chat.limits, signal);
  // What came of an answer that did not end stays in view. The model will not know it.
  change(chat.id, (old) => ({ ...old, messages, draft: undefined, items: withAnswer(old.items, old.draft) }));
  if (end.message) addItem(chat.id, { kind: "note", text: end.message });
}

/** Loads FILES for the chat's code, if its tools can; what the model is told of them. */
async function attach(conversation: string, toolkit: Toolkit, files: Attached[], signal: AbortSignal): Promise<string> {
  const lines: string[] = [];
  const loads = toolkit.tools.some((tool) => tool.name === "load_file");
  for (const { name, file_id } of files) {
    const reply = loads
      ? (await adder.tools.call("load_file", { file_id }, { toolset: toolkit.toolset, conversation, signal })).reply
      : { error: `It is stored as the file ${file_id}.` };
    const path = reply["local_path"] ?? reply["path"] ?? reply["filename"] ?? name;
    lines.push(`[Attached: ${name}. ${reply["error"] ?? `Code finds it at ${String(path)}.`}]`);
  }
  return lines.length > 0 ? `\n\n${lines.join("\n")}` : "";
}

function ports(id: string, toolkit: Toolkit): Ports {
  return {
    ask: (messages, signal) => askModel(messages, toolkit.tools, signal, (draft) => change(id, (chat) => ({ ...chat, draft }), true)),
    call: (call, approval, signal) =>
      callTool(call, {
        toolset: toolkit.toolset,
        conversation: id,
        approval,
        signal,
        onOutput: (text) => changeStep(id, call.id, (step) => ({ ...step, output: (step.output + text).slice(-OUTPUT_MAX) }), true),
        onRun: (run_id) => changeStep(id, call.id, (step) => ({ ...step, run_id }), true),
      }),
    decide: waitForDecision,
    tell: (event) => tell(id, event),
  };
}

/** Whoever decides, here, in the inbox or at a terminal. */
async function waitForDecision(approvalId: string, signal: AbortSignal): Promise<Decision> {
  for (;;) {
    signal.throwIfAborted();
    const approval = await adder.approvals.get(approvalId, { waitMs: WAIT_MS, signal });
    if (approval.state === "approved") return { approved: true, reason: "" };
    if (approval.state !== "pending") return { approved: false, reason: approval.reason ?? "" };
  }
}

const tells: { [Type in LoopEvent["type"]]: (id: string, event: Extract<LoopEvent, { type: Type }>) => void } = {
  asking: () => undefined,
  answered: (id, { text, usage }) => {
    const tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
    change(id, (chat) => ({ ...chat, tokens: chat.tokens + tokens, draft: undefined, items: withAnswer(chat.items, text) }));
  },
  began: (id, { call }) => addItem(id, stepOf(call)),
  waiting: (id, { call, approvalId }) => changeStep(id, call.id, (step) => ({ ...step, state: "waiting", approval_id: approvalId })),
  decided: (id, { call, decision }) =>
    changeStep(id, call.id, (step) => ({
      ...step,
      state: "running",
      output: "",
      decision: decision.approved ? "Approved." : `Denied${decision.reason ? `: ${decision.reason}` : "."}`,
    })),
  ended: (id, { call, called }) =>
    changeStep(id, call.id, (step) => ({
      ...step,
      state: called.stopped ? "stopped" : called.isError ? "failed" : "done",
      text: called.text,
      reply: called.reply,
      took_ms: Date.now() - step.began,
    })),
};

function withAnswer(items: Item[], text = ""): Item[] {
  return text.trim() ? [...items, { kind: "answer", text }] : items;
}

function tell(id: string, event: LoopEvent): void {
  tells[event.type](id, event as never);
}

function stepOf(call: CallPart): StepItem {
  return { kind: "step", id: call.id, name: call.name, arguments: call.arguments ?? {}, state: "running", output: "", began: Date.now() };
}
