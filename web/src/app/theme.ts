// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system is, or as the user chose.
import { computed, effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const KEY = "adder-theme";
const media = matchMedia("(prefers-color-scheme: dark)");
const system = signal(media.matches);
media.addEventListener("change", () => {
  system.value = media.matches;
});

const stored = localStorage.getItem(KEY);
export const theme = signal<Theme>(stored === "light" || stored === "dark" ? stored : "system");
export const isDark = computed(() => (theme.value === "system" ? system.value : theme.value === "dark"));

effect(() => {
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
  if (theme.value === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme.value);
});

/** system, light, dark, and again. */
export function nextTheme(): void {
  const order: Theme[] = ["system", "light", "dark"];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
}
