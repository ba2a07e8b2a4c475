// SPDX-License-Identifier: Apache-2.0
// The daemon's model (operation model.ask).
import { ask, pathOf } from "../app/api.js";
import type { Message, ModelAnswer, ToolDefinition } from "./messages.js";

/** What the model is told before all messages; the words of src/apps/agent/prompts.c for a chat. */
const INSTRUCTIONS =
  "You chat with a person, and can call tools. Answer what you know; call a tool where exact work is needed, and look at what it " +
  "returned before you go on. Do not guess what a tool would return, and do not repeat at length what it printed. Be brief. " +
  "Pictures that a tool makes are shown to the person. Answers are shown as Markdown.";

/** One answer of the model that the daemon offers. Ends with SIGNAL, at the model's server too. */
export function askModel(messages: Message[], tools: ToolDefinition[], signal: AbortSignal): Promise<ModelAnswer> {
  const body = { instructions: INSTRUCTIONS, messages, tools };
  return ask<ModelAnswer>("POST", pathOf("v1", "models", "default", "ask"), { body, signal, endless: true });
}
