// SPDX-License-Identifier: Apache-2.0
// The chats that this browser keeps, and the one that is shown.
import { computed, signal } from "@preact/signals";
import { forget, keep, type Kept, keptList, keptOwner } from "../parts/kept.js";
import { sayError } from "../parts/toasts.js";
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
  messages: Message[];
  /** Of all answers. */
  tokens: number;
  /** A turn is under way. */
  busy: boolean;
}

export const chats = signal<Chat[]>([]);
export const currentId = signal<string | undefined>(undefined);
export const current = computed(() => chats.value.find((each) => each.id === currentId.value));

let loadedFor: string | undefined;

export async function load(): Promise<void> {
  if (loadedFor === keptOwner()) return;
  loadedFor = keptOwner();
  chats.value = (await keptList<Chat>("chats")).map(afterReload);
}

/** A turn that was under way when the page was left has ended; its call has no result, and models' APIs want one. */
function afterReload(chat: Chat): Chat {
  if (!chat.busy) return chat;
  const items = chat.items.map((item) => (item.kind === "step" && item.took_ms === undefined ? { ...item, state: "stopped" as const } : item));
  const note: NoteItem = { kind: "note", text: "The page was closed before the turn ended." };
  return { ...chat, busy: false, items: [...items, note], messages: chat.messages };
}

export function begin(toolset = current.peek()?.toolset ?? "assistant"): Chat {
  const chat: Chat = {
    id: `chat-${crypto.randomUUID()}`,
    owner: keptOwner(),
    changed: Date.now(),
    title: "",
    toolset,
    limits: LIMITS,
    items: [],
    messages: [],
    tokens: 0,
    busy: false,
  };
  chats.value = [chat, ...chats.value.filter((each) => each.items.length > 0)];
  currentId.value = chat.id;
  return chat;
}

/** Changes the chat ID, and keeps it unless `silent`. */
export function change(id: string, how: (chat: Chat) => Chat, silent = false): void {
  const old = chats.peek().find((each) => each.id === id);
  if (!old) return;
  const now = { ...how(old), changed: Date.now() };
  chats.value = chats.peek().map((each) => (each.id === id ? now : each));
  if (!silent && now.items.length > 0) keep("chats", now).catch(sayError);
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

export async function remove(id: string): Promise<void> {
  chats.value = chats.peek().filter((each) => each.id !== id);
  await forget("chats", id);
}
