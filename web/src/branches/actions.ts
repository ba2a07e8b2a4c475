// SPDX-License-Identifier: Apache-2.0
// What can be done with sessions, checkpoints and branches. Each says what went wrong, and loads the sessions again.
import { ask, pathOf } from "../app/api.js";
import { plural } from "../parts/format.js";
import { say, trying } from "../parts/toasts.js";
import { checkpointTitle, type Mark, type SessionRow, sessionTitle } from "./model.js";
import { forgetHistory, load } from "./store.js";

async function carryOut<T>(session: SessionRow, work: () => Promise<T>): Promise<T | undefined> {
  const done = await trying(work);
  forgetHistory(session.session_id);
  await load();
  return done;
}

function call<T>(session: SessionRow, method: string, rest: string[], body?: object): Promise<T> {
  return ask<T>(method, pathOf("v1", "sessions", session.session_id, ...rest), { body, endless: true });
}

export async function makeCheckpoint(session: SessionRow, name: string | undefined): Promise<Mark | undefined> {
  const made = await carryOut(session, () => call<Mark & { warnings: string[] }>(session, "POST", ["checkpoints"], { name: name || undefined }));
  if (made) say(`Checkpoint ${checkpointTitle(made)} of ${sessionTitle(session)}.${made.warnings.length ? ` ${made.warnings.join(" ")}` : ""}`);
  return made;
}

export async function rollBack(session: SessionRow, mark: Mark): Promise<boolean> {
  const done = await carryOut(session, () => call<SessionRow>(session, "POST", ["rollback"], { checkpoint: mark.checkpoint_id }));
  if (done) say(`${sessionTitle(session)} is back at ${checkpointTitle(mark)}.`);
  return done !== undefined;
}

export async function makeBranches(session: SessionRow, mark: Mark | undefined, count: number): Promise<SessionRow[]> {
  const body = { count, checkpoint: mark?.checkpoint_id };
  const made = await carryOut(session, () => call<{ sessions: SessionRow[] }>(session, "POST", ["branches"], body));
  if (made) say(`${plural(made.sessions.length, "branch", "branches")} of ${sessionTitle(session)}.`);
  return made?.sessions ?? [];
}

export async function rename(session: SessionRow, name: string | null): Promise<boolean> {
  return (await carryOut(session, () => call(session, "POST", ["rename"], { name }))) !== undefined;
}

export async function dropCheckpoint(session: SessionRow, mark: Mark): Promise<boolean> {
  const done = await carryOut(session, () => call(session, "DELETE", ["checkpoints", mark.checkpoint_id]));
  if (done) say(`Checkpoint ${checkpointTitle(mark)} is deleted. ${sessionTitle(session)} stays as it is.`);
  return done !== undefined;
}

export async function endSession(session: SessionRow): Promise<boolean> {
  const done = await carryOut(session, () => call(session, "DELETE", []));
  if (done) say(`${sessionTitle(session)} has ended.`);
  return done !== undefined;
}
