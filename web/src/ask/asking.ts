// SPDX-License-Identifier: Apache-2.0
// One question: the call of ask_csv, and its events as steps.
import { adder, messageOf } from "../app/api.js";
import { change, changeQuestion, changeSteps } from "./state.js";
import { tableArguments } from "./tables.js";
import type { AskedTable, Conversation, Question, Reply, Step } from "./types.js";

/** What ask_csv takes as a question. */
const QUESTION_MAX = 10_000;
const CONTEXT_MAX = 6_000;

const running = new Map<string, AbortController>();

/** Ends the question ID, and what it runs. */
export function stop(id: string): void {
  running.get(id)?.abort();
}

/** Asks TEXT about the conversation's tables. */
export function askQuestion(conversation: Conversation, text: string): Promise<void> {
  const question = questionOf(text, conversation.tables, conversation);
  return take(conversation, question, { question: withContext(conversation, text) });
}

/** Runs the code of an answer again, on TABLES, which have the names that it knows. */
export function askAgain(conversation: Conversation, answered: Question, tables: AskedTable[]): Promise<void> {
  const question: Question = { ...questionOf(answered.text, tables, conversation), rerun: true };
  const expect = answered.reply?.tests.map((test) => test.check) ?? [];
  return take(conversation, question, { question: answered.text, code: answered.reply?.code, expect });
}

function questionOf(text: string, tables: AskedTable[], { options }: Conversation): Question {
  return { id: crypto.randomUUID(), text, tables, options, state: "running", began: Date.now(), steps: [] };
}

/** The model has no memory of earlier questions, so a later one brings them along. */
function withContext({ questions }: Conversation, text: string): string {
  const parts: string[] = [];
  let length = 0;
  for (const { text: asked, reply, rerun } of questions.toReversed()) {
    if (rerun || !reply?.answer || !reply.code) continue;
    const part = `Question: ${asked}\nCode:\n${reply.code}\nAnswer: ${reply.answer}`;
    length += part.length;
    if (length > CONTEXT_MAX) break;
    parts.unshift(part);
  }
  const context = parts.length > 0 ? `\n\nIt follows these questions, which are answered:\n\n${parts.join("\n\n")}` : "";
  return (text + context).slice(0, QUESTION_MAX);
}

async function take(conversation: Conversation, question: Question, what: Record<string, unknown>): Promise<void> {
  const { id } = conversation;
  const controller = new AbortController();
  running.set(question.id, controller);
  change(id, (old) => ({ ...old, title: old.title || question.text, questions: [...old.questions, question] }));
  const end = (more: Partial<Question>) =>
    changeQuestion(id, question.id, (old) => ({ ...old, ...more, took_ms: Date.now() - old.began }));
  try {
    const reply = await follow(id, question, what, controller.signal);
    end({ reply, state: reply.error || reply.outcome !== "ok" || reply.errors.length > 0 ? "failed" : "answered" });
  } catch (error) {
    end(controller.signal.aborted ? { state: "stopped", problem: "Stopped." } : { state: "failed", problem: messageOf(error) });
  } finally {
    running.delete(question.id);
  }
}

async function follow(id: string, question: Question, what: Record<string, unknown>, signal: AbortSignal): Promise<Reply> {
  const given = { ...tableArguments(question.tables, question.options), charts: true, ...what };
  for await (const event of adder.tools.stream("ask_csv", given, { toolset: "analyst", conversation: id, signal })) {
    if (event.type === "reply") return event.reply.reply as unknown as Reply;
    if (event.type === "progress") changeSteps(id, question.id, (steps) => stepsAfter(steps, event));
  }
  throw new Error("The daemon ended the answer early. Ask again.");
}

interface Told {
  text: string;
  done: number;
  of: number;
  step?: { name: string; ended: boolean } & Record<string, unknown>;
}

/** The steps once EVENT came: one began, or the last one has ended or got on. */
function stepsAfter(steps: Step[], { text, done, of, step }: Told): Step[] {
  const last = steps.at(-1);
  if (step && !step.ended) return [...steps, { name: step.name, text, ended: false }];
  if (!last) return steps;
  const now: Step = step ? { ...last, ...step } : of > 0 ? { ...last, part: done / of } : last;
  return [...steps.slice(0, -1), now];
}
