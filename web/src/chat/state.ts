// SPDX-License-Identifier: Apache-2.0
// The chats that this browser keeps, and the one that is shown.
import { conversationsOf } from "../parts/conversations.js";
import { type Kept, keptOwner } from "../parts/kept.js";
import { LIMITS, type Limits } from "./loop.js";
import type { Message } from "./messages.js";

export interface Attached {
  name: string;
  file_id: string;
}

export interface SaidItem {
  kind: "said";
  text: string;
  files: Attached[];
}

export interface AnswerItem {
  kind: "answer";
  text: string;
}

export interface StepItem {
  kind: "step";
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  state: "running" | "waiting" | "done" | "failed" | "stopped";
  /** What was printed so far. */
  output: string;
  /** What the model got. */
  text?: string;
  reply?: Record<string, unknown> | undefined;
  run_id?: string;
  approval_id?: string;
  /** Who decided what, in a sentence. */
  decision?: string;
  began: number;
  took_ms?: number;
}

/** How a turn ended, where it was not by an answer. */
export interface NoteItem {
  kind: "note";
  text: string;
}

export type Item = SaidItem | AnswerItem | StepItem | NoteItem;

export interface Chat extends Kept {
  title: string;
  toolset: string;
  limits: Limits;
  items: Item[];
  /** The answer that the model is writing, as far as it came. */
  draft?: string | undefined;
  messages: Message[];
  /** Of all answers. */
  tokens: number;
  /** A turn is under way. */
  busy: boolean;
}

export const { all: chats, currentId, current, begin, change, remove, useShown } = conversationsOf<Chat>({
  keptIn: "chats",
  fresh: (before) => ({
    id: `chat-${crypto.randomUUID()}`,
    owner: keptOwner(),
    changed: Date.now(),
    title: "",
    toolset: before?.toolset ?? "assistant",
    limits: LIMITS,
    items: [],
    messages: [],
    tokens: 0,
    busy: false,
  }),
  isBegun: (chat) => chat.items.length > 0,
  afterReload,
});

/** A turn that was under way when the page was left has ended; its call has no result, and models' APIs want one. */
function afterReload(chat: Chat): Chat {
  if (!chat.busy) return chat;
  const items = chat.items.map((item) => (item.kind === "step" && item.took_ms === undefined ? { ...item, state: "stopped" as const } : item));
  const note: NoteItem = { kind: "note", text: "The page was closed before the turn ended." };
  return { ...chat, busy: false, draft: undefined, items: [...items, note] };
}

export function addItem(id: string, item: Item): void {
  change(id, (chat) => ({ ...chat, items: [...chat.items, item] }));
}

/** Changes the last step of CALL. */
export function changeStep(id: string, call: string, how: (step: StepItem) => StepItem, silent = false): void {
  change(
    id,
    (chat) => {
      const at = chat.items.findLastIndex((item) => item.kind === "step" && item.id === call);
      return { ...chat, items: chat.items.map((item, index) => (index === at ? how(item as StepItem) : item)) };
    },
    silent,
  );
}
