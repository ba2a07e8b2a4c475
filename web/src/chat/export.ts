// SPDX-License-Identifier: Apache-2.0
// A chat as Markdown: what was said, the code of each step, what it returned, its pictures.
import type { Chat, Item, StepItem } from "./state.js";
import { picturesOf } from "./toolkit.js";

export function chatMarkdown(chat: Chat): string {
  const head = `# ${oneLine(chat.title) || "Chat"}\n\nToolset \`${chat.toolset}\`, ${new Date(chat.changed).toISOString()}`;
  return [head, ...chat.items.map(itemMarkdown)].join("\n\n") + "\n";
}

/** A file's name for it. */
export function chatFileName(chat: Chat): string {
  const words = chat.title.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.slice(0, 6).join("-");
  return `${words || "chat"}.md`;
}

function itemMarkdown(item: Item): string {
  switch (item.kind) {
    case "said":
      return `## ${oneLine(item.text)}${item.text.includes("\n") ? `\n\n${item.text}` : ""}${item.files.map((file) => `\n\nAttached: ${file.name}`).join("")}`;
    case "answer":
      return item.text;
    case "note":
      return `> ${oneLine(item.text)}`;
    default:
      return stepMarkdown(item);
  }
}

function stepMarkdown(step: StepItem): string {
  const { code, ...rest } = step.arguments;
  const parts = [`**${step.name}**${step.decision ? ` (${oneLine(step.decision)})` : ""}`];
  if (typeof code === "string") parts.push(fenced(code, "python"));
  if (Object.keys(rest).length > 0) parts.push(fenced(JSON.stringify(rest, null, 1), "json"));
  if (step.text) parts.push(fenced(step.text, "text"));
  for (const [mime, data] of picturesOf(step.reply ?? {}).flatMap(Object.entries)) {
    if (mime.startsWith("image/") && mime !== "image/svg+xml") parts.push(`![Picture](data:${mime};base64,${String(data)})`);
  }
  return parts.join("\n\n");
}

/** TEXT in a fence that is longer than any in it. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

function oneLine(text: string): string {
  return text.split("\n").find((line) => line.trim())?.trim() ?? "";
}
