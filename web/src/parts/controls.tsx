// SPDX-License-Identifier: Apache-2.0
// Small parts that every view has: buttons with an icon, dialogs, empty places, times and sizes.
import type { ComponentChildren, ComponentProps } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { spaced } from "./format.js";
import { Icon, type IconName } from "./icons.js";

interface IconButtonProps extends Omit<ComponentProps<"button">, "icon" | "label"> {
  icon: IconName;
  /** What it does: its name for screen readers, and its tooltip. */
  label: string;
}

export function IconButton({ icon, label, ...rest }: IconButtonProps) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

/** A modal dialog, which Escape and a click beside it close. It is open before the next key arrives, so what is typed ahead goes to it. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const close = (event: Event) => {
    event.preventDefault();
    props.onClose();
  };
  return (
    <dialog
      ref={ref}
      class={props.wide ? "dialog wide" : "dialog"}
      aria-label={props.title}
      onCancel={close}
      onClick={(event) => event.target === ref.current && close(event)}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2>{props.title}</h2>
          <IconButton icon="close" label="Close" onClick={props.onClose} />
        </header>
        {props.children}
      </div>
    </dialog>
  );
}

/** What a list shows that has nothing yet: what would be here, and how it comes here. */
export function Empty({ title, heading = false, children }: { title: string; heading?: boolean; children?: ComponentChildren }) {
  return (
    <div class="empty">
      {heading ? <h1 class="empty-title">{title}</h1> : <p class="empty-title">{title}</p>}
      {children}
    </div>
  );
}

/** A failure, to be read at once. */
export function Failure({ children }: { children: ComponentChildren }) {
  return (
    <p class="failure" role="alert">
      <Icon name="warning" /> <span>{children}</span>
    </p>
  );
}

/** A short word with the colour of its meaning: the outcome of a run, the state of a session. */
export function Badge({ kind, children }: { kind?: "good" | "bad" | "busy" | "wait" | undefined; children: ComponentChildren }) {
  return <span class={kind ? `badge ${kind}` : "badge"}>{children}</span>;
}

const outcomes: Record<string, "good" | "bad" | "busy" | "wait"> = {
  ok: "good",
  running: "busy",
  busy: "busy",
  approval_required: "wait",
  pending: "wait",
  waiting: "wait",
  cancelled: "wait",
  approved: "good",
  committed: "good",
  idle: "good",
};

/** An outcome or state, in words. */
export function Outcome({ outcome }: { outcome: string }) {
  return <Badge kind={outcomes[outcome] ?? (outcome === "ended" || outcome === "expired" ? undefined : "bad")}>{spaced(outcome)}</Badge>;
}
