// SPDX-License-Identifier: Apache-2.0
// One question with its steps and its answer.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { durationText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { useNow } from "../parts/now.js";
import { Answer } from "./answer.js";
import { stop } from "./asking.js";
import { RerunDialog } from "./rerun.js";
import { StepList } from "./step_list.js";
import type { Conversation, Question } from "./types.js";

export function QuestionView({ conversation, question }: { conversation: Conversation; question: Question }) {
  const reruns = useSignal(false);
  const now = question.steps.at(-1);
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (question.state === "running") place.current?.scrollIntoView({ block: "start" }); // it was asked just now
  }, []);
  return (
    <article class="ask-question card" ref={place} aria-label={question.text}>
      <header>
        <h2>{question.text}</h2>
        {question.rerun && <p class="quiet">The same code with {question.tables.map((table) => table.file).join(", ")}</p>}
        <p class="hidden-text" role="status">
          {question.state === "running" ? `Under way: ${now?.text ?? "waiting"}` : question.state}
        </p>
        {question.state === "running" && (
          <>
            <Elapsed since={question.began} />
            <button type="button" class="danger" onClick={() => stop(question.id)}>
              <Icon name="stop" size={16} /> Stop
            </button>
          </>
        )}
      </header>
      <StepList question={question} />
      {question.problem && <p class={question.state === "stopped" ? "notice" : "failure"}>{question.problem}</p>}
      <Answer question={question} onRerun={() => (reruns.value = true)} />
      {reruns.value && <RerunDialog conversation={conversation} question={question} onClose={() => (reruns.value = false)} />}
    </article>
  );
}

/** Whole seconds, so that one sees that the work goes on. */
function Elapsed({ since }: { since: number }) {
  const seconds = Math.floor((useNow(1000) - since) / 1000);
  return seconds > 0 ? <span class="quiet ask-elapsed">{durationText(seconds * 1000).replace(".0", "")}</span> : null;
}
