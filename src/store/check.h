/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the store is intact: the database, each row's file, each file's row. May be called during runs,
 * here and in other processes. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/host/interrupt.h"
#include "store/store.h"

struct check_options {
  gboolean deep;  /* reads all files and compares their digests */
  gboolean force; /* removes also what may come from a wrong configuration: rows whose file is lost, and files
                     unknown to the database when they are many */
};

/* Finishes interrupted steps, removes unknown files, and reports its findings, as an object that is the
 * caller's: docs/files.md describes it. `healthy` is false when something is lost. NULL with ERROR when it
 * could not check: the database or the place of files is unreachable, or the caller has gone. */
json_t *store_check (struct store *store, const struct check_options *options, struct interrupt *interrupt,
                     GError **error);

/* What is kept, where, and how full it is: an object, the caller's, which also reports what is
 * unreachable. */
json_t *store_describe (struct store *store);
