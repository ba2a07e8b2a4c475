// SPDX-License-Identifier: Apache-2.0
// Base64 as it is in JSON, with what Node 20 and browsers have.
const PIECE = 0x8000; // arguments of one call

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
}
