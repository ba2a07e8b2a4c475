// SPDX-License-Identifier: Apache-2.0
// The secret of a new token, which the daemon says once.
import { Dialog } from "../parts/controls.js";
import { CopyButton } from "../parts/copy_button.js";
import type { Token } from "./tokens.js";

export interface CreatedToken extends Token {
  secret: string;
}

export function TokenSecret({ token, onClose }: { token: CreatedToken; onClose: () => void }) {
  const lines = `export ADDER_URL=${location.origin}\nexport ADDER_TOKEN=${token.secret}`;
  return (
    <Dialog title={`The token ${token.name}`} onClose={onClose} wide>
      <p class="notice" role="status">
        This is its secret. Copy it now: the daemon keeps only a digest, and nobody can show it again.
      </p>
      <pre class="command run-code" tabIndex={0} aria-label="Secret">
        {token.secret}
      </pre>
      <p>
        <CopyButton text={token.secret} what="the secret" />
      </p>
      <p>To use it from the command line or a client, set these two variables:</p>
      <pre class="command run-code" tabIndex={0} aria-label="Environment variables">
        {lines}
      </pre>
      <p class="row">
        <CopyButton text={lines} what="both lines" />
        <button type="button" onClick={onClose}>
          I have it
        </button>
      </p>
    </Dialog>
  );
}
