// SPDX-License-Identifier: Apache-2.0
// What a chat may use: its toolset, and the limits of a turn.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Dialog } from "../parts/controls.js";
import { trying } from "../parts/toasts.js";
import { MOST } from "./loop.js";
import { type Chat, change } from "./state.js";
import { loadToolkit, type Toolkit } from "./toolkit.js";

const toolkit = signal<Toolkit | undefined>(undefined);

export function ToolsetPicker({ chat }: { chat: Chat }) {
  useEffect(() => {
    void trying(async () => {
      const found = await loadToolkit(chat.toolset);
      toolkit.value = found;
    });
  }, [chat.toolset]);
  const names = toolkit.value?.toolsets ?? [chat.toolset];
  return (
    <span class="chat-toolset">
      <label for="chat-toolset">Tools</label>
      <select id="chat-toolset" value={chat.toolset} disabled={chat.busy} onChange={(event) => change(chat.id, (old) => ({ ...old, toolset: event.currentTarget.value }))}>
        {[...new Set([...names, chat.toolset])].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </span>
  );
}

export function SettingsDialog({ chat, onClose }: { chat: Chat; onClose: () => void }) {
  const set = (name: "steps" | "ms", unit: number) => (event: Event) => {
    const asked = Number((event.currentTarget as HTMLInputElement).value) * unit;
    if (!Number.isFinite(asked)) return;
    change(chat.id, (old) => ({ ...old, limits: { ...old.limits, [name]: Math.min(Math.max(Math.round(asked), unit), MOST[name]) } }));
  };
  return (
    <Dialog title="Limits and tools of this chat" onClose={onClose}>
      <label class="field">
        Steps of a turn (1 to {MOST.steps})
        <input type="number" min={1} max={MOST.steps} value={chat.limits.steps} onChange={set("steps", 1)} />
      </label>
      <label class="field">
        Minutes of a turn (1 to {MOST.ms / 60_000})
        <input type="number" min={1} max={MOST.ms / 60_000} value={chat.limits.ms / 60_000} onChange={set("ms", 60_000)} />
      </label>
      <p class="quiet">The same call for the third time running is refused, and the fifth ends the turn. The time in which a person decides does not count.</p>
      <h3>Tools that the model can call now</h3>
      <ul class="chat-tools">
        {toolkit.value?.tools.map((tool) => (
          <li key={tool.name}>
            <code>{tool.name}</code>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
