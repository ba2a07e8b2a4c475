/* SPDX-License-Identifier: Apache-2.0 */
/* The caller: a shared value that never changes. */
#include "policy/principal.h"

#include <string.h>

#include "adder_types.h"

struct principal *
principal_new (const struct config *config, const char *owner)
{
  struct principal *principal = g_new0 (struct principal, 1);
  principal->references = 1;
  principal->owner = g_strdup (owner);
  principal->role = role_default (config);
  return principal;
}

static gboolean
principal_is_user (const char *name)
{
  gsize length = strlen (name);
  if (length == 0 || length > PRINCIPAL_USER_MAX)
    return FALSE;
  for (; *name; name++)
    if (!g_ascii_isalnum (*name) && !strchr ("_-.@:+", *name))
      return FALSE;
  return TRUE;
}

struct principal *
principal_for_user (const struct principal *who, const char *name, GError **error)
{
  if (!who->acts_for_users) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                         "this caller may not act for users: only a token made with --acts-for-users may");
    return NULL;
  }
  if (!principal_is_user (name)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "a user that a service acts for is named by up to %d letters, digits, \"_\", \"-\", "
                 "\".\", \"@\", \":\" and \"+\"",
                 PRINCIPAL_USER_MAX);
    return NULL;
  }
  struct principal *user = g_new0 (struct principal, 1);
  *user = *who;
  user->references = 1;
  user->owner = g_strdup_printf ("%s/%s", who->owner, name);
  user->service = g_strdup_printf ("%s/*", who->owner); /* no user has that name */
  user->role = MIN (who->role, ROLE_USER);
  user->toolset = g_strdup (who->toolset);
  user->profiles = g_strdupv (who->profiles);
  user->roots = g_strdupv (who->roots);
  user->token = g_strdup (who->token);
  user->token_digest = g_strdup (who->token_digest);
  user->acts_for_users = FALSE;
  return user;
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
  g_free (principal->service);
  g_free (principal->toolset);
  g_free (principal->token);
  g_free (principal->token_digest);
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
