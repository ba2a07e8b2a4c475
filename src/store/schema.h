/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the store, and their upgrade from older versions of Adder. */
#pragma once

#include <glib.h>

#include "store/database.h"

/* The version that this Adder writes. */
gint64 schema_latest (void);

/* The version of the database, in a transaction, given a table schema_version. */
gboolean schema_read_version (struct transaction *transaction, gint64 *ret_version, GError **error);

/* *RET_CURRENT: whether a database of VERSION has all tables. */
gboolean schema_is_current (struct transaction *transaction, gint64 version, gboolean *ret_current,
                            GError **error);

/* Upgrades from VERSION (0: empty), within TRANSACTION, exclusively. */
gboolean schema_update (struct transaction *transaction, gint64 version, GError **error);
