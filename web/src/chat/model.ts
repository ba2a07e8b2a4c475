// SPDX-License-Identifier: Apache-2.0
// The daemon's model (operation model.ask).
import { http, pathOf } from "../app/api.js";
import type { Message, ModelAnswer, ToolDefinition } from "./messages.js";

/** What the model is told before all messages; the words of src/apps/agent/prompts.c for a chat. */
const INSTRUCTIONS =
  "You chat with a person, and can call tools. Answer what you know; call a tool where exact work is needed, and look at what it " +
  "returned before you go on. Do not guess what a tool would return, and do not repeat at length what it printed. Be brief. " +
  "Pictures that a tool makes are shown to the person. Answers are shown as Markdown.";

// What the daemon takes of a conversation is a little more.
const MESSAGES = 900;
const CHARACTERS = 3_000_000;

/**
 * One answer of the model that the daemon offers. Ends with SIGNAL, at the model's server too. ONTEXT gets the answer's text as far as
 * it is written, each time from its beginning.
 */
export async function askModel(messages: Message[], tools: ToolDefinition[], signal: AbortSignal, onText: (text: string) => void): Promise<ModelAnswer> {
  const body = { instructions: INSTRUCTIONS, messages: latestOf(messages), tools };
  let text = "";
  for await (const event of http.events({ path: pathOf("v1", "models", "default", "ask"), body, lastEventId: 0 }, "answer", { signal })) {
    if (event.type === "answer") return event as unknown as ModelAnswer;
    if (event.type !== "text" && event.type !== "again") continue;
    text = event.type === "text" ? text + event.text : "";
    onText(text);
  }
  throw new Error("The daemon ended the answer early. Try again.");
}

/** The end of a conversation that is too long to be sent, from a message of the user's on. */
export function latestOf(messages: Message[]): Message[] {
  let from = 0;
  let length = messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
  while (messages.length - from > MESSAGES || length > CHARACTERS) {
    const next = messages.findIndex((message, at) => at > from && message.role === "user");
    if (next < 0) break;
    for (; from < next; from++) length -= JSON.stringify(messages[from]).length;
  }
  return messages.slice(from);
}
