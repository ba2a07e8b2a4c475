// SPDX-License-Identifier: Apache-2.0
// Who is signed in, and what they may do.
import { computed, signal } from "@preact/signals";

/** What GET /v1/caller answers. */
export interface Caller {
  owner: string | null;
  name: string | null;
  /** Of the token by which this browser is signed in. */
  token: string | null;
  role: "guest" | "user" | "admin";
  may_decide: boolean;
  read_only: boolean;
  version: string;
  node: string | null;
  expires: string | null;
  models: boolean;
  keeps_records: boolean;
  keeps_files: boolean;
}

/** undefined: not known yet. null: nobody. */
export const caller = signal<Caller | null | undefined>(undefined);

/** Somebody was signed in before, so the page keeps what it shows below the sign-in. */
export const wasSignedIn = signal(false);

export const isAdmin = computed(() => caller.value?.role === "admin");

/** The owner of whom a request asks: admins see what is everybody's. undefined: the caller. */
export function everybody(): "all" | undefined {
  return isAdmin.peek() ? "all" : undefined;
}

/** Whether OWNER is the caller. */
export function isMine(owner: string | null | undefined): boolean {
  return owner === caller.value?.owner;
}

/** Whose things the page shows. */
let shownOwner: string | null | undefined;

export function signedIn(who: Caller): void {
  if (wasSignedIn.peek() && who.owner !== shownOwner) {
    location.reload(); // so that nothing of one account is left for another
    return;
  }
  shownOwner = who.owner;
  wasSignedIn.value = true;
  caller.value = who;
}

/** The token was revoked or has expired. */
export function signedOut(): void {
  caller.value = null;
}
