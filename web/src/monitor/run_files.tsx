// SPDX-License-Identifier: Apache-2.0
// The files that a run made, as far as they are still kept.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { FilePage, StoredFile } from "../../../clients/typescript/src/api.js";
import { ask, pathOf, queryOf } from "../app/api.js";
import { caller, everybody } from "../app/caller.js";
import { Dialog, IconButton } from "../parts/controls.js";
import { bytesText, plural, timeText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import type { KnownRun } from "./run_state.js";
import { Section } from "./section.js";

const PREVIEW_BYTES = 65_536;
const pictures = /^image\/(png|jpeg|gif|webp)$/;
const texts = /^text\/|json|csv|xml|python|javascript|yaml|toml/;

export function RunFiles({ known }: { known: KnownRun }) {
  const { run_id: id, record, result } = known.state;
  const made = (result?.files ?? record?.more?.files ?? []) as unknown[];
  const kept = useSignal<StoredFile[]>([]);
  const loaded = useSignal(false);
  const shown = useSignal<StoredFile | undefined>(undefined);
  useEffect(() => {
    if (known.state.state === "running" || !caller.value?.keeps_files) return;
    const query = queryOf({ run_id: id, limit: 1000, owner: everybody() });
    ask<FilePage>("GET", "/v1/files", { query }).then(
      (page) => {
        kept.value = page.files;
        loaded.value = true;
      },
      () => (loaded.value = true),
    );
  }, [id, known.state.state]);
  if (kept.value.length === 0 && (made.length === 0 || !loaded.value)) return null;
  return (
    <Section title="Files">
      {kept.value.length < made.length && <p class="quiet">It made {plural(made.length, "file")}; the others have expired, were deleted or were not kept.</p>}
      {kept.value.length > 0 && <Files files={kept.value} onShow={(file) => (shown.value = file)} />}
      {shown.value && <Preview file={shown.value} onClose={() => (shown.value = undefined)} />}
    </Section>
  );
}

function Files({ files, onShow }: { files: StoredFile[]; onShow: (file: StoredFile) => void }) {
  return (
    <div class="table-scroll">
      <table class="data">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col" class="runs-middle">
              Kept until
            </th>
            <th scope="col">
              <span class="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {files.map((file) => (
            <tr key={file.file_id}>
              <td class="runs-break">{file.name}</td>
              <td class="number">{bytesText(file.bytes)}</td>
              <td class="runs-middle">{timeText(file.expires)}</td>
              <td class="actions">
                {mayPreview(file) && <IconButton icon="search" label={`Preview ${file.name}`} onClick={() => onShow(file)} />}
                <a class="button icon-button" href={contentOf(file)} download={file.name} aria-label={`Download ${file.name}`} title={`Download ${file.name}`}>
                  <Icon name="download" />
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function mayPreview(file: StoredFile): boolean {
  return pictures.test(file.mime) || texts.test(file.mime);
}

function contentOf(file: StoredFile, more: Record<string, string> = {}): string {
  const query = queryOf({ ...more, owner: everybody() });
  return `${pathOf("v1", "files", file.file_id, "content")}${query.size > 0 ? `?${query}` : ""}`;
}

function Preview({ file, onClose }: { file: StoredFile; onClose: () => void }) {
  const text = useSignal<string | undefined>(undefined);
  const isPicture = pictures.test(file.mime);
  useEffect(() => {
    if (isPicture) return;
    const headers = file.bytes > PREVIEW_BYTES ? { Range: `bytes=0-${PREVIEW_BYTES - 1}` } : undefined;
    fetch(contentOf(file), { credentials: "same-origin", ...(headers && { headers }) }).then(
      async (response) => (text.value = response.ok ? await response.text() : `The file cannot be read (${response.status}).`),
      () => (text.value = "The file cannot be read."),
    );
  }, [file]);
  return (
    <Dialog title={file.name} onClose={onClose} wide>
      {isPicture ? (
        <img class="run-picture" src={contentOf(file, { inline: "true" })} alt={file.name} />
      ) : (
        <pre class="command run-code" tabIndex={0}>
          {text.value ?? "Loading…"}
        </pre>
      )}
      {!isPicture && file.bytes > PREVIEW_BYTES && (
        <p class="quiet">
          The first {bytesText(PREVIEW_BYTES)} of {bytesText(file.bytes)}. Download the file for the rest.
        </p>
      )}
    </Dialog>
  );
}
