// SPDX-License-Identifier: Apache-2.0
// One approval or review: what would happen, what it may access, and the decision.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { caller } from "../app/caller.js";
import { type Shortcut, useKeys } from "../app/keys.js";
import { hrefOf } from "../app/router.js";
import { Code, Revealed } from "../parts/code.js";
import { Failure } from "../parts/controls.js";
import { plural, timeText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { useNow } from "../parts/now.js";
import { Access, DirectoryText } from "./access.js";
import { Changes } from "./changes.js";
import { decide, type Decision } from "./decide.js";
import { ApproveDialog, DenyDialog } from "./dialogs.js";
import { ageText, expiryText, ItemBadge, TICK_MS } from "./list.js";
import { type Item, titleOf, waits } from "./model.js";
import { items, loadWhole, wholeOf } from "./store.js";

export function Detail({ item }: { item: Item }) {
  const loads = useSignal(0);
  const failure = useSignal<string | undefined>(undefined);
  useEffect(() => {
    let current = true;
    failure.value = undefined;
    loadWhole(item).then(
      () => current && loads.value++,
      (error) => current && waits(item) && (failure.value = messageOf(error)),
    );
    return () => {
      current = false;
    };
  }, [item.id, item.review?.digest, item.review?.state]);
  const known = useMemo(() => wholeOf(item), [item, loads.value]);
  const shown = known ?? item;
  return (
    <article class="approvals-detail card" aria-label="The request">
      <a class="approvals-back" href={hrefOf("approvals")}>
        <Icon name="undo" /> All approvals
      </a>
      <div>
        <DetailHead item={shown} />
        <div role="status">
          <Decided item={shown} />
        </div>
      </div>
      {failure.value && <Failure>{failure.value}</Failure>}
      {shown.kind === "changes" ? <ChangesBody item={shown} /> : <CodeBody item={shown} />}
      {waits(item) && (known ? <Actions item={shown} /> : !failure.value && <p class="quiet">Loading…</p>)}
    </article>
  );
}

function DetailHead({ item }: { item: Item }) {
  const now = useNow(TICK_MS);
  const parts = [item.owner, item.conversation && `conversation ${item.conversation}`, `asked ${ageText(item, now)}`, waits(item) && expiryText(item, now)];
  return (
    <header>
      <p class="approvals-detail-head">
        <ItemBadge item={item} />
        <span class="quiet">{item.kind === "run" ? "Code that would run" : "Changes that would be made"}</span>
      </p>
      <h2>
        <Revealed text={titleOf(item)} />
      </h2>
      <p class="quiet">{parts.filter(Boolean).join(" · ")}</p>
    </header>
  );
}

const outcomeTexts: Record<string, string> = {
  approved: "Approved",
  denied: "Denied",
  committed: "The changes were made",
  dropped: "The changes were dropped",
  gone: "Decided elsewhere, or taken back",
};

/** What an approval or a denial of changes means. */
const changesTexts: Record<string, string> = { approved: "The changes were made", denied: "The changes were dropped" };

function Decided({ item }: { item: Item }) {
  const { approval, state } = item;
  if (state === "broken") {
    return <p class="notice">Making the changes was interrupted. Finish it, or undo what was made: then they wait again.</p>;
  }
  if (waits(item)) return null;
  return (
    <p class="approvals-decided">
      <Icon name={state === "denied" || state === "dropped" ? "close" : "check"} />
      <span>
        <b>{(item.kind === "changes" ? changesTexts[state] : undefined) ?? outcomeTexts[state]}</b>
        {approval?.decided_by && ` by ${approval.decided_by}`}
        {approval?.decided && `, ${timeText(approval.decided)}`}
        {approval?.reason && (
          <>
            : “<Revealed text={approval.reason} />”
          </>
        )}
      </span>
      <NextLink />
    </p>
  );
}

/** On to what still waits. */
function NextLink() {
  const next = items.value?.find(waits);
  if (!next) return null;
  return (
    <a class="approvals-next" href={hrefOf("approvals", next.id)}>
      Next
    </a>
  );
}

function CodeBody({ item: { approval } }: { item: Item }) {
  if (!approval?.code) return null;
  return (
    <>
      <section aria-label="Code">
        <p class="approvals-code-head">
          <b><Revealed text={approval.name ?? "Code"} /></b>
          <span class="quiet">{plural(approval.lines ?? approval.code.split("\n").length, "line")}</span>
        </p>
        <Code text={approval.code} reveal numbers label="The code" />
      </section>
      <section aria-label="Access">
        <h3>What it may access</h3>
        <Access approval={approval} />
      </section>
    </>
  );
}

function ChangesBody({ item: { approval, review } }: { item: Item }) {
  const path = review?.directory ?? approval?.workdir?.path;
  return (
    <>
      {path && (
        <p>
          Directory <DirectoryText path={path} mode="review" />
        </p>
      )}
      {review?.changes && <Changes changes={review.changes} />}
      {approval?.code && (
        <details>
          <summary>The code that made them</summary>
          <Code text={approval.code} reveal numbers label="The code" />
        </details>
      )}
    </>
  );
}

// ---- the decision ----

/** Why this caller may not decide; undefined: they may. */
function whyNot(): string | undefined {
  const who = caller.value;
  if (!who) return "Sign in to decide.";
  if (who.read_only) return "Your token can only read. Sign in with one that may decide.";
  if (who.may_decide) return undefined;
  return "Your token may look at this, but not decide. Sign in with `adder open`, or with a token that was made with --may-decide.";
}

function Actions({ item }: { item: Item }) {
  const open = useSignal<"approve" | "deny" | undefined>(undefined);
  const busy = useSignal(false);
  const always = useSignal(false);
  const reason = whyNot();
  const act = async (decision: Decision) => {
    busy.value = true;
    await decide(item, decision);
    busy.value = false;
    open.value = undefined;
  };
  const yes = () => act({ kind: "approve", always: always.value });
  const close = () => void (open.value = undefined);
  const run = item.kind === "run";
  const may = !reason && (run || item.review?.changes !== undefined);
  const broken = item.state === "broken";
  const keys = useMemo<Shortcut[]>(
    () => [
      { keys: "y", text: run ? "Approve" : "Make the changes", group: "Approvals", run: () => void (may && (open.value = "approve")) },
      { keys: "n", text: run ? "Deny" : "Drop the changes", group: "Approvals", run: () => void (may && !broken && (open.value = "deny")) },
    ],
    [run, may, broken],
  );
  useKeys(keys);
  if (reason) return <p class="notice">{reason}</p>;
  if (!run && !item.review?.changes) return <p class="quiet">Loading…</p>;
  const approve = run ? "Approve" : broken ? "Finish the changes" : "Make the changes";
  return (
    <footer class="approvals-actions">
      {item.conversation && item.approval && !broken && (
        <label class="check-field">
          <input type="checkbox" checked={always.value} onChange={(event) => (always.value = event.currentTarget.checked)} />
          Always allow for conversation {item.conversation}
        </label>
      )}
      <div class="approvals-buttons">
        {broken ? (
          <button type="button" disabled={busy.value} onClick={() => void act({ kind: "undo" })}>
            <Icon name="undo" /> Undo
          </button>
        ) : (
          <button type="button" disabled={busy.value} aria-keyshortcuts="n" onClick={() => (open.value = "deny")}>
            <Icon name="close" /> {run ? "Deny…" : "Drop…"}
          </button>
        )}
        <button type="button" class="primary" disabled={busy.value} aria-keyshortcuts="y" onClick={() => void yes()}>
          <Icon name="check" /> {approve}
        </button>
      </div>
      {open.value === "approve" && (
        <ApproveDialog item={item} action={approve} always={always.value} onClose={close} onApprove={yes} />
      )}
      {open.value === "deny" && <DenyDialog item={item} onClose={close} onDeny={(text) => act({ kind: "deny", reason: text })} />}
    </footer>
  );
}
