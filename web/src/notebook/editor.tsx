// SPDX-License-Identifier: Apache-2.0
// The place of a cell's editor. The editor itself is made when the cell comes into view; until then its text stands there.
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Cell } from "./cell.js";
import type { CellEditor, EditorEvents, Language } from "./editor_setup.js";

const NEAR_PX = 800;

type Setup = typeof import("./editor_setup.js");
let setup: Setup | undefined;

/** Calls WORK with the editor's code: at once if it is loaded, so that no key comes in between. */
function withSetup(work: (setup: Setup) => void): void {
  if (setup) work(setup);
  else
    void import("./editor_setup.js").then((loaded) => {
      setup = loaded;
      work(loaded);
    });
}

interface EditorProps {
  cell: Cell;
  language: Language;
  label: string;
  events: EditorEvents;
  /** Has the editor while there is one. */
  handle: { current: CellEditor | undefined };
  /** Called when there is one. */
  onMade: () => void;
  /** Whether it is made at once, even if it cannot be seen yet. */
  now: boolean;
}

export function Editor({ cell, language, label, events, handle, onMade, now }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const made = useSignal(false);
  const near = useNear(host) || now;
  useLayoutEffect(() => {
    const element = host.current;
    if (!near || !element) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    let gone = false;
    withSetup(({ createEditor }) => {
      if (gone) return;
      handle.current = createEditor(root, cell.source.peek(), language, label, events);
      made.value = true;
      onMade();
    });
    return () => {
      gone = true;
      handle.current?.end();
      handle.current = undefined;
      made.value = false;
    };
  }, [near, language, cell, events]);
  useEffect(() => {
    handle.current?.setLabel(label);
  }, [label, made.value]);
  useSignalEffect(() => {
    const text = cell.source.value;
    handle.current?.setText(text);
  });
  return (
    <div class="notebook-editor">
      <div ref={host} />
      {!made.value && <pre class="notebook-placeholder">{cell.source.peek() || " "}</pre>}
    </div>
  );
}

/** Whether the element is, or was, near what can be seen. */
function useNear(ref: { current: HTMLElement | null }): boolean {
  const near = useSignal(false);
  useEffect(() => {
    const element = ref.current?.parentElement;
    if (!element || near.value) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return;
        near.value = true;
        observer.disconnect();
      },
      { rootMargin: `${NEAR_PX}px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return near.value;
}
