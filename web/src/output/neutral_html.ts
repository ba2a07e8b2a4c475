// SPDX-License-Identifier: Apache-2.0
// HTML that a document under a strict policy can parse without a report. A browser applies the policy of the page even to documents
// that are never shown, and reports each style, handler and base that it finds there, so these are taken out of the text beforehand.
// This decides nothing about safety: that is what sanitize.ts does with what is left.

/** The name that `style` has until the sanitiser has looked at it. */
export const STYLE_ATTRIBUTE = "data-adder-style";

export interface NeutralHtml {
  /** Tags in one plain form, without comments, and without elements whose content is no HTML. */
  html: string;
  /** The style sheets that were in it. */
  sheets: string[];
}

const TAG = /<(?:!--|[!?]|(\/?)([a-zA-Z][^\s/>\0]*))/g;
// The rules of the HTML standard for attributes: a name may contain almost anything, and "=" if it begins with it.
const ATTRIBUTE = /[\s/]*(=?[^\s/>=]*)(?:\s*=\s*(?:"([^"]*)("|$)|'([^']*)('|$)|([^\s>"'][^\s>]*|)))?/y;
/** Elements whose content is text for the tokenizer. */
const RAW = new Set("script style textarea title xmp iframe noembed noframes plaintext noscript template".split(" "));
const DROPPED = new Set("base meta link html head body frame frameset object embed portal".split(" "));

export function neutralHtml(text: string): NeutralHtml {
  const parts: string[] = [];
  const sheets: string[] = [];
  let at = 0;
  for (;;) {
    TAG.lastIndex = at;
    const match = TAG.exec(text);
    if (!match) break;
    parts.push(escapedText(text.slice(at, match.index)));
    at = match.index + match[0].length;
    if (match[2] === undefined) {
      at = afterComment(text, match[0], at);
      continue;
    }
    const name = match[2].toLowerCase();
    const { end, attributes } = attributesOf(text, at);
    at = end;
    if (RAW.has(name)) {
      const content = match[1] ? undefined : rawContent(text, name, at);
      if (content) at = content.end;
      if (content && name === "style") sheets.push(content.text);
    } else if (!DROPPED.has(name) && /^[a-z][\w:-]*$/.test(name)) {
      parts.push(match[1] ? `</${name}>` : `<${name}${attributes}>`);
    }
  }
  parts.push(escapedText(text.slice(at)));
  return { html: parts.join(""), sheets };
}

/** A "<" that begins no tag is text. References stay as they are. */
function escapedText(text: string): string {
  return text.replace(/</g, "&lt;").replace(/\0/g, "");
}

function afterComment(text: string, begin: string, at: number): number {
  if (begin !== "<!--") return after(text, ">", at);
  const empty = /-?>/y;
  empty.lastIndex = at;
  if (empty.test(text)) return empty.lastIndex;
  const end = /--!?>/g;
  end.lastIndex = at;
  return end.test(text) ? end.lastIndex : text.length;
}

function after(text: string, what: string, at: number): number {
  const found = text.indexOf(what, at);
  return found < 0 ? text.length : found + what.length;
}

function attributesOf(text: string, from: number): { end: number; attributes: string } {
  let attributes = "";
  let at = from;
  while (at < text.length && text[at] !== ">") {
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(text);
    if (!match || match[0] === "") {
      at++;
      continue;
    }
    at = ATTRIBUTE.lastIndex;
    attributes += attributeText((match[1] ?? "").toLowerCase(), match[2] ?? match[4] ?? match[6] ?? "");
  }
  return { end: Math.min(at + 1, text.length), attributes };
}

/** VALUE may have references; they stay references. */
function attributeText(name: string, value: string): string {
  if (!/^[a-z_][\w:.-]*$/.test(name) || name.startsWith("on")) return "";
  const safe = value.replace(/"/g, "&quot;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\0/g, "");
  return ` ${name === "style" ? STYLE_ATTRIBUTE : name}="${safe}"`;
}

function rawContent(text: string, name: string, at: number): { text: string; end: number } {
  const closing = new RegExp(`</${name}(?=[\\s/>])[^>]*>?`, "gi");
  closing.lastIndex = at;
  const match = name === "plaintext" ? null : closing.exec(text);
  return match ? { text: text.slice(at, match.index), end: closing.lastIndex } : { text: text.slice(at), end: text.length };
}
