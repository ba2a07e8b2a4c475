// SPDX-License-Identifier: Apache-2.0
// A form for a new token. What it may do is never more than what the caller may.
import { useSignal } from "@preact/signals";
import { ask, messageOf } from "../app/api.js";
import { caller } from "../app/caller.js";
import { Dialog, Failure } from "../parts/controls.js";
import "../parts/form.css";
import type { CreatedToken } from "./token_secret.js";

const ages = [
  ["1", "after 1 day"],
  ["7", "after 7 days"],
  ["30", "after 30 days"],
  ["90", "after 90 days"],
  ["365", "after 365 days"],
  ["", "when mine does, or never"],
] as const;

const DAY_MS = 86_400_000;
const USUAL_DAYS = "30";

/** Those that the caller's own token allows: no token lives longer than the one it was made with. */
function allowedAges(): Array<readonly [string, string]> {
  const expires = caller.value?.expires;
  const most = expires ? Date.parse(expires) - Date.now() : Infinity;
  return ages.filter(([days]) => Number(days) * DAY_MS < most);
}

const roles = [
  ["guest", "guest: runs code with profiles for guests"],
  ["user", "user: runs code, and has sessions, files and records"],
  ["admin", "admin: everything, of all owners"],
] as const;

export function NewToken({ onClose, onMade }: { onClose: () => void; onMade: (token: CreatedToken) => void }) {
  const failure = useSignal<string | undefined>(undefined);
  const busy = useSignal(false);
  const offered = allowedAges();
  const usual = offered.some(([days]) => days === USUAL_DAYS) ? USUAL_DAYS : "";
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    busy.value = true;
    try {
      onMade(await ask<CreatedToken>("POST", "/v1/tokens", { body: bodyOf(new FormData(event.currentTarget as HTMLFormElement)) }));
    } catch (error) {
      failure.value = messageOf(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title="New token" onClose={onClose}>
      <form class="schema-form" onSubmit={make}>
        {failure.value && <Failure>{failure.value}</Failure>}
        <label class="field">
          Name, for instance of the agent that uses it
          <input name="name" required maxLength={64} pattern="[A-Za-z][A-Za-z0-9_.\-]*" title="A letter, then letters, digits, _, - and ." autocomplete="off" spellcheck={false} />
        </label>
        <div class="field">
          <label for="token-role">Role</label>
          <select id="token-role" name="role">
            {roles.map(([role, text]) => (
              <option key={role} value={role} selected={role === "user"}>
                {text}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="token-days">Expires</label>
          <select id="token-days" name="days">
            {offered.map(([days, text]) => (
              <option key={days} value={days} selected={days === usual}>
                {text}
              </option>
            ))}
          </select>
        </div>
        <Flag name="may_decide" text="Decides approvals for a person. Never for an agent." />
        <Flag name="read_only" text="Only reads: runs and changes nothing." />
        <details>
          <summary>Profiles, toolset, directories and limits</summary>
          <div class="schema-form token-more">
            <Text name="profiles" label="Profiles that it may use: names or patterns, separated by blanks; empty: the same as you" />
            <Text name="toolset" label="The only toolset that it may use; empty: all" />
            <Text name="roots" label="Directories of the configuration in which its runs may work, separated by blanks" />
            <Count name="rate" label="Requests a minute; empty: the same as you" />
            <Count name="concurrent" label="Requests at once; empty: the same as you" />
          </div>
        </details>
        <div class="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy.value}>
            Make the token
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Flag({ name, text }: { name: string; text: string }) {
  return (
    <label class="check-field">
      <input type="checkbox" name={name} /> {text}
    </label>
  );
}

function Text({ name, label }: { name: string; label: string }) {
  return (
    <label class="field">
      {label}
      <input name={name} autocomplete="off" spellcheck={false} maxLength={1000} />
    </label>
  );
}

function Count({ name, label }: { name: string; label: string }) {
  return (
    <label class="field">
      {label}
      <input name={name} type="number" min={1} max={1_000_000} step={1} />
    </label>
  );
}

/** What is left empty is left out. */
function bodyOf(form: FormData): Record<string, unknown> {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const words = (name: string) => text(name).split(/[\s,]+/).filter(Boolean);
  const all: Record<string, unknown> = {
    name: text("name"),
    role: text("role"),
    toolset: text("toolset"),
    profiles: words("profiles"),
    roots: words("roots"),
    read_only: form.has("read_only"),
    may_decide: form.has("may_decide"),
    rate: Number(text("rate")),
    concurrent: Number(text("concurrent")),
    expires: text("days") && `${text("days")}d`,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value && !(Array.isArray(value) && value.length === 0)));
}
