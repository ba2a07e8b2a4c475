// SPDX-License-Identifier: Apache-2.0
// The loop of a turn: the model answers, its calls are carried out, it gets their results, until it answers in words or a limit is
// reached. It knows neither the page nor the daemon: what it needs is in its ports.
import { type CallPart, callsOf, type Message, type ModelAnswer, resultMessage, textOf, type ToolDefinition, type Usage } from "./messages.js";
import { Repeats } from "./repeats.js";

export interface Limits {
  /** Answers of the model. */
  steps: number;
  /** Of the turn, without the time in which a person decides. */
  ms: number;
}

export const LIMITS: Limits = { steps: 10, ms: 10 * 60_000 };
export const MOST: Limits = { steps: 50, ms: 60 * 60_000 };
const CALLS = 32; // of one answer
const UNREADABLE = 3; // answers in a row

/** What came of a call. */
export interface Called {
  /** For the model. */
  text: string;
  isError: boolean;
  /** The user stopped it, or the time was over. */
  stopped?: boolean;
  /** It did not run: a person has to approve it first. */
  approvalId?: string | undefined;
  /** For people. */
  reply?: Record<string, unknown> | undefined;
}

/** A person's word, or why there is none any more. */
export interface Decision {
  approved: boolean;
  reason: string;
}

export type LoopEvent =
  | { type: "asking"; step: number }
  | { type: "answered"; text: string; usage: Usage }
  | { type: "began"; call: CallPart }
  | { type: "waiting"; call: CallPart; approvalId: string }
  | { type: "decided"; call: CallPart; decision: Decision }
  | { type: "ended"; call: CallPart; called: Called };

/** What the loop needs. Each function rejects once SIGNAL is aborted. */
export interface Ports {
  ask(messages: Message[], signal: AbortSignal): Promise<ModelAnswer>;
  call(call: CallPart, approvalId: string | undefined, signal: AbortSignal): Promise<Called>;
  decide(approvalId: string, signal: AbortSignal): Promise<Decision>;
  tell(event: LoopEvent): void;
}

export type Reason = "completed" | "steps" | "time" | "loop" | "model" | "cancelled";

export interface End {
  reason: Reason;
  /** Why it is not completed, in a sentence. */
  message?: string;
}

const texts = {
  repeated:
    "This was not done: you have made the same call with the same arguments three times running, and it would return the same. " +
    "Change your approach: use other arguments or another function, or report what you have.",
  cancelled: "This was cancelled by the user.",
  tooMany: `This was not done: an answer can have ${CALLS} calls, and this is one too many. Look at their results first.`,
};

/** One turn. MESSAGES ends with what the user said, and is continued in place: it is a valid conversation whatever the end is. */
export async function runTurn(messages: Message[], tools: ToolDefinition[], ports: Ports, limits: Limits, stop: AbortSignal): Promise<End> {
  const turn = new Turn(messages, tools, ports, limits, stop);
  try {
    return await turn.run();
  } finally {
    turn.close();
  }
}

class Turn {
  readonly #repeats = new Repeats();
  readonly #clock = new AbortController();
  readonly #signal: AbortSignal;
  #left: number;
  #since = Date.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unreadable = 0;

  constructor(
    readonly messages: Message[],
    readonly tools: ToolDefinition[],
    readonly ports: Ports,
    readonly limits: Limits,
    readonly stop: AbortSignal,
  ) {
    this.#left = limits.ms;
    this.#signal = AbortSignal.any([stop, this.#clock.signal]);
    this.#resume();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** The clock stands still while a person decides. */
  #pause(): void {
    clearTimeout(this.#timer);
    this.#left -= Date.now() - this.#since;
  }

  #resume(): void {
    this.#since = Date.now();
    this.#timer = setTimeout(() => this.#clock.abort(), Math.max(this.#left, 0));
  }

  async run(): Promise<End> {
    for (let step = 1; step <= this.limits.steps; step++) {
      const end = this.#stopped() ?? (await this.#step(step));
      if (end) return end;
    }
    return { reason: "steps", message: `The limit of ${this.limits.steps} steps is reached. Say "go on" to continue.` };
  }

  #stopped(): End | undefined {
    if (this.stop.aborted) return { reason: "cancelled", message: "Stopped." };
    if (!this.#clock.signal.aborted) return undefined;
    return { reason: "time", message: `The limit of ${Math.round(this.limits.ms / 60_000)} minutes is reached. Say "go on" to continue.` };
  }

  async #step(step: number): Promise<End | undefined> {
    let answer: ModelAnswer;
    this.ports.tell({ type: "asking", step });
    try {
      answer = await this.ports.ask(this.messages, this.#signal);
    } catch (error) {
      return this.#stopped() ?? { reason: "model", message: error instanceof Error ? error.message : String(error) };
    }
    this.messages.push(answer.message);
    this.ports.tell({ type: "answered", text: textOf(answer.message), usage: answer.usage });
    const calls = callsOf(answer.message);
    if (calls.length > 0) return this.#calls(calls);
    if (answer.stop === "refusal") return { reason: "model", message: "The model refused to answer." };
    if (answer.stop === "length") return { reason: "completed", message: "The answer was cut off: it is longer than the model's limit." };
    return { reason: "completed" };
  }

  /** Every call gets a result, whatever came of it: models' APIs insist on that. */
  async #calls(calls: CallPart[]): Promise<End | undefined> {
    let end: End | undefined;
    let readable = false;
    for (const [at, call] of calls.entries()) {
      this.ports.tell({ type: "began", call });
      const called = await this.#carryOut(call, at, end !== undefined);
      readable ||= called.readable;
      end ??= called.end;
      this.messages.push(resultMessage(call, called.text, called.isError));
      this.ports.tell({ type: "ended", call, called });
    }
    this.#unreadable = readable ? 0 : this.#unreadable + 1;
    if (!end && this.#unreadable >= UNREADABLE) return { reason: "model", message: `The model made ${UNREADABLE} calls in a row that cannot be read.` };
    return end ?? this.#stopped();
  }

  async #carryOut(call: CallPart, at: number, over: boolean): Promise<Called & { end?: End; readable: boolean }> {
    const refused = (text: string, readable = true) => ({ text, isError: true, readable });
    const stopped = { text: texts.cancelled, isError: true, readable: true, stopped: true };
    if (over || this.#stopped()) return stopped;
    if (at >= CALLS) return refused(texts.tooMany);
    if (!call.arguments) return refused(`The arguments of the call are not one JSON object: ${(call.raw ?? "").slice(0, 200)}`, false);
    if (!this.tools.some((tool) => tool.name === call.name)) return refused(this.#unknown(call.name), false);
    const verdict = this.#repeats.see(call.name, call.arguments);
    if (verdict === "over") {
      return { ...refused(texts.repeated), end: { reason: "loop", message: `The model made the same call of ${call.name} five times running.` } };
    }
    if (verdict === "refuse") return refused(texts.repeated);
    try {
      return { ...(await this.#call(call)), readable: true };
    } catch (error) {
      return this.#stopped() ? stopped : refused(error instanceof Error ? error.message : String(error));
    }
  }

  #unknown(name: string): string {
    return `There is no function "${name}". There are: ${this.tools.map((tool) => tool.name).join(", ")}.`;
  }

  /** Calls; where a person has to approve it first, waits for their word and makes the same call again. */
  async #call(call: CallPart): Promise<Called> {
    const called = await this.ports.call(call, undefined, this.#signal);
    if (!called.approvalId) return called;
    const decision = await this.#decide(call, called.approvalId);
    if (decision.approved) return this.ports.call(call, called.approvalId, this.#signal);
    const why = decision.reason ? `: ${decision.reason}` : "";
    return { text: `This was not done: it needs a person's approval, and they denied it${why}. Go on without it if you can.`, isError: true };
  }

  async #decide(call: CallPart, approvalId: string): Promise<Decision> {
    this.#pause();
    try {
      this.ports.tell({ type: "waiting", call, approvalId });
      const decision = await this.ports.decide(approvalId, this.stop);
      this.ports.tell({ type: "decided", call, decision });
      return decision;
    } finally {
      this.#resume();
    }
  }
}
