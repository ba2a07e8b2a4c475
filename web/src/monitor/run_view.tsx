// SPDX-License-Identifier: Apache-2.0
// Everything about one run.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { RunRecord } from "../../../clients/typescript/src/api.js";
import { ask, pathOf, queryOf } from "../app/api.js";
import { isMine } from "../app/caller.js";
import { type Shortcut, useKeys } from "../app/keys.js";
import { go, hrefOf } from "../app/router.js";
import { Code } from "../parts/code.js";
import { Failure, Outcome } from "../parts/controls.js";
import { CopyButton } from "../parts/copy_button.js";
import { durationText, spaced, timeText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { say, trying } from "../parts/toasts.js";
import { RunApproval } from "./run_approval.js";
import { RunFiles } from "./run_files.js";
import { RunLive } from "./run_live.js";
import { RunOutput } from "./run_output.js";
import { ended } from "./run_rows.js";
import { type KnownRun, useRun } from "./run_state.js";
import { RunUsage } from "./run_usage.js";
import { Facts, Section } from "./section.js";
import { interfaceText, isolationText, outcomeText } from "./words.js";

export function RunView({ id }: { id: string }) {
  const { run, failure, reload } = useRun(id);
  const keys = useMemo<Shortcut[]>(
    () => [
      { keys: "j", text: "Next run of the list", group: "Run", run: () => step(id, 1) },
      { keys: "k", text: "Previous run of the list", group: "Run", run: () => step(id, -1) },
      { keys: "Escape", text: "Back to the list", group: "Run", run: () => go("runs") },
    ],
    [id],
  );
  useKeys(keys);
  const known = run.value;
  return (
    <>
      <p>
        <a href={hrefOf("runs")}>← Runs</a>
      </p>
      {failure.value && !known && <Failure>{failure.value}</Failure>}
      {known ? <Known known={known} onChange={reload} /> : !failure.value && <p class="loading">Loading…</p>}
    </>
  );
}

/** To the run BY rows further in the list as it was last shown. */
function step(id: string, by: number): void {
  const rows = ended.peek();
  const at = rows.findIndex((row) => row.id === id);
  const other = at < 0 ? undefined : rows[at + by];
  if (other) go("runs", [other.id], { replace: true });
}

function Known({ known, onChange }: { known: KnownRun; onChange: () => void }) {
  const { state, outcome } = known;
  const { result, record } = state;
  const code = record?.code ?? state.code;
  return (
    <>
      <div class="view-head">
        <h1 class="run-title">
          Run <span class="mono">{state.run_id}</span>
        </h1>
        <CopyButton text={state.run_id} what="the id" short />
        {state.session && isMine(state.owner) && (
          <a class="button" href={hrefOf("notebook", state.session)}>
            <Icon name="notebook" /> Open its session
          </a>
        )}
        {outcome === "running" && <Cancel known={known} onChange={onChange} />}
      </div>
      <p class="run-outcome" role="status">
        <Outcome outcome={outcome} /> {outcomeText(outcome)}
        {record?.exit_code ? ` Exit code ${record.exit_code}.` : ""}
        {result?.signal ? ` Signal ${result.signal}.` : ""}
      </p>
      {!result && <Problem record={record} />}
      <div class="run-columns">
        <div class="run-main">
          {code && (
            <Section title={record ? "Code" : "The beginning of the code"}>
              <Code text={code} numbers reveal label="Code of the run" />
            </Section>
          )}
          {outcome === "running" ? <RunLive known={known} onEnd={onChange} /> : <RunOutput known={known} />}
          <RunFiles known={known} />
        </div>
        <div class="run-aside">
          <RunUsage known={known} />
          <RunApproval known={known} />
          <Details known={known} />
        </div>
      </div>
    </>
  );
}

function Cancel({ known, onChange }: { known: KnownRun; onChange: () => void }) {
  const { run_id: id, owner } = known.state;
  const query = queryOf({ owner: isMine(owner) ? undefined : owner });
  const cancel = async () => {
    const run = await trying(() => ask("DELETE", pathOf("v1", "runs", id), { query }));
    if (run) say("The run is cancelled.");
    onChange();
  };
  return (
    <button type="button" class="danger" onClick={() => void cancel()}>
      <Icon name="stop" /> Cancel the run
    </button>
  );
}

interface ErrorText {
  type?: string | null;
  message?: string | null;
  line?: number | null;
  hint?: string | null;
}

/** Why it failed, and what the sandbox refused, as the record has it; a result says it itself. */
function Problem({ record }: { record: RunRecord | null }) {
  const error = record?.more?.error as ErrorText | undefined;
  const denials = (record?.more?.denials ?? []) as Array<{ kind?: string; detail?: string; hint?: string }>;
  if (!error && denials.length === 0) return null;
  return (
    <div class="run-problems">
      {error && (
        <p class="failure">
          <Icon name="warning" />
          <span>
            <b>{error.type}</b>
            {error.line ? ` in line ${error.line}` : ""}: {error.message} {error.hint}
          </span>
        </p>
      )}
      {denials.map((each, at) => (
        <p key={at} class="notice">
          The sandbox refused ({spaced(each.kind ?? "")}): {each.detail}. <span>{each.hint}</span>
        </p>
      ))}
    </div>
  );
}

/** "adder.run_python" -> the tool, in its toolset. */
function toolHref(tool: string): string {
  const at = tool.indexOf(".");
  return at < 0 ? hrefOf("tools", tool) : hrefOf("tools", tool.slice(at + 1), tool.slice(0, at));
}

function Details({ known }: { known: KnownRun }) {
  const { state } = known;
  const { record, result } = state;
  const more = record?.more;
  const session = state.session ?? record?.session_id;
  const missing = result?.isolation?.missing ?? more?.missing ?? [];
  const container = result?.isolation?.container;
  const network = (result?.network ?? more?.network ?? []) as Array<{ host?: string; port?: number; in_bytes?: number; out_bytes?: number }>;
  const rows: Array<[string, ComponentChildren]> = [
    ["Description", more?.description],
    ["Started", state.started && timeText(state.started)],
    ["Waited", record?.usage.queue_ms ? `${durationText(record.usage.queue_ms)} for a sandbox` : undefined],
    ["Owner", state.owner],
    ["Role", record?.role],
    ["Interface", interfaceText(state.front_end)],
    ["Tool", record?.tool && <a href={toolHref(record.tool)}>{record.tool}</a>],
    ["Conversation", state.conversation],
    ["Session", session && (isMine(state.owner) ? <a href={hrefOf("notebook", session)}>{session}</a> : session)],
    ["Cell", record?.cell],
    ["Profile", record?.profile],
    ["Environment", record?.environment],
    ["Arguments", more?.argv?.join(" ")],
    ["Variables", more?.variables?.join(", ")],
    ["Input files", more?.inputs?.join(", ")],
    ["Directory", more?.workdir && `${more.workdir.path} (${more.workdir.mode})`],
    ["Isolation", record && isolationText(record.isolation_level)],
    ["Missing", missing.length > 0 ? missing.join(", ") : undefined],
    ["Container", container && `${container.image} in ${container.engine}`],
    ["Network", network.length > 0 ? network.map((each) => `${each.host}:${each.port}`).join(", ") : record && "no connections through the proxy"],
    ["Machine", record?.node],
    ["Record", record?.seq !== null && record?.seq !== undefined ? `number ${record.seq}` : undefined],
    ["Code's digest", record?.code_sha256 && <span class="mono">{record.code_sha256.slice(0, 16)}…</span>],
  ];
  return (
    <Section title="Details">
      {record?.damaged && <Failure>This record was damaged after it was written. <code>adder history verify</code> says more.</Failure>}
      <Facts rows={rows} />
    </Section>
  );
}
