// SPDX-License-Identifier: Apache-2.0
// Outcomes, interfaces and isolation in words.
import { spaced } from "../parts/format.js";

/** How a run ended, in one sentence: docs/results.md has the table. */
const outcomes: Record<string, string> = {
  ok: "The code ran to its end.",
  error: "The code raised an exception, or ended with another exit code than 0.",
  refused: "A policy refused it. Nothing ran.",
  approval_required: "A person has to approve it first. Nothing ran.",
  timeout: "The code took longer than its limit of time.",
  cpu_limit: "The code used more processor time than its limit.",
  memory_limit: "The code needed more memory than its limit.",
  output_limit: "The code wrote more than its limit of output.",
  crashed: "A signal ended the code.",
  cancelled: "The caller cancelled it, or went away.",
  busy: "No sandbox became free in time. Nothing ran.",
  failed: "The input was wrong, or Adder or its host failed.",
  running: "The code is running.",
};

export const outcomeNames = Object.keys(outcomes).filter((name) => name !== "running");

export function outcomeText(outcome: string): string {
  return outcomes[outcome] ?? `It ended as ${spaced(outcome)}.`;
}

const interfaces: Record<string, string> = {
  cli: "command line",
  http: "HTTP",
  mcp: "MCP",
  socket: "local socket",
  library: "library",
  telegram: "Telegram",
};

export function interfaceText(name: string | null | undefined): string {
  return name ? (interfaces[name] ?? name) : "–";
}

const levels = [
  "a plain process with limits",
  "a separate user, landlock and a filter of system calls",
  "namespaces and a file tree of its own, without control groups",
  "namespaces, a file tree, system call filter, landlock and control groups",
  "everything of level 3, and a kernel of its own",
];

/** A level of isolation, as docs/isolation.md has them. */
export function isolationText(level: number | null | undefined): string {
  if (level === null || level === undefined) return "none, since nothing ran";
  return `level ${level}: ${levels[level] ?? "unknown"}`;
}
