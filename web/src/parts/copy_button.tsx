// SPDX-License-Identifier: Apache-2.0
// Puts a text into the clipboard.
import { Icon } from "./icons.js";
import { say } from "./toasts.js";

/** Copies TEXT and says that, or why not. Over plain HTTP browsers have no clipboard for pages. */
export async function copyText(text: string, said: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(said);
  } catch {
    say("The browser does not let this page copy. Select the text, and copy it with the keyboard.", true);
  }
}

/** WHAT is its name: "the id". Without a name of the text beside it the button shows "Copy". */
export function CopyButton({ text, what, short }: { text: string; what: string; short?: boolean }) {
  return (
    <button type="button" class={short ? "icon-button" : undefined} aria-label={`Copy ${what}`} title={`Copy ${what}`} onClick={() => void copyText(text, `Copied ${what}.`)}>
      <Icon name="copy" />
      {!short && " Copy"}
    </button>
  );
}
