// SPDX-License-Identifier: Apache-2.0
// Markdown with formulas. Its parser is loaded with the first text.
import { useEffect, useRef } from "preact/hooks";
import { showTex } from "./tex.js";
import "./output.css";

export function Markdown({ text }: { text: string }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let current = true;
    void import("./markdown_html.js").then(({ markdownHtml }) => {
      if (!current || !ref.current) return;
      ref.current.innerHTML = markdownHtml(text);
      for (const element of ref.current.querySelectorAll<HTMLElement>(".tex-block, .tex-display, .tex-inline")) {
        void showTex(element, element.textContent ?? "", !element.classList.contains("tex-inline"));
      }
    });
    return () => {
      current = false;
    };
  }, [text]);
  return <div class="output-markdown" ref={ref} />;
}
