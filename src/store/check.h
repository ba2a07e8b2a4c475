/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what is kept is whole: the database, each row's file, each file's row. May be called while runs go
 * on, here and in other processes. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/host/interrupt.h"
#include "store/store.h"

struct check_options {
  gboolean deep;  /* reads all files and compares their digests */
  gboolean force; /* removes also what looks like a wrong configuration: rows whose file is lost, and files
                     that the database does not know when they are many */
};

/* Finishes what was broken off, removes what nobody knows, and tells what it found, as an object that is the
 * caller's: docs/files.md says what is in it. `healthy` is false when something is lost. NULL with ERROR when
 * it could not look: the database or the place of files cannot be reached, or who waits has gone. */
json_t *store_check (struct store *store, const struct check_options *options, struct interrupt *interrupt,
                     GError **error);

/* What is kept, where, and how full it is: an object, the caller's. What cannot be reached is said in it. */
json_t *store_describe (struct store *store);
