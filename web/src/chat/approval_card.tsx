// SPDX-License-Identifier: Apache-2.0
// A call that a person has to approve: what would run, and the decision. It can be made elsewhere as well; the chat goes on then.
import { useSignal } from "@preact/signals";
import type { Approval } from "adder-client";
import { useEffect } from "preact/hooks";
import { adder } from "../app/api.js";
import { caller } from "../app/caller.js";
import { hrefOf } from "../app/router.js";
import { Access } from "../approvals/access.js";
import { Code, Revealed } from "../parts/code.js";
import { trying } from "../parts/toasts.js";

export function ApprovalCard({ id }: { id: string }) {
  const approval = useSignal<Approval | undefined>(undefined);
  const busy = useSignal(false);
  const reason = useSignal("");
  useEffect(() => {
    void trying(async () => (approval.value = await adder.approvals.get(id)));
  }, [id]);
  const decide = async (work: () => Promise<Approval>) => {
    busy.value = true;
    const decided = await trying(work);
    if (decided) approval.value = decided;
    busy.value = false;
  };
  const it = approval.value;
  if (!it) return <p class="quiet">Loading…</p>;
  const mayDecide = caller.value?.may_decide && it.state === "pending";
  return (
    <section class="chat-approval" aria-label="Approval">
      <h2>This waits for an approval</h2>
      {it.description && (
        <p>
          <Revealed text={it.description} />
        </p>
      )}
      {it.code && <Code text={it.code} reveal numbers label="The code to approve" />}
      <Access approval={it} />
      {mayDecide ? (
        <>
          <label class="field">
            Reason, for a denial
            <input maxLength={1000} value={reason.value} onInput={(event) => (reason.value = event.currentTarget.value)} />
          </label>
          <div class="row">
            <button type="button" class="primary" disabled={busy.value} onClick={() => void decide(() => adder.approvals.approve(id))}>
              Approve
            </button>
            <button type="button" class="danger" disabled={busy.value} onClick={() => void decide(() => adder.approvals.deny(id, { reason: reason.value || undefined }))}>
              Deny
            </button>
            <button type="button" disabled={busy.value} onClick={() => void decide(() => adder.approvals.approve(id, { always: true }))}>
              Always in this chat
            </button>
            <a href={hrefOf("approvals", id)}>Show in the inbox</a>
          </div>
        </>
      ) : (
        it.state === "pending" && <p class="notice">Somebody who may decide has to approve it. The chat goes on then.</p>
      )}
    </section>
  );
}
