// SPDX-License-Identifier: Apache-2.0
// The daemon: how it does, its sessions, environments, profiles and store.
import type { ComponentType } from "preact";
import { isAdmin } from "../app/caller.js";
import { hrefOf } from "../app/router.js";
import type { ViewProps } from "../app/views.js";
import { Empty } from "../parts/controls.js";
import { EnvironmentList } from "./environment_list.js";
import "./monitor.css";
import { Overview } from "./overview.js";
import { Profiles } from "./profiles.js";
import { SessionList } from "./session_list.js";
import { StoreView } from "./store_view.js";

interface Part {
  name: string;
  title: string;
  admin?: boolean;
  Shown: ComponentType<{ path: string[] }>;
}

const parts: Part[] = [
  { name: "", title: "Overview", admin: true, Shown: Overview },
  { name: "sessions", title: "Sessions", Shown: SessionList },
  { name: "environments", title: "Environments", Shown: EnvironmentList },
  { name: "profiles", title: "Profiles", Shown: Profiles },
  { name: "store", title: "Store", admin: true, Shown: StoreView },
];

export function View({ path }: ViewProps) {
  const part = parts.find((each) => each.name === (path[0] ?? ""));
  const may = !part?.admin || isAdmin.value;
  return (
    <>
      <div class="view-head">
        <h1>Daemon</h1>
        <nav class="monitor-tabs" aria-label="Parts of the daemon">
          {parts.map((each) => (
            <a key={each.name} href={each.name ? hrefOf("daemon", each.name) : hrefOf("daemon")} aria-current={each === part ? "page" : undefined}>
              {each.title}
            </a>
          ))}
        </nav>
      </div>
      {!part && <Empty title="There is no such page." />}
      {part && !may && (
        <Empty title="Only admins see this.">
          <p>Sign in with a token of the role admin: on the daemon's machine, <code>adder open</code> gives you one. Your sessions, and what you may run, are in the other parts.</p>
        </Empty>
      )}
      {part && may && <part.Shown path={path.slice(1)} />}
    </>
  );
}
