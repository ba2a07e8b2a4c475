// SPDX-License-Identifier: Apache-2.0
// A field for a text to send: Enter sends, Shift+Enter begins a new line. It grows with the text.
import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import "./composer.css";
import { Icon } from "./icons.js";

interface ComposerProps {
  label: string;
  placeholder: string;
  /** What the button says. */
  action: string;
  disabled?: boolean;
  maxLength: number;
  onSend: (text: string) => void;
  /** Ends what is under way: then the button does that, and nothing can be sent. */
  onStop?: (() => void) | undefined;
  /** Before the field. */
  before?: ComponentChildren;
  /** Above it. */
  children?: ComponentChildren;
  field?: RefObject<HTMLTextAreaElement | null>;
}

export function Composer(props: ComposerProps) {
  const own = useRef<HTMLTextAreaElement>(null);
  const field = props.field ?? own;
  const send = (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? "";
    if (!text || props.disabled || props.onStop || !field.current) return;
    field.current.value = "";
    props.onSend(text);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  return (
    <form class="composer card" onSubmit={send}>
      {props.children && <div class="row composer-more">{props.children}</div>}
      {props.before}
      <textarea ref={field} aria-label={props.label} placeholder={props.placeholder} rows={1} maxLength={props.maxLength} onKeyDown={press} />
      {props.onStop ? (
        <button key="stop" type="button" class="danger" onClick={props.onStop}>
          <Icon name="stop" size={16} /> Stop
        </button>
      ) : (
        <button key="send" type="submit" class="primary" disabled={props.disabled}>
          {props.action}
        </button>
      )}
    </form>
  );
}
