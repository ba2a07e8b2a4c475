// SPDX-License-Identifier: Apache-2.0
// The shortcuts that apply to what is shown.
import { Dialog } from "../parts/controls.js";
import { keysText, shortcuts } from "./keys.js";

export function ShortcutList({ onClose }: { onClose: () => void }) {
  const groups = new Map<string, Array<[string, string]>>();
  for (const row of shortcuts.value) groups.set(row.group, [...(groups.get(row.group) ?? []), [row.keys, row.text]]);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div class="shortcut-groups">
        {[...groups].map(([group, rows]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {rows.map(([keys, text]) => (
                <div key={keys}>
                  <dt>
                    <kbd>{keysText(keys)}</kbd>
                  </dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
