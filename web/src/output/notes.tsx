// SPDX-License-Identifier: Apache-2.0
// What else a result says: files, what was refused, warnings, and where the whole output is.
import type { ResultData } from "adder-client";
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { adder } from "../app/api.js";
import { hrefOf } from "../app/router.js";
import { bytesText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { trying } from "../parts/toasts.js";
import { saveBlob } from "./save.js";
import { FileList } from "./file_list.js";
import "./output.css";

export type Notable = Pick<ResultData, "files" | "warnings" | "denials" | "violations" | "truncated" | "result_id" | "stdout_bytes" | "stderr_bytes" | "approval_id" | "outcome">;

export function ResultNotes({ result }: { result: Notable }) {
  const { files, warnings, denials, violations } = result;
  const made = files.filter((file) => !/^tmp\/output\/table-\d+(?:-\d+)?\.\w+$/.test(file.name));
  return (
    <>
      {violations.length > 0 && (
        <Notes title="Refused before it ran">
          {violations.map((each, at) => (
            <li key={at}>
              {each.rule} in line {each.line}: <code>{each.text}</code> {each.hint && <span class="quiet">{each.hint}</span>}
            </li>
          ))}
        </Notes>
      )}
      {denials.length > 0 && (
        <Notes title="Refused by the sandbox">
          {denials.map((each, at) => (
            <li key={at}>
              {each.kind}: <code>{each.detail}</code> <span class="quiet">{each.hint}</span>
            </li>
          ))}
        </Notes>
      )}
      {warnings.length > 0 && (
        <Notes title="Warnings">
          {warnings.map((text, at) => (
            <li key={at}>{text}</li>
          ))}
        </Notes>
      )}
      {result.approval_id && (
        <p class="output-note">
          <Icon name="approvals" size={16} />
          <a href={hrefOf("approvals", result.approval_id)}>{result.outcome === "approval_required" ? "A person must approve this first" : "Its changes wait for a review"}</a>
        </p>
      )}
      {result.truncated && result.result_id && <WholeOutput id={result.result_id} stdout={result.stdout_bytes} stderr={result.stderr_bytes} />}
      {made.length > 0 && <FileList files={made} />}
    </>
  );
}

function Notes({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="output-notes">
      <strong>{title}</strong>
      <ul>{children}</ul>
    </div>
  );
}

/** Output that is too long for a result is stored, and downloaded in parts. */
function WholeOutput({ id, stdout, stderr }: { id: string; stdout: number; stderr: number }) {
  const busy = useSignal(false);
  const save = (stream: "stdout" | "stderr") =>
    trying(async () => {
      busy.value = true;
      try {
        const pieces: BlobPart[] = [];
        for await (const text of adder.results.read(id, { stream })) pieces.push(text);
        saveBlob(new Blob(pieces, { type: "text/plain" }), `${stream}.txt`);
      } finally {
        busy.value = false;
      }
    });
  return (
    <p class="output-note">
      <span class="quiet">The result has the beginning and the end of the output.</span>
      {stdout > 0 && (
        <button type="button" class="link" disabled={busy.value} onClick={() => void save("stdout")}>
          Download all of standard output ({bytesText(stdout)})
        </button>
      )}
      {stderr > 0 && (
        <button type="button" class="link" disabled={busy.value} onClick={() => void save("stderr")}>
          Download all of standard error ({bytesText(stderr)})
        </button>
      )}
    </p>
  );
}
