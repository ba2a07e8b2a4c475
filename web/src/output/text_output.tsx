// SPDX-License-Identifier: Apache-2.0
// Printed text, of which the browser lays out only what can be seen.
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { plural } from "../parts/format.js";
import { AnsiText } from "./ansi_text.js";
import { type TextChunk, TextChunks } from "./text_chunks.js";
import "./output.css";

const LINE_PX = 19;
const FEW = 3; // chunks that are always laid out

interface TextOutputProps {
  /** Text as it is, or text that grows. */
  text: string | TextChunks;
  name: "stdout" | "stderr" | "text";
  /** Grows with each change of TextChunks. */
  version?: number;
  /** What is said about the lines that are not shown any more. */
  earlier?: ComponentChildren;
}

const labels = { stdout: "Standard output", stderr: "Standard error", text: "Text" };

/** Text in a box that scrolls; while its end is in view, it stays in view. */
export function TextOutput({ text, name, version = 0, earlier }: TextOutputProps) {
  const chunks = useMemo(() => (typeof text === "string" ? new TextChunks(text) : text), [text]);
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (element && atEnd.current && version > 0) element.scrollTop = element.scrollHeight;
  }, [version]);
  const onScroll = () => {
    const element = box.current;
    if (element) atEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - LINE_PX;
  };
  return (
    <div class={`output-text ${name}`} ref={box} onScroll={onScroll} tabIndex={0} role="group" aria-label={labels[name]}>
      {chunks.dropped > 0 && (
        <p class="output-earlier">
          {plural(chunks.dropped, "earlier line")} {chunks.dropped === 1 ? "is" : "are"} not shown here. {earlier}
        </p>
      )}
      {chunks.chunks.map((chunk) => (
        <Chunk key={chunk.id} chunk={chunk} many={chunks.chunks.length > FEW} />
      ))}
    </div>
  );
}

const Chunk = memo(
  ({ chunk, many }: { chunk: TextChunk; many: boolean }) => (
    <pre class={many ? "output-chunk many" : "output-chunk"} style={{ containIntrinsicHeight: `auto ${Math.max(chunk.lines, 1) * LINE_PX}px` }}>
      <AnsiText text={chunk.text} before={chunk.before} />
    </pre>
  ),
  (before, after) => before.chunk === after.chunk && before.many === after.many,
);
