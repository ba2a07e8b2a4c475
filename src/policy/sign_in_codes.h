/* SPDX-License-Identifier: Apache-2.0 */
/* One-time codes: who has one signs in as an account of this machine, once and soon. They exist as digests
 * alone: in memory, or where a cluster's tokens are, so that each of its daemons knows them. */
#pragma once

#include <glib.h>

#include "store/store.h"

#define SIGN_IN_CODE_MS   60000
#define SIGN_IN_CODES_MAX 32 /* pending ones; one more replaces the oldest */

struct sign_in_codes;

/* STORE: of a cluster; NULL: they are in memory. */
struct sign_in_codes *sign_in_codes_new (struct store *store);
/* NULL is allowed. */
void sign_in_codes_free (struct sign_in_codes *codes);

/* A new code for ACCOUNT ("uid:1000"), valid for SIGN_IN_CODE_MS from NOW_US (g_get_monotonic_time) on. The
 * caller's. NULL with ERROR. From any thread. */
char *sign_in_codes_make (struct sign_in_codes *codes, const char *account, gint64 now_us, GError **error);

/* The account that the code TEXT was made for, the caller's; the code is used up. NULL without ERROR: it
 * never was one, was used, or is too old. From any thread. */
char *sign_in_codes_take (struct sign_in_codes *codes, const char *text, gint64 now_us, GError **error);
