/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of digests over rows: each row's digest is that of the row before and of all its own columns, so
 * that a row that was changed, taken away, put in or moved shows from there on. */
#pragma once

#include <glib.h>

#include "store/database.h"

#define CHAIN_DIGEST_BYTES 65 /* SHA-256, hexadecimal, with the zero byte */

/* What stands before the first row of a chain. */
#define CHAIN_START "0000000000000000000000000000000000000000000000000000000000000000"

/* The digest of a row with COUNT columns VALUES after a row with the digest PREVIOUS. Canonical: the word
 * "adder-record-1", PREVIOUS, and each column as "n", "i" DECIMAL ";" or "t" LENGTH ":" BYTES; so no two rows
 * that differ have one form. docs/records.md says the same, for those who check it by other means. */
void chain_digest (const char *previous, const struct sql_value *values, guint count,
                   char ret_digest[CHAIN_DIGEST_BYTES]);

/* Whether TEXT looks like a digest: 64 hexadecimal digits in lower case. */
gboolean chain_is_digest (const char *text);
