// SPDX-License-Identifier: Apache-2.0
// Files that a run made, to be downloaded.
import type { MadeFile } from "adder-client";
import { pathOf } from "../app/api.js";
import { bytesText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import "./output.css";

/** The address at which a stored file is downloaded. */
export function fileHref(fileId: string): string {
  return pathOf("v1", "files", fileId, "content");
}

export function FileList({ files }: { files: MadeFile[] }) {
  return (
    <ul class="output-files" aria-label="Files">
      {files.map((file) => (
        <li key={file.name}>
          <Icon name="file" size={16} />
          {file.file_id ? (
            <a href={file.url ?? fileHref(file.file_id)} download={file.name.split("/").pop()}>
              {file.name}
            </a>
          ) : (
            <span>{file.name}</span>
          )}
          <span class="quiet">{bytesText(file.bytes)}</span>
        </li>
      ))}
    </ul>
  );
}
