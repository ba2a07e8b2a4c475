// SPDX-License-Identifier: Apache-2.0
// A cell that a person must approve first: what became of that, and the button that runs it then.
import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { adder } from "../app/api.js";
import { type FeedEvent, useFeed } from "../app/feed.js";
import { hrefOf } from "../app/router.js";
import { Icon } from "../parts/icons.js";
import { runCell } from "./actions.js";
import type { Cell } from "./cell.js";
import type { Workspace } from "./workspace.js";

interface ApprovalNoteProps {
  workspace: Workspace;
  cell: Cell;
  id: string;
}

export function ApprovalNote({ workspace, cell, id }: ApprovalNoteProps) {
  const state = useSignal("pending");
  useEffect(() => {
    adder.approvals.get(id).then(
      (approval) => (state.value = approval.state),
      () => undefined,
    );
  }, [id]);
  const hear = useCallback(
    (event: FeedEvent) => {
      if (event.id === id && typeof event.object["state"] === "string") state.value = event.object["state"];
    },
    [id],
  );
  useFeed("approval", hear);
  const isApproved = state.value === "approved";
  return (
    <p class="output-note" role="status">
      <Icon name="approvals" size={16} />
      <a href={hrefOf("approvals", id)}>{texts[state.value] ?? texts["pending"]}</a>
      {isApproved && (
        <button type="button" onClick={() => runCell(workspace, cell, "stay")}>
          Run the cell
        </button>
      )}
    </p>
  );
}

const texts: Record<string, string> = {
  pending: "A person must approve this first",
  approved: "Approved",
  denied: "Denied",
  expired: "Nobody decided in time",
};
