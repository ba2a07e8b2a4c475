// SPDX-License-Identifier: Apache-2.0
// Formulas in LaTeX, by KaTeX, which is loaded with the first one.
import { useEffect, useRef } from "preact/hooks";
import "./output.css";

const LONGEST_TEX = 20_000; // characters

/** Shows TEX in ELEMENT; what KaTeX does not understand stays as text. */
export async function showTex(element: HTMLElement, tex: string, block: boolean): Promise<void> {
  element.textContent = tex;
  if (tex.length > LONGEST_TEX) return;
  const [{ default: katex }] = await Promise.all([import("katex"), import("katex/dist/katex.min.css")]);
  // trust: false, so that no command makes a link, a picture or an attribute.
  const options = { displayMode: block, throwOnError: false, trust: false, strict: "ignore", maxSize: 50, maxExpand: 500 } as const;
  withoutStyleAttributes(() => katex.render(tex, element, options));
}

/** KaTeX sets some styles (of \vec, of errors) by the attribute, which the page's policy refuses; WORK sets them as properties. */
function withoutStyleAttributes(work: () => void): void {
  const { setAttribute } = Element.prototype;
  Element.prototype.setAttribute = function (this: Element, name: string, value: string) {
    if (name === "style" && "style" in this) (this as HTMLElement).style.cssText = value;
    else setAttribute.call(this, name, value);
  };
  try {
    work();
  } finally {
    Element.prototype.setAttribute = setAttribute;
  }
}

/** TEXT of text/latex: a formula with or without its dollars. */
export function Tex({ text }: { text: string }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (ref.current) void showTex(ref.current, bare(text), true);
  }, [text]);
  return <div class="output-tex" ref={ref} tabIndex={0} role="group" aria-label="Formula" />;
}

function bare(text: string): string {
  const trimmed = text.trim();
  for (const [begin, end] of [["$$", "$$"], ["$", "$"], ["\\[", "\\]"], ["\\(", "\\)"]] as const) {
    if (trimmed.startsWith(begin) && trimmed.endsWith(end) && trimmed.length >= begin.length + end.length) {
      return trimmed.slice(begin.length, trimmed.length - end.length).replace(/^\\displaystyle\s*/, "");
    }
  }
  return trimmed;
}
