/* SPDX-License-Identifier: Apache-2.0 */
/* Uploaded files. */
#pragma once

#include "engine/host/interrupt.h"
#include "store/files.h"

/* The uploader and the content. All but `conversation` are required. */
struct file_upload {
  const char *owner, *conversation;
  const char *name; /* its last part is used, sanitized */
  int fd;           /* readable: a regular file or a pipe; read from its present position */
};

/* Keeps a copy of what UPLOAD reads, with its type by name and content. The digest is of the copy, so that
 * changing the source meanwhile changes nothing that was agreed on. ID is filled. INTERRUPT (may be NULL)
 * ends it as ADDER_ERROR_CANCELLED; more than [store] max_file_bytes is ADDER_ERROR_INVALID. */
gboolean file_upload (struct store *store, const struct file_upload *upload, struct interrupt *interrupt,
                      char ret_id[ID_BYTES], GError **error);
