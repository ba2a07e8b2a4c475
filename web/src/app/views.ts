// SPDX-License-Identifier: Apache-2.0
// The views: one row each. Their code is loaded when they are first shown.
import type { ComponentType } from "preact";
import type { IconName } from "../parts/icons.js";

export interface ViewRow {
  view: string;
  title: string;
  icon: IconName;
  /** The second key after "g". */
  key: string;
  /** Only for admins. */
  admin?: boolean;
  /** On a phone it is in the bar at the bottom; the others are behind "More". */
  primary?: boolean;
  load: () => Promise<{ View: ComponentType<ViewProps> }>;
}

export interface ViewProps {
  /** What follows the view's name in the address. */
  path: string[];
}

export const views: ViewRow[] = [
  { view: "notebook", title: "Notebook", icon: "notebook", key: "n", primary: true, load: () => import("../notebook/view.js") },
  { view: "branches", title: "Branches", icon: "branches", key: "b", primary: true, load: () => import("../branches/view.js") },
  { view: "approvals", title: "Approvals", icon: "approvals", key: "a", primary: true, load: () => import("../approvals/view.js") },
  { view: "runs", title: "Runs", icon: "runs", key: "r", primary: true, load: () => import("../monitor/runs.js") },
  { view: "ask", title: "Ask", icon: "ask", key: "q", load: () => import("../ask/view.js") },
  { view: "chat", title: "Chat", icon: "chat", key: "c", load: () => import("../chat/view.js") },
  { view: "daemon", title: "Daemon", icon: "daemon", key: "d", load: () => import("../monitor/daemon.js") },
  { view: "tools", title: "Tools", icon: "tools", key: "t", load: () => import("../monitor/tools.js") },
  { view: "tokens", title: "Tokens", icon: "tokens", key: "k", admin: true, load: () => import("../monitor/tokens.js") },
];
