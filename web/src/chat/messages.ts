// SPDX-License-Identifier: Apache-2.0
// A conversation with a model as the daemon takes it (src/models/message.h): no model API's own form.

export interface TextPart {
  type: "text";
  text: string;
}

/** `arguments` is null where the model wrote something else than an object; `raw` is that. */
export interface CallPart {
  type: "call";
  id: string;
  name: string;
  arguments: Record<string, unknown> | null;
  raw?: string;
}

export interface ResultPart {
  type: "result";
  id: string;
  name: string;
  content: TextPart[];
  is_error: boolean;
}

/** What a model's API wants back unchanged. */
export interface OpaquePart {
  type: "opaque";
  [member: string]: unknown;
}

export type Part = TextPart | CallPart | ResultPart | OpaquePart;

export interface Message {
  role: "user" | "assistant" | "tool";
  content: Part[];
}

/** A tool as a model gets it. */
export interface ToolDefinition {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

export interface Usage {
  input_tokens: number | null;
  output_tokens: number | null;
  cost?: number | null;
}

/** One answer of a model. */
export interface ModelAnswer {
  message: Message;
  stop: "end" | "calls" | "length" | "refusal";
  usage: Usage;
}

export function userMessage(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

export function resultMessage(call: CallPart, text: string, isError: boolean): Message {
  return { role: "tool", content: [{ type: "result", id: call.id, name: call.name, content: [{ type: "text", text }], is_error: isError }] };
}

export function textOf(message: Message): string {
  return message.content.flatMap((part) => (part.type === "text" ? [(part as TextPart).text] : [])).join("");
}

export function callsOf(message: Message): CallPart[] {
  return message.content.filter((part): part is CallPart => part.type === "call");
}
