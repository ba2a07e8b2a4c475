// SPDX-License-Identifier: Apache-2.0
// Saves something of the page as a file of the user.

/** Downloads BLOB under NAME. */
export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
