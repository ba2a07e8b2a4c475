// SPDX-License-Identifier: Apache-2.0
// Code to be read: coloured, with numbered lines, and with what cannot be seen made visible.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import "./code.css";
import { type Language, type Line, linesOf, painterOf, type Span } from "./highlight.js";
import { brokenContinuation, mixesTabs, type Piece, reveal, tabPieces } from "./reveal.js";

interface CodeProps {
  text: string;
  language?: Language;
  /** Shows characters that are invisible, turn the direction of text or look like others, as marks: for code that somebody approves. */
  reveal?: boolean;
  /** Shows line numbers. */
  numbers?: boolean;
  /** Its name for screen readers. */
  label?: string;
}

/** Longer texts are shown in parts. */
const LINES_AT_ONCE = 1000;
const EMPTY_RUN = 12;

export function Code({ text, language = "python", reveal: reveals = false, numbers = false, label }: CodeProps) {
  const shown = useSignal(LINES_AT_ONCE);
  const paint = painterOf(text, language);
  const lines = useMemo(() => linesOf(text, paint), [text, paint]);
  const mixed = useMemo(() => reveals && mixesTabs(text), [text, reveals]);
  const rest = lines.length - shown.value;
  const classes = ["code", numbers && "numbered", reveals && "revealed", language === "diff" && "diff"].filter(Boolean).join(" ");
  return (
    <div class="code-box">
      <pre class={classes} aria-label={label} dir="ltr">
        <code>
          {lines.slice(0, shown.value).map((line, index) => (
            <CodeLine key={index} line={line} reveals={reveals} mixed={mixed} empties={reveals ? emptyRun(lines, index) : 0} />
          ))}
        </code>
      </pre>
      {rest > 0 && (
        <button type="button" onClick={() => (shown.value = shown.value + 10 * LINES_AT_ONCE)}>
          Show {Math.min(rest, 10 * LINES_AT_ONCE).toLocaleString()} more lines
        </button>
      )}
    </div>
  );
}

/** How many empty lines begin at INDEX, if that is the first and they are so many that what follows may be missed. */
function emptyRun(lines: Line[], index: number): number {
  if (isBlank(lines[index]) === false || (index > 0 && isBlank(lines[index - 1]))) return 0;
  let end = index;
  while (end < lines.length && isBlank(lines[end])) end++;
  return end - index >= EMPTY_RUN && end < lines.length ? end - index : 0;
}

function isBlank(line: Line | undefined): boolean {
  return line !== undefined && line.every((span) => !span.text.trim());
}

function CodeLine({ line, reveals, mixed, empties }: { line: Line; reveals: boolean; mixed: boolean; empties: number }) {
  const diffKind = line.length === 1 && /code-(added|removed)/.test(line[0]?.kind ?? "") ? ` ${line[0]?.kind}` : "";
  return (
    <span class={`code-line${diffKind}`}>
      {empties > 0 && <mark class="code-mark">{empties} empty lines</mark>}
      {reveals ? <RevealedLine line={line} mixed={mixed} /> : line.map((span, index) => <Coloured key={index} kind={span.kind} text={span.text} />)}
      {"\n"}
    </span>
  );
}

function Coloured({ kind, text }: { kind: string; text: string }) {
  return kind ? <span class={kind}>{text}</span> : <>{text}</>;
}

function RevealedLine({ line, mixed }: { line: Line; mixed: boolean }) {
  const whole = line.map((span) => span.text).join("");
  const trailing = brokenContinuation(whole);
  const indent = mixed ? (/^[ \t]*/.exec(whole)?.[0].length ?? 0) : 0;
  return (
    <>
      {indent > 0 && <Pieces pieces={tabPieces(whole.slice(0, indent))} />}
      {cut(line, indent, whole.length - trailing).map((span, index) => (
        <span key={index} class={span.kind || undefined}>
          <Pieces pieces={reveal(span.text, /string|comment|added|removed/.test(span.kind))} />
        </span>
      ))}
      {trailing > 0 && <Mark piece={{ text: "", label: "blank", why: "a blank after the backslash: the line does not continue" }} />}
    </>
  );
}

/** The part of LINE from character FROM to TO. */
function cut(line: Line, from: number, to: number): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const { text, kind } of line) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (part) spans.push({ text: part, kind });
    at += text.length;
  }
  return spans;
}

function Pieces({ pieces }: { pieces: Piece[] }) {
  return <>{pieces.map((piece, index) => (piece.label ? <Mark key={index} piece={piece} /> : <>{piece.text}</>))}</>;
}

function Mark({ piece }: { piece: Piece }) {
  return (
    <>
      {piece.text}
      <mark class="code-mark" title={piece.why}>
        {piece.label}
      </mark>
    </>
  );
}

/** A word or sentence of somebody else, such as a description or a path, with the same marks. */
export function Revealed({ text }: { text: string }) {
  return (
    <bdi class="revealed-text">
      <Pieces pieces={reveal(text, true)} />
    </bdi>
  );
}
