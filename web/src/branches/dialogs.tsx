// SPDX-License-Identifier: Apache-2.0
// Dialogs of the actions: each says what will happen before it does.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Dialog } from "../parts/controls.js";
import { bytesText, plural } from "../parts/format.js";
import { dropCheckpoint, endSession, makeBranches, makeCheckpoint, rename, rollBack } from "./actions.js";
import { firstLine } from "./graph.js";
import { IntroDialog } from "./intro.js";
import { checkpointTitle, type Lane, lostBy, type Mark, sessionTitle } from "./model.js";
import { type Choice, dialog, selected } from "./selection.js";

const NAME_PATTERN = "[A-Za-z0-9_\\-]{1,64}";
const MOST_BRANCHES = 16;

export function Dialogs({ choice }: { choice: Choice | undefined }) {
  const kind = dialog.value;
  if (kind === "intro") return <IntroDialog onClose={close} />;
  if (!kind || !choice) return null;
  const { lane, mark } = choice;
  if (kind === "checkpoint") return <CheckpointDialog lane={lane} />;
  if (kind === "branch") return <BranchDialog lane={lane} mark={mark} />;
  if (kind === "rename") return <RenameDialog lane={lane} />;
  if (kind === "end") return <EndDialog lane={lane} />;
  if (!mark) return null;
  return kind === "rollback" ? <RollbackDialog lane={lane} mark={mark} /> : <DropDialog lane={lane} mark={mark} />;
}

function close(): void {
  dialog.value = undefined;
}

interface AskingProps {
  title: string;
  action: string;
  danger?: boolean;
  /** The value: whether it was done. */
  onDo: (form: FormData) => Promise<boolean>;
  children: ComponentChildren;
}

/** A form with one action and a way out; it stays open when the action fails. */
function Asking({ title, action, danger = false, onDo, children }: AskingProps) {
  const busy = useSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    busy.value = true;
    const done = await onDo(new FormData(event.currentTarget as HTMLFormElement));
    busy.value = false;
    if (done) close();
  };
  return (
    <Dialog title={title} onClose={close}>
      <form class="branches-form" onSubmit={submit}>
        {children}
        <div class="dialog-buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class={danger ? "danger" : "primary"} disabled={busy.value} autoFocus={danger}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function NameField({ value, label = "Name (optional)" }: { value?: string | undefined; label?: string }) {
  return (
    <div class="field">
      <label for="branches-name">{label}</label>
      <input id="branches-name" name="name" pattern={NAME_PATTERN} maxLength={64} defaultValue={value} autoFocus autocomplete="off" spellcheck={false} />
      <span class="quiet">Letters, digits, _ and -</span>
    </div>
  );
}

function textOf(form: FormData, name: string): string {
  return String(form.get(name) ?? "").trim();
}

function CheckpointDialog({ lane }: { lane: Lane }) {
  const onDo = async (form: FormData) => {
    const made = await makeCheckpoint(lane.session, textOf(form, "name"));
    if (made) selected.value = { session: lane.session.session_id, kind: "checkpoint", id: made.checkpoint_id };
    return made !== undefined;
  };
  return (
    <Asking title={`Checkpoint of “${sessionTitle(lane.session)}”`} action="Make the checkpoint" onDo={onDo}>
      <p>Keeps everything the interpreter has now: variables, files, open generators. It takes milliseconds, and memory only for what changes later.</p>
      <NameField />
    </Asking>
  );
}

function BranchDialog({ lane, mark }: { lane: Lane; mark: Mark | undefined }) {
  const count = useSignal(1);
  const onDo = async (form: FormData) => {
    const name = textOf(form, "name");
    const made = await makeBranches(lane.session, mark, count.value);
    const named = name ? made.map((each, index) => rename(each, made.length > 1 ? `${name}-${index + 1}` : name)) : [];
    await Promise.all(named);
    if (made[0]) selected.value = { session: made[0].session_id, kind: "now" };
    return made.length > 0;
  };
  const from = mark ? `the checkpoint ${checkpointTitle(mark)}` : "what it is now";
  return (
    <Asking title={`Branch “${sessionTitle(lane.session)}”`} action={count.value > 1 ? `Make ${count.value} branches` : "Make the branch"} onDo={onDo}>
      <p>A new session goes on from {from}, with all variables and copies of the files. No code runs again, and this session stays as it is.</p>
      <NameField />
      <div class="field">
        <label for="branches-count">How many</label>
        <input
          id="branches-count"
          name="count"
          type="number"
          min={1}
          max={MOST_BRANCHES}
          required
          value={count.value}
          onInput={(event) => (count.value = Math.max(1, Math.min(MOST_BRANCHES, event.currentTarget.valueAsNumber || 1)))}
        />
      </div>
    </Asking>
  );
}

function RollbackDialog({ lane, mark }: { lane: Lane; mark: Mark }) {
  const lost = lostBy(lane, mark);
  const forward = lane.lost.includes(mark);
  const gone = forward ? lane.cells.filter((cell) => cell.cell > lane.start) : lost;
  const onDo = async () => {
    const done = await rollBack(lane.session, mark);
    if (done) selected.value = { session: lane.session.session_id, kind: "checkpoint", id: mark.checkpoint_id };
    return done;
  };
  return (
    <Asking title={`Roll back “${sessionTitle(lane.session)}” to “${checkpointTitle(mark)}”`} action="Roll back" danger onDo={onDo}>
      <p>
        The session becomes what it was after cell {mark.cell}, with {plural(mark.variables, "variable")}, files and history.
        {lane.children.length > 0 && " Its branches stay as they are."}
      </p>
      {gone.length > 0 ? (
        <>
          <p>
            <b>This is lost: {plural(gone.length, "cell")}, with the variables and files that {gone.length === 1 ? "it" : "they"} changed.</b>
          </p>
          <ul class="branches-lost">
            {gone.slice(-8).map((cell) => (
              <li key={cell.cell}>
                <b>{cell.cell}</b> <code>{firstLine(cell.code)}</code>
              </li>
            ))}
          </ul>
          {gone.length > 8 && <p class="quiet">and {plural(gone.length - 8, "earlier cell")}</p>}
          <p class="quiet">To keep it, cancel and branch first, or make a checkpoint of the current state.</p>
        </>
      ) : (
        <p>No cell ran since, so no cell is lost.</p>
      )}
    </Asking>
  );
}

function RenameDialog({ lane }: { lane: Lane }) {
  return (
    <Asking title="Name of the session" action="Save" onDo={(form) => rename(lane.session, textOf(form, "name") || null)}>
      <NameField label="Name (empty: none)" value={lane.session.name ?? ""} />
    </Asking>
  );
}

function DropDialog({ lane, mark }: { lane: Lane; mark: Mark }) {
  const onDo = async () => {
    const done = await dropCheckpoint(lane.session, mark);
    if (done) selected.value = { session: lane.session.session_id, kind: "now" };
    return done;
  };
  return (
    <Asking title={`Delete “${checkpointTitle(mark)}”`} action="Delete the checkpoint" danger onDo={onDo}>
      <p>
        {sessionTitle(lane.session)} and its branches stay as they are, but cannot return to this point. That frees {bytesText(mark.memory_bytes)}.
      </p>
    </Asking>
  );
}

function EndDialog({ lane }: { lane: Lane }) {
  const { session } = lane;
  const marks = session.checkpoints.length;
  return (
    <Asking title={`End “${sessionTitle(session)}”`} action="End the session" danger onDo={() => endSession(session)}>
      <p>
        Its {plural(session.variables, "variable")}
        {marks > 0 && `, ${plural(marks, "checkpoint")}`} and files are lost. {lane.children.length > 0 ? "Its branches live on. " : ""}
        The code of its cells stays on record for a while and can be replayed.
      </p>
    </Asking>
  );
}
