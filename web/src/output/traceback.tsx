// SPDX-License-Identifier: Apache-2.0
// Why a run failed: the exception, the line, the traceback, and what to do about it.
import type { RunError } from "adder-client";
import { AnsiText } from "./ansi_text.js";
import "./output.css";

interface TracebackProps {
  error: RunError;
  /** Shows the line of the code. */
  onLine?: ((line: number) => void) | undefined;
}

export function Traceback({ error, onLine }: TracebackProps) {
  const { line } = error;
  return (
    <div class="output-error" role="group" aria-label="Error">
      <p class="output-error-head">
        <strong>{error.type}</strong>
        {error.message && <span>{error.message}</span>}
        {line !== null &&
          (onLine ? (
            <button type="button" class="link" onClick={() => onLine(line)}>
              line {line}
            </button>
          ) : (
            <span class="quiet">line {line}</span>
          ))}
      </p>
      {error.traceback && (
        <pre class="output-traceback" tabIndex={0} aria-label="Traceback">
          {error.traceback.trimEnd().split("\n").map((text, index) => (
            <TracebackLine key={index} text={text} line={line} />
          ))}
        </pre>
      )}
      {error.hint && <p class="output-hint">{error.hint}</p>}
    </div>
  );
}

/** One line; that which names the failing line of the code stands out. */
function TracebackLine({ text, line }: { text: string; line: number | null }) {
  const marked = line !== null && /^\s+File "/.test(text) && new RegExp(`, line ${line}(?:,|$)`).test(text);
  return (
    <>
      <span class={marked ? "output-marked" : undefined}>
        <AnsiText text={text} />
      </span>
      {"\n"}
    </>
  );
}
