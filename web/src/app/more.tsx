// SPDX-License-Identifier: Apache-2.0
// The foot of the navigation: who is signed in, the theme, shortcuts, signing out; on a phone the other views as well.
import { useSignal } from "@preact/signals";
import { Dialog } from "../parts/controls.js";
import { Icon } from "../parts/icons.js";
import { caller } from "./caller.js";
import { hrefOf } from "./router.js";
import { signOut } from "./session_cookie.js";
import { nextTheme, theme } from "./theme.js";
import type { ViewRow } from "./views.js";

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const;

export function MoreMenu({ views, onShortcuts }: { views: ViewRow[]; onShortcuts: () => void }) {
  const open = useSignal(false);
  const close = () => (open.value = false);
  return (
    <div class="side-foot">
      <button type="button" class="more" onClick={() => (open.value = true)}>
        <Icon name="more" />
        <span>More</span>
      </button>
      {open.value && (
        <Dialog title="Adder" onClose={close}>
          <ul class="menu">
            {views.filter((row) => !row.primary).map((row) => (
              <li key={row.view} class="phone-only">
                <a href={hrefOf(row.view)} onClick={close}>
                  <Icon name={row.icon} /> {row.title}
                </a>
              </li>
            ))}
            <li>
              <button type="button" onClick={nextTheme}>
                <Icon name={themeIcons[theme.value]} /> Theme: {theme.value === "system" ? "as the system" : theme.value}
              </button>
            </li>
            <li>
              <button
                type="button"
                onClick={() => {
                  close();
                  onShortcuts();
                }}
              >
                <Icon name="keyboard" /> Keyboard shortcuts
              </button>
            </li>
            <li>
              <button type="button" onClick={() => void signOut()}>
                <Icon name="signout" /> Sign out
              </button>
            </li>
          </ul>
          <p class="quiet">
            Signed in as {caller.value?.name ?? caller.value?.owner}, {caller.value?.role}
            {caller.value?.token ? `, with the token ${caller.value.token}` : ""}. Adder {caller.value?.version}
            {caller.value?.node ? ` on ${caller.value.node}` : ""}.
          </p>
        </Dialog>
      )}
    </div>
  );
}
