// SPDX-License-Identifier: Apache-2.0
// The conversations about tables that this browser keeps, and the one that is shown.
import { computed, signal } from "@preact/signals";
import { forget, keep, keptList, keptOwner } from "../parts/kept.js";
import { sayError } from "../parts/toasts.js";
import type { Conversation, Question, Step } from "./types.js";

export const conversations = signal<Conversation[]>([]);
export const currentId = signal<string | undefined>(undefined);
export const current = computed(() => conversations.value.find((each) => each.id === currentId.value));

let loadedFor: string | undefined;

/** Reads what the caller kept here. */
export async function load(): Promise<void> {
  if (loadedFor === keptOwner()) return;
  loadedFor = keptOwner();
  conversations.value = (await keptList<Conversation>("questions")).map(afterReload);
}

/** What was under way when the page was left has no answer. */
function afterReload(conversation: Conversation): Conversation {
  const ended = (question: Question): Question =>
    question.state === "running" ? { ...question, state: "stopped", problem: "The page was closed before the answer came." } : question;
  return { ...conversation, questions: conversation.questions.map(ended) };
}

/** A new, empty one, which is kept once it has a table. */
export function begin(): Conversation {
  const conversation: Conversation = {
    id: `ask-${crypto.randomUUID()}`,
    owner: keptOwner(),
    changed: Date.now(),
    title: "",
    tables: [],
    options: {},
    questions: [],
  };
  conversations.value = [conversation, ...conversations.value.filter((each) => each.tables.length > 0)];
  currentId.value = conversation.id;
  return conversation;
}

/** Changes the conversation ID, and keeps it unless `silent`. */
export function change(id: string, how: (conversation: Conversation) => Conversation, silent = false): void {
  const old = conversations.peek().find((each) => each.id === id);
  if (!old) return;
  const now = { ...how(old), changed: Date.now() };
  conversations.value = conversations.peek().map((each) => (each.id === id ? now : each));
  if (!silent && now.tables.length > 0) keep("questions", now).catch(sayError);
}

export function changeQuestion(id: string, question: string, how: (question: Question) => Question, silent = false): void {
  const each = (one: Question) => (one.id === question ? how(one) : one);
  change(id, (conversation) => ({ ...conversation, questions: conversation.questions.map(each) }), silent);
}

export function changeSteps(id: string, question: string, how: (steps: Step[]) => Step[]): void {
  changeQuestion(id, question, (one) => ({ ...one, steps: how(one.steps) }), true);
}

export async function remove(id: string): Promise<void> {
  conversations.value = conversations.peek().filter((each) => each.id !== id);
  await forget("questions", id);
}
