// SPDX-License-Identifier: Apache-2.0
// The page begins here.
import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { messageOf } from "./app/api.js";
import { caller, wasSignedIn } from "./app/caller.js";
import { resyncs, startFeed } from "./app/feed.js";
import { startKeys } from "./app/keys.js";
import { begin, look } from "./app/session_cookie.js";
import { Shell } from "./app/shell.js";
import { SignIn } from "./app/sign_in.js";
import "./app/theme.js";
import { startWaiting } from "./approvals/waiting.js";

const problem = signal<string | undefined>(undefined);

function Page() {
  const who = caller.value;
  if (who === undefined) return problem.value ? <SignIn problem={problem.value} /> : <p class="loading">Loading…</p>;
  return (
    <>
      {(who || wasSignedIn.value) && <Shell />}
      {!who && <SignIn problem={problem.value} />}
    </>
  );
}

startKeys();
startFeed();
startWaiting();
begin().then(
  (said) => (problem.value = said),
  (error) => (problem.value = messageOf(error)),
);
// Another daemon may be there after an interruption.
effect(() => {
  if (resyncs.value > 1) void look().catch(() => undefined);
});
render(<Page />, document.getElementById("app") as HTMLElement);
