// SPDX-License-Identifier: Apache-2.0
// What the page keeps in this browser, in IndexedDB.

export class Database {
  readonly #name: string;
  readonly #make: (database: IDBDatabase) => void;
  #opened: Promise<IDBDatabase> | undefined;

  /** MAKE makes the stores of the database NAME where this browser does not have it yet. Nothing is opened before the first use. */
  constructor(name: string, make: (database: IDBDatabase) => void) {
    this.#name = name;
    this.#make = make;
  }

  /** What WORK asks of the store NAME, its one request, in a transaction of its own, which has ended then. */
  async using<T>(name: string, mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const transaction = (await this.#open()).transaction(name, mode);
    const asking = work(transaction.objectStore(name));
    if (mode === "readwrite") transaction.commit(); // at once: a page that is left hears no answer, and what it has not committed then is undone
    return new Promise((resolve, reject) => {
      const failed = () => reject(new Error(`This browser could not keep it: ${transaction.error?.message}`));
      transaction.oncomplete = () => resolve(asking.result);
      transaction.onerror = failed;
      transaction.onabort = failed;
    });
  }

  #open(): Promise<IDBDatabase> {
    this.#opened ??= new Promise((resolve, reject) => {
      const asking = indexedDB.open(this.#name, 1);
      asking.onupgradeneeded = () => this.#make(asking.result);
      asking.onsuccess = () => resolve(asking.result);
      asking.onerror = () => reject(new Error(`This browser keeps nothing for the page: ${asking.error?.message}`));
    });
    return this.#opened;
  }
}
