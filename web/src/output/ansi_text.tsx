// SPDX-License-Identifier: Apache-2.0
// Text with the colours that it has at a terminal.
import { type AnsiStyle, ansiPieces } from "./ansi.js";
import "./output.css";

/** TEXT as spans; `before` is the style in which it begins. */
export function AnsiText({ text, before }: { text: string; before?: AnsiStyle | undefined }) {
  const { pieces } = ansiPieces(text, before);
  return (
    <>
      {pieces.map(({ text, style }, index) => {
        const look = lookOf(style);
        return look ? (
          <span key={index} class={look.classes} style={look.css}>
            {text}
          </span>
        ) : (
          text
        );
      })}
    </>
  );
}

interface Look {
  classes: string;
  css: Record<string, string>;
}

function lookOf(style: AnsiStyle): Look | undefined {
  const classes: string[] = [];
  const css: Record<string, string> = {};
  for (const flag of ["bold", "faint", "italic", "underline"] as const) if (style[flag]) classes.push(`ansi-${flag}`);
  const [color, background] = style.inverse ? [style.background ?? "var(--surface)", style.color ?? "var(--text)"] : [style.color, style.background];
  if (color !== undefined) css["color"] = colorOf(color);
  if (background !== undefined) css["backgroundColor"] = colorOf(background);
  return classes.length > 0 || color !== undefined || background !== undefined ? { classes: classes.join(" "), css } : undefined;
}

function colorOf(color: number | string): string {
  return typeof color === "number" ? `var(--ansi-${color})` : color;
}
