// SPDX-License-Identifier: Apache-2.0
// Puts a text into the clipboard.
import { say } from "../parts/toasts.js";
import { Icon } from "../parts/icons.js";

/** WHAT is its name: "the id". Without a name of the text beside it the button shows "Copy". */
export function CopyButton({ text, what, short }: { text: string; what: string; short?: boolean }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say(`Copied ${what}.`);
    } catch {
      say("The browser does not let this page copy. Select the text, and copy it with the keyboard.", true);
    }
  };
  return (
    <button type="button" class={short ? "icon-button" : undefined} aria-label={`Copy ${what}`} title={`Copy ${what}`} onClick={() => void copy()}>
      <Icon name="copy" />
      {!short && " Copy"}
    </button>
  );
}
