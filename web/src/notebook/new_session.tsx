// SPDX-License-Identifier: Apache-2.0
// A new session: its name, profile and environment, and how long each of its cells may take.
import type { Environment, Profile } from "adder-client";
import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { adder, messageOf } from "../app/api.js";
import { go } from "../app/router.js";
import { Failure } from "../parts/controls.js";
import { newSession } from "./sessions.js";
import { adopt } from "./workspace.js";

const DEFAULT = "";
const times: Array<[string, string]> = [
  [DEFAULT, "the profile's"],
  ["60000", "1 minute"],
  ["300000", "5 minutes"],
  ["1800000", "30 minutes"],
];

export function NewSession({ onDone }: { onDone?: () => void }) {
  const environments = useSignal<Environment[]>([]);
  const profiles = useSignal<Profile[]>([]);
  const failure = useSignal<string | undefined>(undefined);
  const busy = useSignal(false);
  const id = useId();
  useEffect(() => {
    adder.environments().then((all) => (environments.value = all.filter((each) => !each.base)), () => undefined);
    adder.profiles().then((all) => (profiles.value = all), () => undefined);
  }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? "").trim() || undefined;
    busy.value = true;
    failure.value = undefined;
    try {
      const info = await newSession({ name: text("name"), environment: text("environment"), profile: text("profile") });
      const wallMs = text("time");
      await adopt(info, (notebook) => {
        notebook.wallMs = wallMs ? Number(wallMs) : null;
        notebook.select(notebook.cells.peek()[0], true);
      });
      go("notebook", [info.session_id]);
      onDone?.();
    } catch (error) {
      failure.value = messageOf(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <form class="notebook-new" onSubmit={submit}>
      {failure.value && <Failure>{failure.value}</Failure>}
      <div class="field">
        <label for={`${id}n`}>Name (optional)</label>
        <input id={`${id}n`} name="name" maxLength={64} pattern="[A-Za-z0-9_\-]+" title="Letters, digits, _ and -" autocomplete="off" />
      </div>
      <div class="field">
        <label for={`${id}p`}>Profile</label>
        <select id={`${id}p`} name="profile">
          <option value={DEFAULT}>default</option>
          {profiles.value.map(({ name, title }) => (
            <option key={name} value={name}>
              {name}
              {title && `: ${title}`}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for={`${id}e`}>Environment</label>
        <select id={`${id}e`} name="environment">
          <option value={DEFAULT}>the profile's</option>
          {environments.value.map(({ name, version }) => (
            <option key={name} value={name}>
              {name}
              {version && `, Python ${version}`}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for={`${id}t`}>Time for each cell</label>
        <select id={`${id}t`} name="time">
          {times.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <button type="submit" class="primary" disabled={busy.value}>
        {busy.value ? "Starting…" : "Start the session"}
      </button>
    </form>
  );
}
