// SPDX-License-Identifier: Apache-2.0
// The conversations about tables that this browser keeps, and the one that is shown.
import { conversationsOf } from "../parts/conversations.js";
import { keptOwner } from "../parts/kept.js";
import type { Conversation, Question, Step } from "./types.js";

export const { all: conversations, current, begin, change, remove, useShown } = conversationsOf<Conversation>({
  keptIn: "questions",
  fresh: () => ({
    id: `ask-${crypto.randomUUID()}`,
    owner: keptOwner(),
    changed: Date.now(),
    title: "",
    tables: [],
    options: {},
    questions: [],
  }),
  isBegun: (conversation) => conversation.tables.length > 0,
  afterReload,
});

/** What was under way when the page was left has no answer. */
function afterReload(conversation: Conversation): Conversation {
  const ended = (question: Question): Question =>
    question.state === "running" ? { ...question, state: "stopped", problem: "The page was closed before the answer came." } : question;
  return { ...conversation, questions: conversation.questions.map(ended) };
}

export function changeQuestion(id: string, question: string, how: (question: Question) => Question, silent = false): void {
  const each = (one: Question) => (one.id === question ? how(one) : one);
  change(id, (conversation) => ({ ...conversation, questions: conversation.questions.map(each) }), silent);
}

export function changeSteps(id: string, question: string, how: (steps: Step[]) => Step[]): void {
  changeQuestion(id, question, (one) => ({ ...one, steps: how(one.steps) }), true);
}
