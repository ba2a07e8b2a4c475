// SPDX-License-Identifier: Apache-2.0
// Ways to give the page files: a button that opens the browser's chooser, and a place to drop them.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Icon, type IconName } from "./icons.js";

export interface FileButtonProps {
  /** The button's words; without them it is an icon with this label. */
  children?: ComponentChildren;
  label?: string;
  /** null: none. */
  icon?: IconName | null;
  class?: string | undefined;
  /** As the attribute of <input>: ".csv,.xlsx". */
  accept?: string;
  multiple?: boolean;
  disabled?: boolean;
  /** The name of the chooser itself. */
  inputLabel?: string;
  onFiles: (files: File[]) => void;
}

export function FileButton(props: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  const choose = (event: Event) => {
    const chosen = event.currentTarget as HTMLInputElement;
    props.onFiles([...(chosen.files ?? [])]);
    chosen.value = ""; // the same file may be chosen again
  };
  return (
    <>
      <button
        type="button"
        class={props.children ? props.class : "icon-button"}
        aria-label={props.label}
        title={props.label}
        disabled={props.disabled}
        onClick={() => input.current?.click()}
      >
        {props.icon !== null && <Icon name={props.icon ?? "upload"} />} {props.children}
      </button>
      <input ref={input} type="file" hidden aria-label={props.inputLabel} accept={props.accept} multiple={props.multiple} onChange={choose} />
    </>
  );
}

/** A place that takes dropped files, of the class "over" while some are held there; what is in it works as well without a mouse. */
export function DropPlace({ class: name, onFiles, children }: { class: string; onFiles: (files: File[]) => void; children: ComponentChildren }) {
  const over = useSignal(false);
  const hover = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    over.value = true;
  };
  const leave = (event: DragEvent) => {
    const place = event.currentTarget as HTMLElement;
    if (!(event.relatedTarget instanceof Node) || !place.contains(event.relatedTarget)) over.value = false;
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    over.value = false;
    onFiles([...(event.dataTransfer?.files ?? [])]);
  };
  return (
    <div class={over.value ? `${name} over` : name} onDragOver={hover} onDragLeave={leave} onDrop={drop}>
      {children}
    </div>
  );
}
