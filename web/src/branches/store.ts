// SPDX-License-Identifier: Apache-2.0
// What the view knows of sessions and their cells. It loads again what the feed says has changed.
import { signal } from "@preact/signals";
import type { Variable } from "adder-client";
import { ask, pathOf, queryOf } from "../app/api.js";
import { afterFeed, type FeedEvent, resyncs } from "../app/feed.js";
import { type CellRow, type HistoryOf, isForgotten, type SessionRow } from "./model.js";

/** undefined: not loaded yet. */
export const sessions = signal<SessionRow[] | undefined>(undefined);
export const histories = signal<ReadonlyMap<string, HistoryOf>>(new Map());
export const loadFailure = signal<unknown>(undefined);

/** What a session's history depends on: it is loaded again when that differs. */
const stamps = new Map<string, string>();
const AT_ONCE = 4;
const PUBLISH_MS = 30;
const PAUSE_MS = 60;

function stampOf(session: SessionRow): string {
  const last = session.checkpoints.map((mark) => mark.checkpoint_id).join();
  return `${session.cells} ${session.state === "busy"} ${last}`;
}

/** Loads the list. */
export async function load(): Promise<void> {
  try {
    sessions.value = (await ask<{ sessions: SessionRow[] }>("GET", "/v1/sessions")).sessions;
    loadFailure.value = undefined;
  } catch (error) {
    loadFailure.value = error;
  }
}

/** Loads the cells of MEMBERS that have changed since they were last loaded. */
export async function loadHistories(members: SessionRow[]): Promise<void> {
  const stale = members.filter((each) => !isForgotten(each) && stamps.get(each.session_id) !== stampOf(each));
  const next = stale.values();
  const work = async () => {
    for (const session of next) await loadHistory(session);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function loadHistory(session: SessionRow): Promise<void> {
  const id = session.session_id;
  const stamp = stampOf(session);
  stamps.set(id, stamp);
  try {
    publish(id, await ask<HistoryOf>("GET", pathOf("v1", "sessions", id, "history")));
  } catch {
    stamps.delete(id); // the next event tries again
  }
}

const loaded = new Map<string, HistoryOf>();
let publishing: ReturnType<typeof setTimeout> | undefined;

/** Many histories that come at once are drawn once. */
function publish(id: string, history: HistoryOf): void {
  loaded.set(id, history);
  publishing ??= setTimeout(() => {
    publishing = undefined;
    histories.value = new Map([...histories.peek(), ...loaded]);
    loaded.clear();
  }, PUBLISH_MS);
}

/** Everything of a session is to be loaded anew: after a rollback the same number of cells are others. */
export function forgetHistory(id: string): void {
  stamps.delete(id);
}

/** Keeps the list current until the value is called. */
export function watchSessions(): () => void {
  const changed = (events: FeedEvent[]) => {
    for (const { id } of events) stamps.delete(id);
    void load();
  };
  const stopFeed = afterFeed(({ kind }) => kind === "session", changed, PAUSE_MS);
  const stopResync = resyncs.subscribe(() => {
    stamps.clear();
    void load();
  });
  return () => {
    stopFeed();
    stopResync();
  };
}

let results: { key: string; answer: Promise<HistoryOf> } | undefined;

/** The cells of a session with their results, as far as they are kept; LAST is its last cell. The same answer serves until that differs. */
export async function resultsOf(id: string, last: CellRow | undefined): Promise<HistoryOf> {
  const key = `${id} ${last?.cell} ${last?.started} ${last?.outcome}`;
  if (results?.key !== key) {
    const answer = ask<HistoryOf>("GET", pathOf("v1", "sessions", id, "history"), { query: queryOf({ results: true }) });
    results = { key, answer };
    answer.catch(() => (results = undefined));
  }
  return results.answer;
}

export async function variablesOf(id: string, names?: string[]): Promise<Variable[]> {
  const query = queryOf({ names: names?.join(",") });
  return (await ask<{ variables: Variable[] }>("GET", pathOf("v1", "sessions", id, "variables"), { query })).variables;
}
