// SPDX-License-Identifier: Apache-2.0
// The steps of a question, each with what it found.
import type { ComponentChildren } from "preact";
import { Code } from "../parts/code.js";
import { durationText, plural, spaced } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import type { Check, Question, Step } from "./types.js";

export function StepList({ question }: { question: Question }) {
  const { steps, state, took_ms } = question;
  if (steps.length === 0) return state === "running" ? <p class="quiet">Waiting for a sandbox…</p> : null;
  const runs = state === "running";
  return (
    <details class="ask-steps" open={runs}>
      <summary>
        {runs ? "Steps" : plural(steps.length, "step")}
        {took_ms !== undefined && <span class="quiet"> in {durationText(took_ms)}</span>}
      </summary>
      <ol>
        {steps.map((step, at) => (
          <StepItem key={at} step={step} stopped={!runs && !step.ended} />
        ))}
      </ol>
    </details>
  );
}

function StepItem({ step, stopped }: { step: Step; stopped: boolean }) {
  const bad = (step.errors?.length ?? 0) > 0;
  const found = step.ended ? (finds[step.name]?.(step) ?? null) : null;
  const mark = !step.ended ? (stopped ? "stop" : "more") : bad ? "close" : "check";
  const kind = !step.ended ? "busy" : bad ? "bad" : "good";
  const state = !step.ended ? (stopped ? "stopped" : "under way") : bad ? "failed" : "done";
  return (
    <li class={`ask-step ${kind}`}>
      <span class="ask-step-head">
        <Icon name={mark} size={16} />
        <span>{step.text.charAt(0).toUpperCase() + step.text.slice(1)}</span>
        <span class="hidden-text">{state}</span>
        {step.part !== undefined && !step.ended && <progress value={step.part} max={1} aria-label="How much of the table is read" />}
      </span>
      {found && <div class="ask-found">{found}</div>}
    </li>
  );
}

const finds: Record<string, (step: Step) => ComponentChildren> = {
  scan: ({ assumed }) => assumed && assumed.length > 0 && <Texts texts={assumed} />,
  plan: ({ plan }) =>
    plan?.steps && (
      <ol class="ask-plan">
        {plan.steps.map((each, at) => (
          <li key={at}>
            <b>{each.operation}</b> {each.detail}
          </li>
        ))}
      </ol>
    ),
  expect: ({ expect }) => expect && expect.length > 0 && <Texts texts={expect.map(checkText)} />,
  code: ({ code }) => code && <Code text={code} label="Code" />,
  guard: Errors,
  run: Errors,
  test: ({ tests, errors }) => (tests && tests.length > 0 ? <Checks checks={tests} /> : <Errors errors={errors} />),
};

export function Errors({ errors }: { errors?: string[] | undefined }) {
  return errors && errors.length > 0 ? (
    <>
      {errors.map((error, at) => (
        <pre key={at} class="ask-error">
          {error}
        </pre>
      ))}
    </>
  ) : null;
}

export function Texts({ texts }: { texts: string[] }) {
  return (
    <ul class="ask-texts">
      {texts.map((text, at) => (
        <li key={at}>{text}</li>
      ))}
    </ul>
  );
}

/** {"check": "same_sum", "column": "tax", "tolerance": 1} -> "same sum: column tax, tolerance 1". */
function checkText({ check, ...rest }: Record<string, unknown>): string {
  const parts = Object.entries(rest).map(([name, value]) => `${spaced(name)} ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return `${spaced(String(check))}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
}

/** What a check says that has nothing to add. */
const HOLDS = "it holds";

/** Checks with whether each holds. */
export function Checks({ checks }: { checks: Check[] }) {
  return (
    <ul class="ask-checks">
      {checks.map((each, at) => (
        <li key={at} class={each.ok ? "good" : "bad"}>
          <Icon name={each.ok ? "check" : "close"} size={16} />
          <span>
            <b>{each.ok ? "Passed" : "Failed"}</b> {checkText(each.check)}
            {each.message && each.message !== HOLDS && <span class="quiet"> {each.message}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
