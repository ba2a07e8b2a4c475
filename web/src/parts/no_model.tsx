// SPDX-License-Identifier: Apache-2.0
// What the views show that ask a language model, where the daemon has none.
import { useSignal } from "@preact/signals";
import { ask } from "../app/api.js";
import { type Caller, signedIn } from "../app/caller.js";
import "./no_model.css";
import { trying } from "./toasts.js";

export function NoModel({ what }: { what: string }) {
  const said = useSignal("");
  const check = async () => {
    said.value = "";
    const who = await trying(() => ask<Caller>("GET", "/v1/caller"));
    if (!who) return;
    signedIn(who);
    if (!who.models) said.value = "The daemon still has no model.";
  };
  return (
    <section class="no-model card" aria-label="How to configure a model">
      <h2>{what} needs a language model</h2>
      <p>The daemon has none yet. Whoever runs it configures one in three steps, on its machine:</p>
      <ol>
        <li>
          <p>Add a model of a provider or of your own server, and check it. A key is read from standard input, never from the command line.</p>
          <pre class="command">{"adder model new local --provider ollama --model qwen3:8b\nadder model check local"}</pre>
          <p class="quiet">Or, with a key:</p>
          <pre class="command">{"pass show openai | adder model new gpt --provider openai --model gpt-5 --key-stdin"}</pre>
        </li>
        <li>
          <p>
            Let tools and this page use it: in <code>~/.config/adder/adder.conf</code> (<code>/etc/adder/adder.conf</code> for root), write
          </p>
          <pre class="command">{"[models]\nfor_tools = local"}</pre>
        </li>
        <li>
          <p>Have the daemon read its configuration again.</p>
          <pre class="command">adder serve reload</pre>
        </li>
      </ol>
      <div class="row">
        <button type="button" class="primary" onClick={() => void check()}>
          Check again
        </button>
        <span role="status">{said.value}</span>
      </div>
    </section>
  );
}
