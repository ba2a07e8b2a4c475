// SPDX-License-Identifier: Apache-2.0
// The live sessions with their memory: the caller's, for an admin everybody's.
import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import type { SessionInfo } from "../../../clients/typescript/src/api.js";
import { ask, messageOf, pathOf, queryOf } from "../app/api.js";
import { everybody, isAdmin, isMine } from "../app/caller.js";
import { afterFeed, type FeedEvent, resyncs } from "../app/feed.js";
import { hrefOf } from "../app/router.js";
import { Confirm } from "../parts/confirm.js";
import { Empty, Failure, IconButton, Outcome } from "../parts/controls.js";
import { bytesText, durationText, numberText, plural } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { say, trying } from "../parts/toasts.js";

const PAUSE_MS = 500;

function concerns({ kind, object }: FeedEvent): boolean {
  return kind === "session" || (kind === "run" && Boolean(object["session"]));
}

export function SessionList() {
  const sessions = useSignal<SessionInfo[] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const ending = useSignal<SessionInfo | undefined>(undefined);
  const load = useCallback(async () => {
    try {
      const all = (await ask<{ sessions: SessionInfo[] }>("GET", "/v1/sessions", { query: queryOf({ owner: everybody() }) })).sessions;
      sessions.value = all.filter((session) => session.state !== "ended").sort((a, b) => b.memory_bytes - a.memory_bytes);
      failure.value = undefined;
    } catch (error) {
      failure.value = messageOf(error);
    }
  }, []);
  useEffect(() => void load(), [resyncs.value]);
  useEffect(() => afterFeed(concerns, () => void load(), PAUSE_MS), []);
  const end = async (session: SessionInfo) => {
    ending.value = undefined;
    const query = queryOf({ owner: isMine(session.owner) ? undefined : session.owner });
    const ended = await trying(() => ask("DELETE", pathOf("v1", "sessions", session.session_id), { query }));
    if (ended) say(`The session ${nameOf(session)} has ended.`);
    await load();
  };
  const list = sessions.value;
  if (failure.value) return <Failure>{failure.value}</Failure>;
  if (!list) return <p class="loading">Loading…</p>;
  if (list.length === 0) {
    return (
      <Empty title="No session is live.">
        <p>
          Sessions keep variables between runs. Make one in the <a href={hrefOf("notebook")}>notebook</a>, or with
        </p>
        <pre class="command">adder session new --name lab</pre>
      </Empty>
    );
  }
  const bytes = list.reduce((sum, session) => sum + session.memory_bytes, 0);
  return (
    <>
      <p class="quiet">
        {plural(list.length, "live session")} with {bytesText(bytes)}.
      </p>
      <div class="table-scroll">
        <table class="data">
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col">State</th>
              {isAdmin.value && (
                <th scope="col" class="runs-wide">
                  Owner
                </th>
              )}
              <th scope="col" class="number">
                Memory
              </th>
              <th scope="col" class="number runs-middle">
                Cells
              </th>
              <th scope="col" class="number runs-middle">
                Variables
              </th>
              <th scope="col" class="number runs-wide">
                Checkpoints
              </th>
              <th scope="col" class="runs-wide">
                Environment
              </th>
              <th scope="col" class="number runs-wide">
                Ends unused in
              </th>
              <th scope="col">
                <span class="hidden-text">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {list.map((session) => (
              <tr key={session.session_id}>
                <td class="runs-break">
                  {isMine(session.owner) ? <a href={hrefOf("notebook", session.session_id)}>{nameOf(session)}</a> : nameOf(session)}
                </td>
                <td>
                  <Outcome outcome={session.state} />
                </td>
                {isAdmin.value && <td class="runs-wide runs-break">{session.owner}</td>}
                <td class="number">{bytesText(session.memory_bytes)}</td>
                <td class="number runs-middle">{numberText(session.cells)}</td>
                <td class="number runs-middle">{numberText(session.variables)}</td>
                <td class="number runs-wide">{session.checkpoints.length}</td>
                <td class="runs-wide">{session.environment}</td>
                <td class="number runs-wide">{session.expires_in_ms === null ? "–" : durationText(session.expires_in_ms)}</td>
                <td class="actions">
                  {isMine(session.owner) && (
                    <a class="button icon-button" href={hrefOf("branches", session.session_id)} aria-label={`Branches of ${nameOf(session)}`} title="Branches">
                      <Icon name="branches" />
                    </a>
                  )}
                  <IconButton icon="trash" label={`End ${nameOf(session)}`} onClick={() => (ending.value = session)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {ending.value && (
        <Confirm
          title={`End the session ${nameOf(ending.value)}?`}
          action="End the session"
          onYes={() => void end(ending.value as SessionInfo)}
          onClose={() => (ending.value = undefined)}
        >
          Its {plural(ending.value.variables, "variable")} and {plural(ending.value.checkpoints.length, "checkpoint")} are lost. Its record stays, so it can be
          replayed.
        </Confirm>
      )}
    </>
  );
}

function nameOf(session: SessionInfo): string {
  return session.name ?? session.session_id.slice(0, 13);
}
