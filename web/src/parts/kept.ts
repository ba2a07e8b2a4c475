// SPDX-License-Identifier: Apache-2.0
// What a view keeps in this browser from visit to visit: conversations, by owner. The daemon knows nothing of it.
import { caller } from "../app/caller.js";

/** A kept thing. `changed` is in milliseconds since 1970. */
export interface Kept {
  id: string;
  owner: string;
  changed: number;
}

export type KeptIn = "questions" | "chats";

const STORES: KeptIn[] = ["questions", "chats"];
const MOST = 200; // of one owner; the oldest go

let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("adder-conversations", 1);
    request.onupgradeneeded = () => {
      for (const store of STORES) request.result.createObjectStore(store, { keyPath: "id" });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(new Error(`This browser keeps nothing for the page: ${request.error?.message}`));
  });
  return opened;
}

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(new Error(`This browser could not keep it: ${request.error?.message}`));
  });
}

async function store(name: KeptIn, mode: IDBTransactionMode): Promise<IDBObjectStore> {
  return (await database()).transaction(name, mode).objectStore(name);
}

/** Whose things are kept and shown: those of another account in the same browser are not. */
export function keptOwner(): string {
  return caller.peek()?.owner ?? "";
}

/** All of the caller's, the latest first. */
export async function keptList<T extends Kept>(name: KeptIn): Promise<T[]> {
  const all = (await answered((await store(name, "readonly")).getAll())) as T[];
  return all.filter((each) => each.owner === keptOwner()).sort((a, b) => b.changed - a.changed);
}

/** Keeps VALUE in place of what has its id, and forgets the oldest where there are too many. */
export async function keep<T extends Kept>(name: KeptIn, value: T): Promise<void> {
  await answered((await store(name, "readwrite")).put(value));
  for (const old of (await keptList(name)).slice(MOST)) await forget(name, old.id);
}

export async function forget(name: KeptIn, id: string): Promise<void> {
  await answered((await store(name, "readwrite")).delete(id));
}
