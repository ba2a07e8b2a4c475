// SPDX-License-Identifier: Apache-2.0
// The button that opens a notebook of the user's files in a new session.
import { FileButton, type FileButtonProps } from "../parts/file_button.js";
import { trying } from "../parts/toasts.js";
import { importNotebook } from "./actions.js";

export function ImportButton(props: Pick<FileButtonProps, "children" | "label" | "icon" | "class">) {
  const open = ([file]: File[]) => file && void trying(() => importNotebook(file));
  return <FileButton {...props} accept=".ipynb" inputLabel="Notebook to import" onFiles={open} />;
}
