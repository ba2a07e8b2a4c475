/* SPDX-License-Identifier: Apache-2.0 */
/* One-time codes: who has one signs in as an account of this machine, once and soon. They exist in memory
 * alone, as digests. */
#pragma once

#include <glib.h>

#define SIGN_IN_CODE_MS   60000
#define SIGN_IN_CODES_MAX 32 /* pending ones; one more replaces the oldest */

struct sign_in_codes;

struct sign_in_codes *sign_in_codes_new (void);
/* NULL is allowed. */
void sign_in_codes_free (struct sign_in_codes *codes);

/* A new code for ACCOUNT ("uid:1000"), valid for SIGN_IN_CODE_MS from NOW_US (g_get_monotonic_time) on. The
 * caller's. NULL with ERROR. From any thread. */
char *sign_in_codes_make (struct sign_in_codes *codes, const char *account, gint64 now_us, GError **error);

/* The account that the code TEXT was made for, the caller's; the code is used up. NULL: it never was one, was
 * used, or is too old. From any thread. */
char *sign_in_codes_take (struct sign_in_codes *codes, const char *text, gint64 now_us);
