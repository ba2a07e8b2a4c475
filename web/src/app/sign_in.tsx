// SPDX-License-Identifier: Apache-2.0
// The page before anybody is signed in; over a page whose token was revoked or has expired, which keeps what it shows.
import { useSignal } from "@preact/signals";
import { Failure } from "../parts/controls.js";
import { messageOf } from "./api.js";
import { wasSignedIn } from "./caller.js";
import { signIn } from "./session_cookie.js";

export function SignIn({ problem }: { problem?: string | undefined }) {
  const failure = useSignal<string | undefined>(undefined);
  const busy = useSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget as HTMLFormElement).get("token") ?? "").trim();
    busy.value = true;
    try {
      await signIn({ token });
    } catch (error) {
      failure.value = messageOf(error);
    } finally {
      busy.value = false;
    }
  };
  const said = failure.value ?? problem; // the link's, which may be known only after this is shown
  return (
    <div class="sign-in">
      <main class="card">
        <h1>
          <img src="/favicon.svg" alt="" width="32" height="32" /> Adder
        </h1>
        {wasSignedIn.value && <p class="notice">You are signed out: the token was revoked or has expired. Nothing on the page is lost.</p>}
        {!isSecureContext && (
          <Failure>Over plain HTTP, signing in works only on the daemon's own machine. Open this page over https, or through an SSH tunnel.</Failure>
        )}
        {said && <Failure>{said}</Failure>}
        <p>On the machine of this daemon, run</p>
        <pre class="command">adder open</pre>
        <p>and follow the link. Or paste a token, for instance of <code>adder token new NAME</code>:</p>
        <form onSubmit={submit}>
          <label for="token">Token</label>
          <input id="token" name="token" type="password" autocomplete="off" spellcheck={false} required maxLength={8192} />
          <button type="submit" class="primary" disabled={busy.value}>
            Sign in
          </button>
        </form>
      </main>
    </div>
  );
}
