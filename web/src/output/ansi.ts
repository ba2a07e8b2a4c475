// SPDX-License-Identifier: Apache-2.0
// Colours of terminals: text with escape sequences becomes pieces with a style. Sequences that do anything else are dropped.

/** How a piece looks. Colours are 0 to 15, or a text of CSS. */
export interface AnsiStyle {
  color?: number | string | undefined;
  background?: number | string | undefined;
  bold?: boolean | undefined;
  faint?: boolean | undefined;
  italic?: boolean | undefined;
  underline?: boolean | undefined;
  inverse?: boolean | undefined;
}

export interface AnsiPiece {
  text: string;
  style: AnsiStyle;
}

// CSI sequences, OSC strings, and the other escapes of two characters. A sequence that is not whole yet stays as it is.
const SEQUENCE = /\x1b(?:\[([0-9:;<=>?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])/g;
const OTHER_CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
const NONE: AnsiStyle = {};

/** The pieces of TEXT, which begins in the style BEFORE. */
export function ansiPieces(text: string, before: AnsiStyle = NONE): { pieces: AnsiPiece[]; after: AnsiStyle } {
  if (!text.includes("\x1b")) return { pieces: text ? [{ text: cleaned(text), style: before }] : [], after: before };
  const pieces: AnsiPiece[] = [];
  let style = before;
  let at = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    if (match.index > at) pieces.push({ text: cleaned(text.slice(at, match.index)), style });
    if (match[2] === "m") style = styled(style, match[1] ?? "");
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ text: cleaned(text.slice(at)), style });
  return { pieces, after: style };
}

function cleaned(text: string): string {
  return text.replace(OTHER_CONTROLS, "");
}

const switches: Record<number, AnsiStyle> = {
  1: { bold: true },
  2: { faint: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: undefined, faint: undefined },
  23: { italic: undefined },
  24: { underline: undefined },
  27: { inverse: undefined },
  39: { color: undefined },
  49: { background: undefined },
};

function styled(style: AnsiStyle, parameters: string): AnsiStyle {
  const codes = parameters.split(/[;:]/).map(Number);
  let now = style;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) now = NONE;
    else if (switches[code]) now = { ...now, ...switches[code] };
    else if (code === 38 || code === 48) {
      const { color, used } = extended(codes.slice(at + 1));
      at += used;
      now = { ...now, [code === 38 ? "color" : "background"]: color };
    } else now = { ...now, ...basic(code) };
  }
  return now;
}

/** 30 to 37 and 90 to 97 are colours of the text, 40 to 47 and 100 to 107 those of what is behind it. */
function basic(code: number): AnsiStyle {
  const index = code % 10;
  if (index > 7) return NONE;
  const tens = Math.floor(code / 10);
  if (tens === 3 || tens === 9) return { color: index + (tens === 9 ? 8 : 0) };
  if (tens === 4 || tens === 10) return { background: index + (tens === 10 ? 8 : 0) };
  return NONE;
}

function extended(codes: number[]): { color: number | string | undefined; used: number } {
  const [mode, first = 0, second = 0, third = 0] = codes;
  if (mode === 2) return { color: `rgb(${byte(first)} ${byte(second)} ${byte(third)})`, used: 4 };
  if (mode === 5) return { color: palette(byte(first)), used: 2 };
  return { color: undefined, used: 1 };
}

function palette(index: number): number | string {
  if (index < 16) return index;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return `rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`;
}

function byte(value: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(Math.trunc(value), 0), 255) : 0;
}
