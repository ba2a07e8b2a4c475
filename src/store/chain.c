/* SPDX-License-Identifier: Apache-2.0 */
#include "store/chain.h"

#include <string.h>

static void
add_value (GChecksum *sum, const struct sql_value *value)
{
  char head[32];
  switch (value->kind) {
  case SQL_NULL:
    g_checksum_update (sum, (const guchar *)"n", 1);
    break;
  case SQL_INTEGER:
    g_snprintf (head, sizeof head, "i%" G_GINT64_FORMAT ";", value->integer);
    g_checksum_update (sum, (const guchar *)head, -1);
    break;
  case SQL_OTHER: /* not serialized, so the digest of its row differs in any case */
    g_checksum_update (sum, (const guchar *)"o", 1);
    break;
  case SQL_TEXT:
    g_snprintf (head, sizeof head, "t%zu:", strlen (value->text));
    g_checksum_update (sum, (const guchar *)head, -1);
    g_checksum_update (sum, (const guchar *)value->text, -1);
    break;
  }
}

void
chain_digest (const char *previous, const struct sql_value *values, guint count,
              char ret_digest[CHAIN_DIGEST_BYTES])
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_checksum_update (sum, (const guchar *)"adder-record-1", -1);
  g_checksum_update (sum, (const guchar *)previous, -1);
  for (guint i = 0; i < count; i++)
    add_value (sum, &values[i]);
  g_strlcpy (ret_digest, g_checksum_get_string (sum), CHAIN_DIGEST_BYTES);
  g_checksum_free (sum);
}

gboolean
chain_is_digest (const char *text)
{
  return strlen (text) == CHAIN_DIGEST_BYTES - 1 &&
         strspn (text, "0123456789abcdef") == CHAIN_DIGEST_BYTES - 1;
}
