// SPDX-License-Identifier: Apache-2.0
// What a run, a tool or a replay tells while it is under way, and how it is read.
import type { ReplayedCell, ResultData, SessionInfo, ToolReplyData } from "./api.js";
import { problemError, UnexpectedReply } from "./errors.js";
import { Result } from "./result.js";
import { ToolReply } from "./tool_reply.js";

/** The first event. */
export interface StartedEvent {
  type: "started";
  run_id: string;
}

/** What the code wrote, in whole characters. */
export interface OutputEvent {
  type: "stdout" | "stderr";
  text: string;
}

/** What the code displayed. */
export interface DisplayEvent {
  type: "display";
  data: Record<string, unknown>;
  display_id: string | null;
  update: boolean;
}

/** How far the work is; `of` is 0 when nobody knows how much there is. */
export interface ProgressEvent {
  type: "progress";
  text: string;
  done: number;
  of: number;
  /** Of `ask_csv`: the step that begins or has ended, with what it found. */
  step?: { name: string; ended: boolean } & Record<string, unknown>;
}

/** How many events before the next one the server holds no more. */
export interface MissedEvent {
  type: "missed";
  events: number;
}

/** The last event of a run. */
export interface ResultEvent {
  type: "result";
  result: Result;
}

/** The last event of a tool's call. */
export interface ReplyEvent {
  type: "reply";
  reply: ToolReply;
}

/** Which session a replay makes, and what it runs there. */
export interface ReplayEvent {
  type: "replay";
  session: SessionInfo;
  cells: Array<Record<string, unknown>>;
  left_out: number[];
}

/** The cell of a replay whose events follow. */
export interface CellEvent {
  type: "cell";
  cell: number;
}

/** The last event of a replay. With a `problem` nothing has changed, and there is no session. */
export interface EndEvent {
  type: "end";
  session: SessionInfo | null;
  cells: ReplayedCell[];
  left_out: number[];
  problem: string | null;
}

/** A piece of the answer's text that a model writes. */
export interface ModelTextEvent {
  type: "text";
  text: string;
}

/** The model's server failed, and is asked again: the answer's text begins from nothing. */
export interface ModelAgainEvent {
  type: "again";
}

/** The last event of a question to a model: the members of the answer. */
export interface ModelAnswerEvent {
  type: "answer";
  message: Record<string, unknown>;
  stop: string;
  usage: Record<string, unknown>;
}

/** What a run tells. */
export type RunEvent =
  StartedEvent | OutputEvent | DisplayEvent | ProgressEvent | MissedEvent | ResultEvent;

/** What a call of a tool tells. */
export type ToolEvent = StartedEvent | OutputEvent | DisplayEvent | ProgressEvent | ReplyEvent;

/** What a replay tells. */
export type ReplayingEvent = RunEvent | ReplayEvent | CellEvent | EndEvent;

/** What a question to a model tells. */
export type ModelEvent = ModelTextEvent | ModelAgainEvent | ModelAnswerEvent;

/** Any of them. */
export type AdderEvent = RunEvent | ToolEvent | ReplayingEvent | ModelEvent;

type Problem = Record<string, unknown> & { status?: unknown };

const plain = new Set([
  "started",
  "stdout",
  "stderr",
  "display",
  "progress",
  "missed",
  "replay",
  "cell",
  "end",
  "text",
  "again",
  "answer",
]);

/** One event; undefined for a kind that this version does not know. A problem, which is the last one, is thrown. */
export function eventOf(type: string, data: string): AdderEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw new UnexpectedReply(`an event ${type} that is no JSON`, { cause });
  }
  if (type === "problem") throw problemError(Number((value as Problem).status), value as Problem);
  if (type === "result") return { type, result: new Result(value as ResultData) };
  if (type === "reply") return { type, reply: new ToolReply(value as ToolReplyData) };
  return plain.has(type) ? ({ ...(value as object), type } as AdderEvent) : undefined;
}

/** Server-sent events: from text as it comes to type and data of each that is whole. */
export class EventParser {
  #pieces: string[] = []; // of the line that is not whole
  #type = "";
  #data: string[] = [];
  #id: number;
  /** The number of the last event that was whole and had one. */
  lastId: number;

  constructor(lastId: number) {
    this.#id = this.lastId = lastId;
  }

  *feed(piece: string): Generator<[type: string, data: string]> {
    const end = piece.lastIndexOf("\n");
    const lines = end < 0 ? [] : (this.#pieces.join("") + piece.slice(0, end)).split("\n");
    if (end >= 0) this.#pieces = [];
    this.#pieces.push(piece.slice(end + 1));
    for (const line of lines) {
      const event = this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (event) yield event;
    }
  }

  #line(line: string): [string, string] | undefined {
    if (line === "") {
      const [type, data] = [this.#type || "message", this.#data];
      this.#type = "";
      this.#data = [];
      this.lastId = this.#id;
      return data.length > 0 ? [type, data.join("\n")] : undefined;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "event") this.#type = value;
    if (field === "data") this.#data.push(value);
    if (field === "id" && /^\d{1,15}$/.test(value)) this.#id = Number(value);
    return undefined; // comments, and fields that nobody knows
  }
}
