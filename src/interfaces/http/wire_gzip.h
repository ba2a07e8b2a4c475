/* SPDX-License-Identifier: Apache-2.0 */
/* gzip, as wire.h has it: within the module alone. */
#pragma once

#include <glib.h>

struct wire_gunzip;

char *wire_gzip (const char *text, gsize length, gsize *ret_length);
struct wire_gunzip *wire_gunzip_new (void);
gboolean wire_gunzip_add (struct wire_gunzip *gunzip, const char *bytes, gsize length,
                          gboolean (*take) (gpointer data, const char *bytes, gsize length), gpointer data);
gboolean wire_gunzip_is_whole (const struct wire_gunzip *gunzip);
void wire_gunzip_free (struct wire_gunzip *gunzip);
