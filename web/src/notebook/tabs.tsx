// SPDX-License-Identifier: Apache-2.0
// The sessions, one tab each; those that have ended keep their notebook until it is closed.
import { useSignal } from "@preact/signals";
import { go, hrefOf } from "../app/router.js";
import { Confirm } from "../parts/confirm.js";
import { Dialog, IconButton } from "../parts/controls.js";
import { say, trying } from "../parts/toasts.js";
import { NewSession } from "./new_session.js";
import { endSession, forget, kept, sessions } from "./sessions.js";
import { sessionKind, sessionTitle } from "./words.js";

const MOST_KEPT = 5; // more are in the list of notebooks

export function SessionTabs({ current }: { current: string | undefined }) {
  const adding = useSignal(false);
  const live = sessions.value ?? [];
  const ended = kept.value.filter(({ sessionId }, at) => at < MOST_KEPT || sessionId === current);
  return (
    <nav class="notebook-tabs" aria-label="Sessions">
      <ul>
        {live.map((session) => (
          <Tab
            key={session.session_id}
            id={session.session_id}
            title={sessionTitle(session)}
            hint={sessionKind(session)}
            state={session.state}
            isCurrent={session.session_id === current}
          />
        ))}
        {ended.map(({ sessionId, name, environment, profile }) => (
          <Tab
            key={sessionId}
            id={sessionId}
            title={sessionTitle({ name, session_id: sessionId })}
            hint={sessionKind({ environment, profile })}
            state="ended"
            isCurrent={sessionId === current}
          />
        ))}
        <li>
          <IconButton icon="plus" label="New session" onClick={() => (adding.value = true)} />
        </li>
      </ul>
      {adding.value && (
        <Dialog title="New session" onClose={() => (adding.value = false)}>
          <NewSession onDone={() => (adding.value = false)} />
        </Dialog>
      )}
    </nav>
  );
}

interface TabProps {
  id: string;
  title: string;
  hint: string;
  state: string;
  isCurrent: boolean;
}

function Tab({ id, title, hint, state, isCurrent }: TabProps) {
  const closing = useSignal(false);
  const hasEnded = state === "ended";
  const close = () =>
    trying(async () => {
      closing.value = false;
      await (hasEnded ? forget(id) : endSession(id));
      if (hasEnded && isCurrent) go("notebook", [], { replace: true });
      say(hasEnded ? `The notebook ${title} is removed.` : `The session ${title} has ended. Its notebook is kept.`);
    });
  return (
    <li class={isCurrent ? "current" : undefined}>
      <a href={hrefOf("notebook", id)} aria-current={isCurrent ? "page" : undefined} title={hint}>
        <span class={`notebook-dot ${state}`} aria-hidden="true" />
        <span class="notebook-tab-title">{title}</span>
        <span class="hidden-text">, {state}</span>
      </a>
      {isCurrent && <IconButton icon="close" label={hasEnded ? `Remove the notebook ${title}` : `End the session ${title}`} onClick={() => (closing.value = true)} />}
      {closing.value && (
        <Confirm
          title={hasEnded ? "Remove the notebook?" : "End the session?"}
          action={hasEnded ? "Remove the notebook" : "End the session"}
          onYes={() => void close()}
          onClose={() => (closing.value = false)}
        >
          {hasEnded
            ? "Its cells and outputs are removed from this browser. Export them first if you need them."
            : "Its variables and files are lost. The notebook stays, and its cells can be run again in a new session."}
        </Confirm>
      )}
    </li>
  );
}
