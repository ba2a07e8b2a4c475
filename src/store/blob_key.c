/* SPDX-License-Identifier: Apache-2.0 */
/* What keys may be. */
#include <string.h>

#include "store/blobs_private.h"

const char *const blob_kinds[] = {"generated", "uploaded", "output", "datasets", "given", NULL};

gboolean
blob_key_is_good (const char *key)
{
  const char *slash = strchr (key, '/');
  if (!slash)
    return FALSE;
  const char *name = slash + 1;
  gsize length = strlen (name);
  if (length == 0 || length > BLOB_NAME_BYTES || name[0] == '.' || strchr (name, '/') ||
      !g_utf8_validate (name, (gssize)length, NULL))
    return FALSE;
  for (const char *at = name; *at; at = g_utf8_next_char (at))
    if (g_unichar_iscntrl (g_utf8_get_char (at)))
      return FALSE;
  for (const char *const *kind = blob_kinds; *kind; kind++)
    if (strlen (*kind) == (gsize)(slash - key) && strncmp (*kind, key, (gsize)(slash - key)) == 0)
      return TRUE;
  return FALSE;
}
