// SPDX-License-Identifier: Apache-2.0
// Markdown to HTML that is safe for the page. Formulas become elements of the class "tex-inline" or "tex-block".
import { Marked, type TokenizerAndRendererExtension } from "marked";
import { pageHtml } from "./sanitize.js";

function formula(name: string, level: "block" | "inline", pattern: RegExp): TokenizerAndRendererExtension {
  const begin = level === "block" ? /(?<=\n)\$\$/ : /\$/;
  const tag = level === "block" ? "div" : "span";
  return {
    name,
    level,
    start: (source) => begin.exec(source)?.index,
    tokenizer(source) {
      const match = pattern.exec(source);
      return match ? { type: name, raw: match[0], text: match[1]?.trim() ?? "" } : undefined;
    },
    renderer: (token) => `<${tag} class="${name}">${escaped(String(token["text"]))}</${tag}>`,
  };
}

const marked = new Marked({
  gfm: true,
  extensions: [
    formula("tex-block", "block", /^\$\$([^$]+?)\$\$(?:\n|$)/),
    formula("tex-display", "inline", /^\$\$([^$\n]+?)\$\$/),
    // A dollar before a digit after the formula is money: "$5 and $6".
    formula("tex-inline", "inline", /^\$((?:\\.|[^\s$\\])(?:(?:\\.|[^$\\\n])*?(?:\\.|[^\s$\\]))?)\$(?!\d)/),
  ],
});

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** What `innerHTML` accepts. */
export function markdownHtml(text: string): string {
  return pageHtml(marked.parse(text, { async: false }));
}
