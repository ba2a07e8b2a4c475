// SPDX-License-Identifier: Apache-2.0
// Who had to allow a run, and what they said.
import { hrefOf } from "../app/router.js";
import { Outcome } from "../parts/controls.js";
import { timeText } from "../parts/format.js";
import type { KnownRun } from "./run_state.js";
import { Section } from "./section.js";

export function RunApproval({ known }: { known: KnownRun }) {
  const { approvalId: id, approval } = known;
  if (!id) return null;
  return (
    <Section title="Approval">
      <p class="row">
        {approval && <Outcome outcome={approval.state} />}
        <a href={hrefOf("approvals", id)} class="mono">
          {id}
        </a>
      </p>
      {approval?.decided_by && (
        <p>
          Decided by {approval.decided_by}
          {approval.decided ? `, ${timeText(approval.decided)}` : ""}.
        </p>
      )}
      {approval?.reason && <p>Reason: {approval.reason}</p>}
      {!approval && <p class="quiet">The daemon no longer holds it.</p>}
    </Section>
  );
}
