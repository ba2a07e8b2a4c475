// SPDX-License-Identifier: Apache-2.0
// Files of the user's to the daemon's store. fetch tells nothing of how far an upload is; XMLHttpRequest does.
import type { StoredFile } from "adder-client";
import { signedOut } from "../app/caller.js";

export interface UploadOptions {
  /** The conversation to which the file belongs. */
  conversation?: string | undefined;
  /** Told how much is sent, from 0 to 1. */
  onProgress?: (part: number) => void;
  signal?: AbortSignal | undefined;
}

/** Stores FILE, of any length. Rejects with a sentence for people. */
export function upload(file: File, options: UploadOptions = {}): Promise<StoredFile> {
  const form = new FormData();
  form.set("file", file, file.name);
  if (options.conversation) form.set("conversation", options.conversation);
  const request = new XMLHttpRequest();
  request.open("POST", "/v1/files");
  request.setRequestHeader("Accept", "application/json, application/problem+json");
  request.responseType = "json";
  request.upload.onprogress = (event) => options.onProgress?.(event.total ? event.loaded / event.total : 0);
  options.signal?.addEventListener("abort", () => request.abort(), { once: true });
  return new Promise((resolve, reject) => {
    request.onload = () => {
      const stored = request.response?.files?.[0] as StoredFile | undefined;
      if (request.status === 401) signedOut();
      if (request.status < 300 && stored) resolve(stored);
      else reject(new Error(`${file.name} was not stored: ${request.response?.detail ?? `HTTP status ${request.status}`}`));
    };
    request.onerror = () => reject(new Error(`${file.name} was not stored: the connection broke.`));
    request.onabort = () => reject(options.signal?.reason ?? new Error("stopped"));
    request.send(form);
  });
}
