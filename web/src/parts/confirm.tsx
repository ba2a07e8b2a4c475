// SPDX-License-Identifier: Apache-2.0
// A question before something that cannot be undone.
import type { ComponentChildren } from "preact";
import { Dialog } from "./controls.js";

interface ConfirmProps {
  title: string;
  /** What the button says. */
  action: string;
  children: ComponentChildren;
  onYes: () => void;
  onClose: () => void;
}

export function Confirm({ title, action, children, onYes, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={onYes}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
