// SPDX-License-Identifier: Apache-2.0
// Which parts of a text have which colour. Python's parser is loaded when it is first needed.
import { signal } from "@preact/signals";

/** A piece of text. KIND is the class of its colour, "" for none; no span crosses the end of a line. */
export interface Span {
  text: string;
  kind: string;
}

export type Line = Span[];
export type Language = "python" | "diff" | "json" | "text";

/** Longer texts have no colours: to parse them would stop the page. */
const MOST_CHARACTERS = 300_000;

export type Painter = (text: string) => Span[];
const pythonPainter = signal<Painter | undefined>(undefined);
let asked = false;

const painters: Record<Language, () => Painter> = {
  python: loadedPython,
  diff: () => diffSpans,
  json: () => jsonSpans,
  text: () => plainSpans,
};

/** What colours TEXT. Until the parser is loaded it gives no colours; the signal that is read here says when it is. */
export function painterOf(text: string, language: Language): Painter {
  return text.length > MOST_CHARACTERS ? plainSpans : painters[language]();
}

/** The lines of TEXT, coloured by PAINT. */
export function linesOf(text: string, paint: Painter): Line[] {
  return splitLines(paint(text.replace(/\r\n/g, "\n")));
}

function loadedPython(): Painter {
  if (!asked) {
    asked = true;
    loadPython().catch(() => (asked = false)); // it stays without colours
  }
  return pythonPainter.value ?? plainSpans;
}

async function loadPython(): Promise<void> {
  const [{ parser }, { highlightTree, tagHighlighter, tags }] = await Promise.all([
    import("@lezer/python"),
    import("@lezer/highlight"),
  ]);
  const colours = tagHighlighter([
    { tag: [tags.keyword, tags.bool, tags.null, tags.self], class: "code-keyword" },
    { tag: [tags.string, tags.special(tags.string), tags.docString], class: "code-string" },
    { tag: [tags.number], class: "code-number" },
    { tag: [tags.comment], class: "code-comment" },
    { tag: [tags.className, tags.typeName, tags.definition(tags.className), tags.meta], class: "code-type" },
    { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], class: "code-name" },
  ]);
  pythonPainter.value = (text) => {
    const spans: Span[] = [];
    let at = 0;
    highlightTree(parser.parse(text), colours, (from, to, kind) => {
      if (from > at) spans.push({ text: text.slice(at, from), kind: "" });
      spans.push({ text: text.slice(from, to), kind });
      at = to;
    });
    return [...spans, { text: text.slice(at), kind: "" }];
  };
}

function plainSpans(text: string): Span[] {
  return [{ text, kind: "" }];
}

const diffKinds: Array<[RegExp, string]> = [
  [/^(\+\+\+|---) /, "code-comment"],
  [/^@@/, "code-type"],
  [/^\+/, "code-added"],
  [/^-/, "code-removed"],
  [/^\\/, "code-comment"],
];

function diffSpans(text: string): Span[] {
  return text.split("\n").flatMap((line, index, all) => {
    const kind = diffKinds.find(([start]) => start.test(line))?.[1] ?? "";
    const end = index < all.length - 1 ? [{ text: "\n", kind: "" }] : [];
    return [{ text: line, kind }, ...end];
  });
}

const JSON_TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;

function jsonSpans(text: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const found of text.matchAll(JSON_TOKEN)) {
    const token = found[1] ?? found[0];
    const kind = found[2] ? "code-name" : found[1] ? "code-string" : /^[tfn]/.test(token) ? "code-keyword" : "code-number";
    spans.push({ text: text.slice(at, found.index), kind: "" }, { text: token, kind });
    at = found.index + token.length;
  }
  return [...spans, { text: text.slice(at), kind: "" }];
}

function splitLines(spans: Span[]): Line[] {
  const lines: Line[] = [[]];
  for (const { text, kind } of spans) {
    text.split("\n").forEach((part, index) => {
      if (index > 0) lines.push([]);
      if (part) lines.at(-1)?.push({ text: part, kind });
    });
  }
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  return lines;
}
