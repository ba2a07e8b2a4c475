// SPDX-License-Identifier: Apache-2.0
// The output of a background run while it runs.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { DisplayEvent } from "../../../clients/typescript/src/events.js";
import { http, messageOf, pathOf, queryOf } from "../app/api.js";
import { everybody } from "../app/caller.js";
import { online } from "../app/feed.js";
import { DisplayView } from "../output/display_view.js";
import { plural } from "../parts/format.js";
import { oncePerFrame } from "../parts/frames.js";
import type { KnownRun } from "./run_state.js";
import { Section } from "./section.js";

/** The end of the output that is shown. The result has the rest. */
const SHOWN_CHARACTERS = 200_000;
const MOST_DISPLAYS = 50;
let last = 0;

export function RunLive({ known, onEnd }: { known: KnownRun; onEnd: () => void }) {
  if (known.state.can_follow) return <Followed id={known.state.run_id} onEnd={onEnd} />;
  return (
    <Section title="Output">
      <p class="quiet">
        The output of this run goes to the program that began it. Only background and detached runs can be followed from here. The page shows how the run ended as
        soon as it does.
      </p>
    </Section>
  );
}

function Followed({ id, onEnd }: { id: string; onEnd: () => void }) {
  const output = useRef<HTMLPreElement>(null);
  const problem = useSignal<string | undefined>(undefined);
  const note = useSignal("");
  const displays = useSignal<Shown[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    displays.value = [];
    problem.value = undefined;
    const tail = new Tail(() => output.current);
    follow(id, { tail, note, displays }, stop.signal).then(
      () => stop.signal.aborted || onEnd(),
      (error) => {
        if (!stop.signal.aborted) problem.value = messageOf(error);
      },
    );
    return () => stop.abort();
  }, [id, online.value]);
  return (
    <Section title="Output">
      <pre ref={output} class="command run-code" role="log" aria-label="Output so far" tabIndex={0} />
      {displays.value.map((each) => (
        <DisplayView key={each.key} data={each.data} />
      ))}
      <p class="quiet" role="status">
        {problem.value ? `The output cannot be followed further: ${problem.value}` : note.value || "Follows the run…"}
      </p>
    </Section>
  );
}

interface Shown {
  key: string;
  data: Record<string, unknown>;
}

interface Place {
  tail: Tail;
  note: { value: string };
  displays: { value: Shown[] };
}

/** Shows the events of the run ID in PLACE, up to its end. */
async function follow(id: string, { tail, note, displays }: Place, signal: AbortSignal): Promise<void> {
  const query = queryOf({ owner: everybody() });
  const path = `${pathOf("v1", "runs", id, "events")}${query.size > 0 ? `?${query}` : ""}`;
  for await (const event of http.events({ path, lastEventId: 0 }, "result", { signal })) {
    if (event.type === "stdout" || event.type === "stderr") tail.add(event.text);
    if (event.type === "display") displays.value = withDisplay(displays.value, event);
    if (event.type === "missed") tail.add(`… ${plural(event.events, "event")} that the daemon no longer holds …\n`);
    if (event.type === "progress") note.value = event.of > 0 ? `${event.text} (${event.done} of ${event.of})` : event.text;
  }
}

/** The last displays; an update takes the place of what it updates. */
function withDisplay(all: Shown[], event: DisplayEvent): Shown[] {
  const key = event.display_id ?? `#${(last = last + 1)}`;
  const known = all.some((each) => each.key === key);
  if (known) return all.map((each) => (each.key === key ? { key, data: event.data } : each));
  return [...all, { key, data: event.data }].slice(-MOST_DISPLAYS);
}

/** The end of a long text in an element, written once a frame. */
class Tail {
  #text = "";
  readonly #soon = oncePerFrame(() => this.#write());
  readonly #element: () => HTMLElement | null;

  constructor(element: () => HTMLElement | null) {
    this.#element = element;
  }

  add(text: string): void {
    this.#text = (this.#text + text).slice(-SHOWN_CHARACTERS);
    this.#soon();
  }

  #write(): void {
    const element = this.#element();
    if (!element) return;
    const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 8;
    element.textContent = this.#text;
    if (atEnd) element.scrollTop = element.scrollHeight;
  }
}
