// SPDX-License-Identifier: Apache-2.0
// The last question before a decision by key, and the reason of a denial.
import { Revealed } from "../parts/code.js";
import { Dialog } from "../parts/controls.js";
import { type Item, titleOf } from "./model.js";

interface ApproveProps {
  item: Item;
  action: string;
  always: boolean;
  onClose: () => void;
  onApprove: () => Promise<void>;
}

export function ApproveDialog({ item, action, always, onClose, onApprove }: ApproveProps) {
  return (
    <Dialog title={`${action}?`} onClose={onClose}>
      <form
        class="approvals-form"
        onSubmit={(event) => {
          event.preventDefault();
          void onApprove();
        }}
      >
        <p>
          <Revealed text={titleOf(item)} />
        </p>
        {always && <p class="notice">Whatever the conversation {item.conversation} asks for in the same place is approved as well.</p>}
        <div class="approvals-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" autoFocus>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface DenyProps {
  item: Item;
  onClose: () => void;
  onDeny: (reason: string) => Promise<void>;
}

/** The reason is shown to whoever asked, shortened to 500 bytes. Dropped changes of an approval that is gone have none. */
export function DenyDialog({ item, onClose, onDeny }: DenyProps) {
  const run = item.kind === "run";
  return (
    <Dialog title={run ? "Deny" : "Drop the changes"} onClose={onClose}>
      <form
        class="approvals-form"
        onSubmit={(event) => {
          event.preventDefault();
          void onDeny(String(new FormData(event.currentTarget).get("reason") ?? "").trim());
        }}
      >
        {item.approval?.state === "pending" ? (
          <div class="field">
            <label for="approvals-reason">Reason (optional, for whoever asked)</label>
            <textarea id="approvals-reason" name="reason" rows={3} maxLength={500} autoFocus placeholder="use the copy in /data" />
          </div>
        ) : (
          <p>The changes are discarded. The directory stays as it is.</p>
        )}
        <div class="approvals-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger">
            {run ? "Deny" : "Drop the changes"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
