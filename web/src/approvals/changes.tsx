// SPDX-License-Identifier: Apache-2.0
// Changes of a directory, file by file.
import type { Change } from "adder-client";
import { Code, Revealed } from "../parts/code.js";
import { bytesText, plural } from "../parts/format.js";
import { changeKind, renamedFrom } from "./model.js";

const OPEN_LINES = 400;

export function Changes({ changes }: { changes: Change[] }) {
  return (
    <section class="approvals-changes" aria-label="Changes">
      <p class="quiet">{summaryOf(changes)}</p>
      {changes.map((change, index) => (
        <ChangedFile key={change.path ?? index} change={change} from={renamedFrom(change, changes)} />
      ))}
    </section>
  );
}

function summaryOf(changes: Change[]): string {
  const count = (kinds: string[]) => changes.filter((each) => kinds.includes(each.change)).length;
  const lines = (sign: string) => changes.reduce((sum, each) => sum + (each.diff?.split("\n").filter((line) => line.startsWith(sign)).length ?? 0), 0);
  const parts = [
    count(["created"]) && `${count(["created"])} new`,
    count(["changed", "replaced"]) && `${count(["changed", "replaced"])} changed`,
    count(["deleted"]) && `${count(["deleted"])} deleted`,
  ];
  return `${plural(changes.length, "file")}: ${parts.filter(Boolean).join(", ")}. ${plural(lines("+"), "line")} added, ${plural(lines("-"), "line")} removed.`;
}

function ChangedFile({ change, from }: { change: Change; from: string | undefined }) {
  const { sign, text } = changeKind(change);
  const lines = change.diff?.split("\n").length ?? 0;
  return (
    <details class="approvals-file" open={lines > 0 && lines <= OPEN_LINES}>
      <summary>
        <b class={`approvals-sign ${change.change}`} aria-hidden="true">{sign}</b>
        <span class="mono approvals-path"><Revealed text={change.path ?? "a name that cannot be shown"} /></span>
        <span class="quiet">{[text, ...factsOf(change)].join(" · ")}</span>
      </summary>
      {from && <p class="quiet">It has the size of <span class="mono"><Revealed text={from} /></span>, which is deleted: it may have been renamed.</p>}
      {change.target !== null && <p>It points to <span class="mono"><Revealed text={change.target} /></span></p>}
      {change.diff ? <Code text={change.diff} language="diff" reveal label={`Changes of ${change.path}`} /> : <p class="quiet">{withoutDiff(change)}</p>}
      {change.truncated && <p class="notice">The rest of this file's changes are not shown.</p>}
    </details>
  );
}

function factsOf(change: Change): string[] {
  const facts: string[] = [];
  if (change.type && change.type !== "file") facts.push(change.type);
  if (change.type_before && change.type && change.type_before !== change.type) facts.push(`was a ${change.type_before}`);
  if (change.mode && change.mode_before && change.mode !== change.mode_before) facts.push(`mode ${change.mode_before} → ${change.mode}`);
  else if (change.change === "created" && change.mode && /[1357]/.test(change.mode.slice(1))) facts.push(`executable, mode ${change.mode}`);
  if (change.binary) facts.push("binary");
  if (change.bytes_before !== null && change.bytes !== null) facts.push(`${bytesText(change.bytes_before)} → ${bytesText(change.bytes)}`);
  else if (change.bytes !== null || change.bytes_before !== null) facts.push(bytesText(change.bytes ?? change.bytes_before ?? 0));
  return facts;
}

function withoutDiff(change: Change): string {
  if (change.change === "deleted") return "It is deleted.";
  if (change.binary) return "It is not text, or too long to compare.";
  return change.truncated ? "" : "Its content does not change.";
}
