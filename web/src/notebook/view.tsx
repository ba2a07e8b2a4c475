// SPDX-License-Identifier: Apache-2.0
// Sessions as notebooks.
import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { go } from "../app/router.js";
import type { ViewProps } from "../app/views.js";
import { Empty, Failure } from "../parts/controls.js";
import { ImportButton } from "./import_button.js";
import { NewSession } from "./new_session.js";
import { NotebookView } from "./notebook_view.js";
import { followSessions, kept, sessions } from "./sessions.js";
import { SessionTabs } from "./tabs.js";
import "./view.css";
import { openWorkspace, type Workspace } from "./workspace.js";

const lastShown = signal<string | undefined>(undefined);

export function View({ path }: ViewProps) {
  const wanted = path[0];
  const failure = useSignal<string | undefined>(undefined);
  useEffect(() => {
    return followSessions((error) => (failure.value = messageOf(error)));
  }, []);
  const live = sessions.value;
  const isLoaded = live !== undefined;
  useEffect(() => {
    if (wanted || !isLoaded) return;
    const ids = [...live.map((each) => each.session_id), ...kept.peek().map((each) => each.sessionId)];
    const next = ids.find((id) => id === lastShown.peek()) ?? ids[0];
    if (next) go("notebook", [next], { replace: true });
  }, [wanted, isLoaded]);
  if (failure.value && !live) return <Failure>{failure.value}</Failure>;
  if (!live && !wanted) return <p class="loading">Loading…</p>;
  return (
    <>
      <h1 class="hidden-text">Notebook</h1>
      {(live?.length || kept.value.length || wanted) && <SessionTabs current={wanted} />}
      {wanted ? <Opened key={wanted} id={wanted} /> : <First />}
    </>
  );
}

/** The session of the address, which may be a name. */
function Opened({ id }: { id: string }) {
  const workspace = useSignal<Workspace | undefined>(undefined);
  const missing = useSignal(false);
  useEffect(() => {
    openWorkspace(id).then(
      (found) => {
        workspace.value = found;
        missing.value = found === undefined;
        lastShown.value = found?.notebook.sessionId;
        if (found && found.notebook.sessionId !== id) go("notebook", [found.notebook.sessionId], { replace: true });
      },
      () => (missing.value = true),
    );
  }, [id]);
  if (missing.value) {
    return (
      <Empty title="There is no such session.">
        <p>It has ended, or belongs to somebody else. This browser keeps no notebook of it.</p>
      </Empty>
    );
  }
  return workspace.value ? <NotebookView workspace={workspace.value} /> : <p class="loading">Loading…</p>;
}

/** What is shown before there is any session. */
function First() {
  return (
    <div class="notebook-first">
      <h2>Start a session</h2>
      <p class="quiet">
        A session is a Python interpreter in a sandbox. It keeps its variables and files between cells, and you can go back to earlier states of it.
        Sessions of your agents appear here, too.
      </p>
      <NewSession />
      <ImportButton class="link" icon={null}>
        Open a notebook (.ipynb)
      </ImportButton>
    </div>
  );
}
