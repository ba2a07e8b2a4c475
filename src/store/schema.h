/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the store, and how those of an older Adder become today's. */
#pragma once

#include <glib.h>

#include "store/database.h"

/* What this Adder writes. */
gint64 schema_latest (void);

/* The version of what is there, in a transaction where there is a table schema_version. */
gboolean schema_read_version (struct transaction *transaction, gint64 *ret_version, GError **error);

/* Makes what VERSION lacks (0: everything), within TRANSACTION, which nobody else does at the same time. */
gboolean schema_update (struct transaction *transaction, gint64 version, GError **error);
