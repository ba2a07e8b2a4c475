// SPDX-License-Identifier: Apache-2.0
// Tools of a toolset: as a model gets them, their calls, and their replies in words.
import { ask, queryOf, adder } from "../app/api.js";
import { fileHref } from "../output/file_list.js";
import type { Called } from "./loop.js";
import type { CallPart, ToolDefinition } from "./messages.js";

interface OpenaiTool {
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

export interface Toolkit {
  toolset: string;
  /** Those that the caller may choose. */
  toolsets: string[];
  tools: ToolDefinition[];
}

/** The tools of TOOLSET that the caller may call. */
export async function loadToolkit(toolset: string): Promise<Toolkit> {
  const query = queryOf({ toolset, format: "openai" });
  const list = await ask<{ toolset: string; toolsets: string[]; tools: OpenaiTool[] }>("GET", "/v1/tools", { query });
  const tools = list.tools.map(({ function: { name, description, parameters } }) => ({ name, description, parameters: plain(parameters) }));
  return { toolset: list.toolset, toolsets: list.toolsets, tools };
}

// Words that some servers refuse in a strict schema: the description says them instead (src/apps/agent/plain_schema.c).
const BOUNDS = [
  ...["pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"],
  ...["minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "default"],
];
const SILENT = ["$schema", "$id", "$comment", "examples"];

function plain(schema: Record<string, unknown>): Record<string, unknown> {
  const told = BOUNDS.filter((name) => name in schema).map((name) => `${name}: ${JSON.stringify(schema[name])}`);
  const kept = Object.entries(schema).filter(([name]) => !BOUNDS.includes(name) && !SILENT.includes(name));
  const now: Record<string, unknown> = Object.fromEntries(kept.map(([name, value]) => [name, inner(name, value)]));
  if (told.length > 0) now["description"] = `${schema["description"] ? `${String(schema["description"])} ` : ""}(${told.join(", ")})`;
  return now;
}

function inner(name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (name === "items" || name === "additionalProperties") return plain(value as Record<string, unknown>);
  if (["anyOf", "oneOf", "allOf"].includes(name)) return (value as Array<Record<string, unknown>>).map(plain);
  if (name !== "properties" && name !== "$defs") return value;
  return Object.fromEntries(Object.entries(value).map(([member, each]) => [member, plain(each as Record<string, unknown>)]));
}

export interface CallOptions {
  toolset: string;
  conversation: string;
  approval?: string | undefined;
  signal: AbortSignal;
  /** Told what the code prints, as it comes. */
  onOutput: (text: string) => void;
  /** Told of the run. */
  onRun: (runId: string) => void;
}

/** Makes CALL. What went wrong with it is in the value; it rejects where the daemon did not answer. */
export async function callTool(call: CallPart, { onOutput, onRun, ...options }: CallOptions): Promise<Called> {
  for await (const event of adder.tools.stream(call.name, call.arguments ?? {}, options)) {
    if (event.type === "started") onRun(event.run_id);
    else if (event.type === "stdout" || event.type === "stderr") onOutput(event.text);
    else if (event.type === "progress") onOutput(`${event.text}\n`);
    else if (event.type === "reply") {
      const { reply, is_error, approvalId } = event.reply;
      return { text: shortened(replyText(reply)), isError: is_error, approvalId, reply };
    }
  }
  throw new Error("The daemon ended the call before it had a reply.");
}

// A model gets the beginning and the end of what is longer.
const HEAD = 20_000;
const TAIL = 8_000;
const MOST = 30_000;

function shortened(text: string): string {
  if (text.length <= MOST) return text;
  const left = text.length - HEAD - TAIL;
  return `${text.slice(0, HEAD)}\n[... ${left} characters are left out here; ask for less, or for a part of it ...]\n${text.slice(-TAIL)}`;
}

/** A reply in words: its text, its error, or the object without its pictures. */
function replyText(reply: Record<string, unknown>): string {
  const pictures = picturesOf(reply).length;
  const { pictures: _, displays: __, ...rest } = reply;
  const words = typeof rest["error"] === "string" ? rest["error"] : typeof rest["text"] === "string" ? rest["text"] : JSON.stringify(rest);
  const drawn = pictures > 0 ? `\n[${pictures === 1 ? "A picture was made; the person sees it." : `${pictures} pictures were made; the person sees them.`}]` : "";
  return words + drawn;
}

/** What a reply has to look at, each by MIME type. */
export function picturesOf(reply: Record<string, unknown>): Array<Record<string, unknown>> {
  const pictures = list(reply["pictures"]).filter((data) => typeof data === "string").map((data) => ({ "image/png": data }));
  const displays = list(reply["displays"]).filter((each): each is Record<string, unknown> => typeof each === "object" && each !== null);
  return [...displays, ...pictures];
}

export interface ReplyFile {
  name: string;
  url: string;
  bytes?: number | undefined;
}

/** The stored files that a reply names. */
export function filesOf(reply: Record<string, unknown>): ReplyFile[] {
  return list(reply["files"]).flatMap((each) => {
    const file = each as { name?: string; filename?: string; file_id?: string | null; url?: string | null; bytes?: number };
    const name = file.filename ?? file.name;
    const url = file.url ?? (file.file_id ? fileHref(file.file_id) : undefined);
    return name && url?.startsWith("/v1/files/") ? [{ name, url, bytes: file.bytes }] : [];
  });
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
