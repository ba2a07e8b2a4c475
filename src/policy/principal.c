/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks: a value that is shared and never changes. */
#include "policy/principal.h"

struct principal *
principal_new (const struct config *config, const char *owner)
{
  struct principal *principal = g_new0 (struct principal, 1);
  principal->references = 1;
  principal->owner = g_strdup (owner);
  principal->role = role_default (config);
  return principal;
}

struct principal *
principal_ref (struct principal *principal)
{
  g_atomic_int_inc (&principal->references);
  return principal;
}

void
principal_unref (struct principal *principal)
{
  if (!principal || !g_atomic_int_dec_and_test (&principal->references))
    return;
  g_free (principal->owner);
  g_free (principal->toolset);
  g_strfreev (principal->profiles);
  g_strfreev (principal->roots);
  g_free (principal);
}

const char *const *
principal_run_profiles (const struct principal *principal)
{
  static const char *const none[] = {NULL};
  return principal->toolset && !principal->profiles ? none : (const char *const *)principal->profiles;
}
