// SPDX-License-Identifier: Apache-2.0
// What code displayed.
import { fromBase64 } from "./base64.js";

/** What code displayed: the same thing in several forms, by MIME type. Pictures are in base64, except SVG. */
export type Display = Record<string, unknown>;

/** A picture that code displayed. */
export interface Picture {
  mime: string;
  data: Uint8Array;
}

/** For models and terminals: a table as Markdown, else plain text. */
export function displayText(display: Display): string {
  return String(display["text/markdown"] ?? display["text/plain"] ?? "");
}

/** The picture that it is, where it is one. */
export function pictureOf(display: Display): Picture | undefined {
  for (const [mime, value] of Object.entries(display)) {
    if (!mime.startsWith("image/") || typeof value !== "string") continue;
    return { mime, data: mime === "image/svg+xml" ? new TextEncoder().encode(value) : fromBase64(value) };
  }
  return undefined;
}
