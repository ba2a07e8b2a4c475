// SPDX-License-Identifier: Apache-2.0
// Notebooks as this browser keeps them, in IndexedDB: one for each session, separate for each account.
import { Database } from "../parts/database.js";
import { keptOwner } from "../parts/kept.js";
import type { StoredCell } from "./cell.js";

export interface Upload {
  name: string;
  file_id: string;
}

export interface StoredNotebook {
  /** The account and the session. */
  key: string;
  owner: string;
  sessionId: string;
  name: string | null;
  environment: string | null;
  profile: string | null;
  /** Limits of each cell. */
  wallMs: number | null;
  cells: StoredCell[];
  /** The numbers of the session's cells that are in the notebook, or were left out of it. */
  seen: number[];
  /** Files that were uploaded, as the daemon stores them. */
  uploads: Upload[];
  changed: number;
  metadata: Record<string, unknown>;
}

const MOST = 100; // notebooks
const OLDEST_MS = 60 * 24 * 3600 * 1000;
const STORE = "notebooks";
const database = new Database("adder-notebooks", (made) => {
  made.createObjectStore(STORE, { keyPath: "key" }).createIndex("owner", "owner");
});

function using<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return database.using(STORE, mode, work);
}

export function keyOf(sessionId: string): string {
  return `${keptOwner()}/${sessionId}`;
}

export async function loadNotebook(sessionId: string): Promise<StoredNotebook | undefined> {
  return using("readonly", (store) => store.get(keyOf(sessionId)) as IDBRequest<StoredNotebook | undefined>);
}

export async function saveNotebook(notebook: StoredNotebook): Promise<void> {
  await using("readwrite", (store) => store.put(notebook));
}

export async function forgetNotebook(sessionId: string): Promise<void> {
  await using("readwrite", (store) => store.delete(keyOf(sessionId)));
}

/** All notebooks of the account, the latest first. What is too old, or too much, is removed. */
export async function listNotebooks(): Promise<StoredNotebook[]> {
  const all = await using("readonly", (store) => store.index("owner").getAll(keptOwner()) as IDBRequest<StoredNotebook[]>);
  all.sort((a, b) => b.changed - a.changed);
  const kept = all.filter(({ changed }, at) => at < MOST && Date.now() - changed < OLDEST_MS);
  for (const { key } of all) if (!kept.some((each) => each.key === key)) await using("readwrite", (store) => store.delete(key));
  return kept;
}
