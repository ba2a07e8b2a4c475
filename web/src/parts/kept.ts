// SPDX-License-Identifier: Apache-2.0
// What a view keeps in this browser from visit to visit: conversations, by owner. The daemon knows nothing of it.
import { caller } from "../app/caller.js";
import { Database } from "./database.js";

/** A kept thing. `changed` is in milliseconds since 1970. */
export interface Kept {
  id: string;
  owner: string;
  changed: number;
}

export type KeptIn = "questions" | "chats";

const STORES: KeptIn[] = ["questions", "chats"];
const MOST = 200; // of one owner; the oldest go

const database = new Database("adder-conversations", (made) => {
  for (const store of STORES) made.createObjectStore(store, { keyPath: "id" });
});

/** Whose things are kept and shown: those of another account in the same browser are not. */
export function keptOwner(): string {
  return caller.peek()?.owner ?? "";
}

/** All of the caller's, the latest first. */
export async function keptList<T extends Kept>(name: KeptIn): Promise<T[]> {
  const all = await database.using(name, "readonly", (store) => store.getAll() as IDBRequest<T[]>);
  return all.filter((each) => each.owner === keptOwner()).sort((a, b) => b.changed - a.changed);
}

/** Keeps VALUE in place of what has its id, and forgets the oldest where there are too many. */
export async function keep<T extends Kept>(name: KeptIn, value: T): Promise<void> {
  await database.using(name, "readwrite", (store) => store.put(value));
  if ((await database.using(name, "readonly", (store) => store.count())) <= MOST) return; // to read all of them takes long
  for (const old of (await keptList(name)).slice(MOST)) await forget(name, old.id);
}

export async function forget(name: KeptIn, id: string): Promise<void> {
  await database.using(name, "readwrite", (store) => store.delete(id));
}
