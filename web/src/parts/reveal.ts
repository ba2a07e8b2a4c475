// SPDX-License-Identifier: Apache-2.0
// What a reader cannot see, or sees as something else: characters that turn the direction of text, that have no width, that look
// like ASCII letters, and blanks that push code out of sight.

/** A piece of text that is shown as it is, or, with `label`, as a mark. `text` of a mark is shown before its label. */
export interface Piece {
  text: string;
  label?: string;
  why?: string;
}

/** Characters without a shape of their own, all blanks but the ASCII space, and what no script has. A tab is looked at apart. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\u2800]/u;
const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
const LONG_GAP = 24;

const names: Array<[RegExp, string]> = [
  [/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/, "changes the direction of the text that follows"],
  [/[\u200b-\u200d\u2060-\u2064\ufeff\u00ad\u180e\u034f]/, "has no width"],
  [/\p{Zs}|[\u2800\u3164\uffa0\u115f\u1160]/u, "looks like a space and is none"],
  [/[\u2028\u2029]/, "ends a line for some programs"],
  [/\p{Cc}/u, "is a control character"],
  [/[\u{e0000}-\u{e007f}]/u, "is an invisible tag character"],
  [/[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u, "is an invisible variation selector"],
];

/** Letters of other scripts that look like ASCII. Compatibility forms, such as full-width letters, are found by normalization. */
const LOOKALIKES = new Set(
  "аеорсухіјѕԛԝһԁɡѵ" +
    "АВЕЅІЈКМНОРСТУХѴԌ" +
    "αοινρυκτγωϲϳ" +
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺ" +
    "օսոհցզԼՍՏ" +
    "ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ" +
    "ıǀǃℓℯ",
);
const OTHER_SCRIPT = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
const ASCII_LETTER = /[A-Za-z]/;

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function unseen(character: string): Piece {
  const why = names.find(([set]) => set.test(character))?.[1] ?? "cannot be seen";
  return { text: "", label: codePoint(character), why: `${codePoint(character)} ${why}` };
}

function looksLikeAscii(character: string): boolean {
  if (character <= "\u007f") return false;
  return LOOKALIKES.has(character) || /^[\x21-\x7e]+$/.test(character.normalize("NFKC"));
}

/** Whether WORD may be read as another: it mixes scripts, or, in code, all of it looks like ASCII. */
function deceives(word: string, prose: boolean): boolean {
  if (![...word].some(looksLikeAscii)) return false;
  if (ASCII_LETTER.test(word) && OTHER_SCRIPT.test(word)) return true;
  return !prose && [...word].every((character) => character <= "\u007f" || looksLikeAscii(character));
}

function lookalikes(word: string): Piece[] {
  return [...word].map((character) => {
    if (!looksLikeAscii(character)) return { text: character };
    return { text: character, label: codePoint(character), why: `${codePoint(character)} looks like an ASCII character and is none` };
  });
}

/** The pieces of TEXT, part of a line. PROSE: it is a string, a comment or a description, where words of other scripts are ordinary. */
export function reveal(text: string, prose = false): Piece[] {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes(" ".repeat(LONG_GAP))) return [{ text }];
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of text.matchAll(WORD)) {
    pieces.push(...between(text.slice(at, found.index), prose));
    pieces.push(...word(found[0], prose));
    at = found.index + found[0].length;
  }
  return joined([...pieces, ...between(text.slice(at), prose)]);
}

function word(text: string, prose: boolean): Piece[] {
  const parts = deceives(text, prose) ? lookalikes(text) : [...text].map((character) => ({ text: character }));
  return parts.map((piece) => (UNSEEN.test(piece.text) ? unseen(piece.text) : piece));
}

function between(text: string, prose: boolean): Piece[] {
  return text.split(new RegExp(`( {${LONG_GAP},})`)).flatMap((part) => {
    if (part.length >= LONG_GAP && !part.trim()) {
      return [{ text: "", label: `${part.length} spaces`, why: "many spaces, which may push code out of sight" }];
    }
    return [...part].map((character) => {
      if (character === " " || character === "\t") return { text: character };
      if (UNSEEN.test(character)) return unseen(character);
      return !prose && looksLikeAscii(character) ? (lookalikes(character)[0] as Piece) : { text: character };
    });
  });
}

function joined(pieces: Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (last && !last.label && !piece.label) last.text += piece.text;
    else if (piece.text || piece.label) result.push({ ...piece });
  }
  return result;
}

/** How the lines of a text are indented: tabs are marked only where some lines have tabs and others spaces. */
export function mixesTabs(text: string): boolean {
  return /^\t/m.test(text) && /^ +\S/m.test(text) || /^ +\t/m.test(text);
}

/** The blanks at the start of a line of such a text. */
export function tabPieces(indent: string): Piece[] {
  const tab = { text: "\t", label: "tab", why: "a tab among spaces" };
  return [...indent].map((character) => (character === "\t" ? tab : { text: character }));
}

/** Blanks after a backslash at the end of a line: the line does not continue as it seems to. */
export function brokenContinuation(line: string): number {
  return /\\([ \t]+)$/.exec(line)?.[1]?.length ?? 0;
}
