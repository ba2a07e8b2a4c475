// SPDX-License-Identifier: Apache-2.0
// Tokens: who has access over HTTP, and what each may do. Made and revoked here.
import { useComputed, useSignal } from "@preact/signals";
import { ask, pathOf } from "../app/api.js";
import { caller, isAdmin } from "../app/caller.js";
import { signOut } from "../app/session_cookie.js";
import type { ViewProps } from "../app/views.js";
import { Confirm } from "../parts/confirm.js";
import { Badge, Empty, Failure, IconButton } from "../parts/controls.js";
import { plural, timeText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { say, trying } from "../parts/toasts.js";
import { useLoaded } from "./loaded.js";
import "./monitor.css";
import { NewToken } from "./token_new.js";
import { type CreatedToken, TokenSecret } from "./token_secret.js";

export interface Token {
  name: string;
  role: string;
  toolset: string | null;
  profiles: string[] | null;
  roots: string[] | null;
  read_only: boolean;
  may_decide: boolean;
  acts_for_users: boolean;
  rate: number;
  concurrent: number;
  created: string | null;
  expires: string | null;
  expired: boolean;
}

export function View(_props: ViewProps) {
  const making = useSignal(false);
  const made = useSignal<CreatedToken | undefined>(undefined);
  const revoking = useSignal<Token | undefined>(undefined);
  const { value: tokens, failure, reload } = useLoaded<Token[]>(async () => (await ask<{ tokens: Token[] }>("GET", "/v1/tokens")).tokens);
  const mayMake = useComputed(() => isAdmin.value && Boolean(caller.value?.may_decide));
  const revoke = async (token: Token) => {
    revoking.value = undefined;
    const gone = await trying(() => ask<Token>("DELETE", pathOf("v1", "tokens", token.name)));
    if (!gone) return;
    if (isOwn(token)) return signOut();
    say(`The token ${token.name} is revoked.`);
    reload();
  };
  return (
    <>
      <div class="view-head">
        <h1>Tokens</h1>
        <button type="button" class="primary" disabled={!mayMake.value} onClick={() => (making.value = true)}>
          <Icon name="plus" /> New token
        </button>
      </div>
      <p class="quiet">
        Anyone with a token can use this daemon over HTTP and MCP, within the token's permissions.
        {!mayMake.value && " Only admins that may decide for a person make and revoke tokens."}
      </p>
      {failure && <Failure>{failure}</Failure>}
      {!tokens && !failure && <p class="loading">Loading…</p>}
      {tokens?.length === 0 && <Empty title="There are no tokens.">Make one for each agent, service or colleague that uses this daemon over the network.</Empty>}
      {tokens && tokens.length > 0 && <TokenTable tokens={tokens} mayRevoke={mayMake.value} onRevoke={(token) => (revoking.value = token)} />}
      {making.value && (
        <NewToken
          onClose={() => (making.value = false)}
          onMade={(token) => {
            making.value = false;
            made.value = token;
            reload();
          }}
        />
      )}
      {made.value && <TokenSecret token={made.value} onClose={() => (made.value = undefined)} />}
      {revoking.value && (
        <Confirm
          title={`Revoke the token ${revoking.value.name}?`}
          action="Revoke it"
          onYes={() => void revoke(revoking.value as Token)}
          onClose={() => (revoking.value = undefined)}
        >
          {isOwn(revoking.value)
            ? "It is the token with which this browser is signed in: you are signed out."
            : "What uses it is refused from now on. This cannot be undone; a new token has another secret."}
        </Confirm>
      )}
    </>
  );
}

/** Whether this page is signed in with TOKEN. */
function isOwn(token: Token): boolean {
  return token.name === caller.value?.token;
}

function TokenTable({ tokens, mayRevoke, onRevoke }: { tokens: Token[]; mayRevoke: boolean; onRevoke: (token: Token) => void }) {
  return (
    <div class="table-scroll">
      <table class="data">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">May</th>
            <th scope="col" class="runs-wide">
              Limits
            </th>
            <th scope="col" class="number runs-middle">
              Created
            </th>
            <th scope="col" class="number runs-middle">
              Expires
            </th>
            <th scope="col">
              <span class="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <tr key={token.name}>
              <td class="runs-break">
                {token.name} {isOwn(token) && <Badge kind="good">this browser</Badge>} {token.expired && <Badge kind="bad">expired</Badge>}
              </td>
              <td>
                <Badge kind={token.role === "admin" ? "wait" : undefined}>{token.role}</Badge> {rightsOf(token).join(", ")}
              </td>
              <td class="runs-wide">{limitsOf(token)}</td>
              <td class="number runs-middle">{token.created ? timeText(token.created) : "–"}</td>
              <td class="number runs-middle">{token.expires ? timeText(token.expires) : "never"}</td>
              <td class="actions">{mayRevoke && <IconButton icon="trash" label={`Revoke ${token.name}`} onClick={() => onRevoke(token)} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function rightsOf(token: Token): string[] {
  const rights = [
    token.read_only && "reads only",
    token.may_decide && "decides approvals",
    token.acts_for_users && "acts for its users",
    token.toolset && `toolset ${token.toolset}`,
    token.profiles && `${plural(token.profiles.length, "profile")}: ${token.profiles.join(", ")}`,
    token.roots && (token.roots.length > 0 ? `directories: ${token.roots.join(", ")}` : "no directories"),
  ];
  return rights.filter((right): right is string => Boolean(right));
}

function limitsOf(token: Token): string {
  const limits = [token.rate > 0 && `${plural(token.rate, "request")} a minute`, token.concurrent > 0 && `${token.concurrent} at once`];
  return limits.filter(Boolean).join(", ") || "as configured";
}
