/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of digests over rows: each row's digest covers the previous digest and all its own columns, so
 * that a changed, removed, inserted or moved row breaks the chain from there on. */
#pragma once

#include <glib.h>

#include "store/database.h"

#define CHAIN_DIGEST_BYTES 65 /* SHA-256, hexadecimal, with the zero byte */

/* What stands before the first row of a chain. */
#define CHAIN_START "0000000000000000000000000000000000000000000000000000000000000000"

/* The digest of a row with COUNT columns VALUES after a row with the digest PREVIOUS. Canonical: the word
 * "adder-record-1", PREVIOUS, and each column as "n", "i" DECIMAL ";" or "t" LENGTH ":" BYTES; so different
 * rows never have the same form. docs/records.md describes it for independent checks. */
void chain_digest (const char *previous, const struct sql_value *values, guint count,
                   char ret_digest[CHAIN_DIGEST_BYTES]);

/* Whether TEXT looks like a digest: 64 hexadecimal digits in lower case. */
gboolean chain_is_digest (const char *text);
