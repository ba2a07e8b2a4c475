/* SPDX-License-Identifier: Apache-2.0 */
/* [blocked]: names that the user's own code may not ask for (src/runner/python/blocked.py). */
#include <stddef.h>
#include <string.h>

#include "adder_types.h"
#include "policy/profile_groups.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* Names between dots; the last may hold a *, and must be there for a call. */
static gboolean
is_dotted (const char *word, guint least)
{
  g_auto (GStrv) parts = g_strsplit (word, ".", -1);
  guint count = g_strv_length (parts);
  for (guint i = 0; i < count; i++) {
    const char *allowed = i + 1 == count && least > 1 ? LETTERS "*" : LETTERS;
    if (parts[i][0] == '\0' || g_ascii_isdigit (parts[i][0]) ||
        strspn (parts[i], allowed) != strlen (parts[i]))
      return FALSE;
  }
  return count >= least;
}

static gboolean
check_call (const char *word, GError **error)
{
  if (is_dotted (word, 2))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "\"%s\" is not a function of a module, as os.system or os.exec*", word);
  return FALSE;
}

static gboolean
check_module (const char *word, GError **error)
{
  if (is_dotted (word, 1))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not the name of a module", word);
  return FALSE;
}

const struct profile_key profile_blocked_keys[] = {
    {"calls", PROFILE_LIST, PROFILE_AT (blocked.calls), .check = check_call,
     .values = "functions of modules, with `*` at the end of a name",
     .text = "Functions that raise PermissionError when called: `os.system os.exec*`."},
    {"modules", PROFILE_LIST, PROFILE_AT (blocked.modules), .check = check_module, .values = "modules",
     .text = "Modules that raise PermissionError when imported, with their contents: `subprocess`."},
    {NULL},
};
