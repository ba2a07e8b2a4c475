// SPDX-License-Identifier: Apache-2.0
// Who had to allow a run, and what they said.
import { hrefOf } from "../app/router.js";
import { Outcome } from "../parts/controls.js";
import { timeText } from "../parts/format.js";
import type { KnownRun } from "./run_state.js";
import { Section } from "./section.js";

/** What later versions of the daemon say as well. */
interface Decided {
  decided_by?: string | null;
  decided?: string | null;
}

export function RunApproval({ known }: { known: KnownRun }) {
  const { result, record } = known.state;
  const id = result?.approval_id ?? record?.more?.waits_for ?? record?.approval;
  if (!id) return null;
  const { approval } = known;
  const { decided_by: by, decided: when } = (approval ?? {}) as Decided;
  return (
    <Section title="Approval">
      <p class="row">
        {approval && <Outcome outcome={approval.state} />}
        <a href={hrefOf("approvals", id)} class="mono">
          {id}
        </a>
      </p>
      {by && (
        <p>
          Decided by {by}
          {when ? `, ${timeText(when)}` : ""}.
        </p>
      )}
      {approval?.reason && <p>Reason: {approval.reason}</p>}
      {!approval && <p class="quiet">The daemon no longer holds it.</p>}
    </Section>
  );
}
