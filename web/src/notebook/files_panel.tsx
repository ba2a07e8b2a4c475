// SPDX-License-Identifier: Apache-2.0
// Files that were uploaded to a session or made by its cells.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { adder, messageOf } from "../app/api.js";
import { caller } from "../app/caller.js";
import { resyncs } from "../app/feed.js";
import { fileHref } from "../output/file_list.js";
import { TextOutput } from "../output/text_output.js";
import { Dialog, Failure } from "../parts/controls.js";
import { FileButton } from "../parts/file_button.js";
import { bytesText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { say, trying } from "../parts/toasts.js";
import { uploadFile } from "./actions.js";
import type { Workspace } from "./workspace.js";

interface ShownFile {
  name: string;
  file_id: string;
  bytes?: number;
  mime?: string;
}

const MOST = 200; // files
const LONGEST_PREVIEW = 1024 * 1024; // bytes
const PICTURE = /^image\/(?:png|jpeg|gif|webp|svg\+xml)$/;
const TEXT = /^(?:text\/|application\/(?:json|xml|x-ndjson|.*\+json))/;

export function FilesPanel({ workspace }: { workspace: Workspace }) {
  const files = useSignal<ShownFile[]>([]);
  const failure = useSignal<string | undefined>(undefined);
  const shown = useSignal<ShownFile | undefined>(undefined);
  const { notebook } = workspace;
  const version = workspace.filesVersion.value;
  const resynced = resyncs.value;
  const keeps = caller.value?.keeps_files ?? false;
  useEffect(() => {
    if (!keeps) return;
    const show = (all: ShownFile[]) => {
      files.value = all;
      failure.value = undefined;
    };
    filesOf(workspace).then(show, (error) => (failure.value = messageOf(error)));
  }, [workspace, version, keeps, resynced]);
  return (
    <>
      <FileButton class="notebook-upload" multiple disabled={notebook.ended.value} inputLabel="Files to upload" onFiles={(chosen) => void uploadAll(workspace, chosen)}>
        Upload files
      </FileButton>
      {failure.value && <Failure>{failure.value}</Failure>}
      {files.value.length === 0 && <p class="quiet">{keeps ? "Drop files anywhere on the notebook. Files that cells write are listed here, too." : "This daemon does not store files, so they are not listed."}</p>}
      <ul class="notebook-files" aria-label="Files of the session">
        {files.value.map((file) => (
          <li key={file.file_id}>
            <button type="button" class="link" onClick={() => (shown.value = file)} title={`Show ${file.name}`}>
              {file.name}
            </button>
            <span class="quiet">{file.bytes === undefined ? "" : bytesText(file.bytes)}</span>
            <a class="icon-button button" href={fileHref(file.file_id)} download={file.name} aria-label={`Download ${file.name}`} title={`Download ${file.name}`}>
              <Icon name="download" size={16} />
            </a>
          </li>
        ))}
      </ul>
      {shown.value && <FilePreview file={shown.value} onClose={() => (shown.value = undefined)} />}
    </>
  );
}

/** Uploads FILES one after the other, and says so. */
export async function uploadAll(workspace: Workspace, files: File[]): Promise<void> {
  const done: string[] = [];
  for (const file of files) {
    await trying(async () => {
      await uploadFile(workspace, file);
      done.push(file.name);
    });
  }
  if (done.length > 0) say(`${done.length === 1 ? `${done[0]} is` : `${done.length} files are`} in the session's directory.`);
}

/** The newest of each name: what was uploaded, and what cells made. */
async function filesOf({ notebook }: Workspace): Promise<ShownFile[]> {
  const { files } = await adder.files.page({ session: notebook.sessionId, limit: MOST });
  const made = files.filter((file) => file.kind === "generated" || file.kind === "uploaded");
  const all: ShownFile[] = [...made, ...notebook.uploads];
  return all.filter((file, at) => all.findIndex((other) => other.name === file.name) === at);
}

/** Why a file has no preview; undefined: it has one. */
function whyNone(mime: string, bytes: number): string | undefined {
  if (bytes === 0) return "The file is empty.";
  if (!PICTURE.test(mime) && !TEXT.test(mime)) return `There is no preview of ${mime}. Download the file instead.`;
  if (bytes > LONGEST_PREVIEW * (PICTURE.test(mime) ? 8 : 1)) return "The file is too long for a preview. Download it instead.";
  return undefined;
}

function FilePreview({ file, onClose }: { file: ShownFile; onClose: () => void }) {
  const text = useSignal<string | undefined>(undefined);
  const picture = useSignal<string | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const none = useSignal<string | undefined>(undefined);
  useEffect(() => {
    let url: string | undefined;
    const read = async () => {
      const { mime, bytes } = await adder.files.show(file.file_id);
      none.value = whyNone(mime, bytes);
      if (none.value) return;
      if (PICTURE.test(mime)) {
        url = URL.createObjectURL(new Blob([(await adder.files.get(file.file_id)) as BlobPart], { type: mime }));
        picture.value = url;
        return;
      }
      text.value = await adder.files.text(file.file_id);
    };
    read().catch((error) => (failure.value = messageOf(error)));
    return () => {
      if (url) URL.revokeObjectURL(url);
    };
  }, [file]);
  return (
    <Dialog title={file.name} onClose={onClose} wide>
      {failure.value && <Failure>{failure.value}</Failure>}
      {none.value && <p class="quiet">{none.value}</p>}
      {picture.value && <img class="output-picture" src={picture.value} alt={file.name} />}
      {text.value !== undefined && <TextOutput name="text" text={text.value} />}
      {!failure.value && !none.value && !picture.value && text.value === undefined && <p class="quiet">Loading…</p>}
      <div class="row">
        <a class="button" href={fileHref(file.file_id)} download={file.name}>
          <Icon name="download" size={16} /> Download
        </a>
      </div>
    </Dialog>
  );
}
