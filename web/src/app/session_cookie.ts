// SPDX-License-Identifier: Apache-2.0
// Signing in and out: the daemon keeps who it is in a cookie that scripts cannot read.
import { sayError } from "../parts/toasts.js";
import { ask, isSignedOut } from "./api.js";
import { type Caller, caller, signedIn, signedOut } from "./caller.js";
import { go } from "./router.js";

/** Signs in with a one-time code of `adder open`, or with a token. */
export async function signIn(by: { code: string } | { token: string }): Promise<void> {
  signedIn(await ask<Caller>("POST", "/v1/sign-in", { body: by }));
}

/** Signs out, and forgets all that the page shows: somebody else may come to this browser. Says so if the daemon did not hear it. */
export async function signOut(): Promise<void> {
  const answer = await fetch("/v1/sign-in", { method: "DELETE", credentials: "same-origin" }).catch(() => undefined);
  if (!answer?.ok) {
    sayError(new Error("You are still signed in: the daemon did not answer. Try again."));
    return;
  }
  history.replaceState(null, "", "#/");
  location.reload();
}

/** Looks who is signed in, after the code of the address, if it has one. Its error is for the sign-in to show. */
export async function begin(): Promise<string | undefined> {
  const code = /^#code=([\w.-]+)$/.exec(location.hash)?.[1];
  if (code) {
    go("notebook", [], { replace: true }); // it worked once; nobody should find it in the address bar
    try {
      await signIn({ code });
      return undefined;
    } catch {
      await look();
      return caller.value ? undefined : "This link was used already, or is older than a minute. Run `adder open` again.";
    }
  }
  await look();
  return undefined;
}

/** Asks who is signed in, and which version the daemon has now. */
export async function look(): Promise<void> {
  try {
    signedIn(await ask<Caller>("GET", "/v1/caller"));
  } catch (error) {
    if (!isSignedOut(error)) throw error;
    signedOut();
  }
}
