/* SPDX-License-Identifier: Apache-2.0 */
/* Files with one secret, which the configuration names. */
#pragma once

#include <glib.h>

/* The secret in FILE, without the spaces around it; the caller's. Errors call it SETTING, as in "[oauth]
 * secret_file". Refused is a file that others may read. */
char *secret_file_read (const char *file, const char *setting, GError **error);
