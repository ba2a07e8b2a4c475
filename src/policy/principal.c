/* SPDX-License-Identifier: Apache-2.0 */
/* The caller: a shared value that never changes. */
#include "policy/principal.h"

#include <string.h>

#include "adder_types.h"
#include "common/json.h"

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

/* ---- for other nodes ---- */

/* The flags, and their names there. */
static const struct {
  const char *name;
  gsize at;
} principal_flags[] = {
    {"read_only", offsetof (struct principal, read_only)},
    {"may_decide", offsetof (struct principal, may_decide)},
    {"acts_for_users", offsetof (struct principal, acts_for_users)},
    {"is_browser", offsetof (struct principal, is_browser)},
};
static const struct {
  const char *name;
  gsize at;
} principal_texts[] = {
    {"owner", offsetof (struct principal, owner)},
    {"toolset", offsetof (struct principal, toolset)},
    {"token", offsetof (struct principal, token)},
    {"service", offsetof (struct principal, service)},
};
static const struct {
  const char *name;
  gsize at;
} principal_lists[] = {
    {"profiles", offsetof (struct principal, profiles)},
    {"roots", offsetof (struct principal, roots)},
};

#define MEMBER(who, at, type) ((type *)(gpointer)((char *)(guintptr)(who) + (at)))

json_t *
principal_to_json (const struct principal *who)
{
  json_t *value = json_pack ("{s:s}", "role", role_name (who->role));
  for (gsize i = 0; i < G_N_ELEMENTS (principal_texts); i++)
    json_object_set_new (value, principal_texts[i].name,
                         json_text_or_null (*MEMBER (who, principal_texts[i].at, char *)));
  for (gsize i = 0; i < G_N_ELEMENTS (principal_flags); i++)
    json_object_set_new (value, principal_flags[i].name,
                         json_boolean (*MEMBER (who, principal_flags[i].at, gboolean)));
  for (gsize i = 0; i < G_N_ELEMENTS (principal_lists); i++) {
    char **list = *MEMBER (who, principal_lists[i].at, char **);
    json_object_set_new (value, principal_lists[i].name, json_of_texts_or_null (list));
  }
  return value;
}

struct principal *
principal_from_json (const json_t *value, GError **error)
{
  enum role role;
  if (!role_parse (json_member_text (value, "role"), &role, error))
    return NULL;
  struct principal *who = g_new0 (struct principal, 1);
  who->references = 1;
  who->role = role;
  for (gsize i = 0; i < G_N_ELEMENTS (principal_texts); i++)
    *MEMBER (who, principal_texts[i].at, char *) =
        g_strdup (json_string_value (json_object_get (value, principal_texts[i].name)));
  for (gsize i = 0; i < G_N_ELEMENTS (principal_flags); i++)
    *MEMBER (who, principal_flags[i].at, gboolean) =
        json_is_true (json_object_get (value, principal_flags[i].name));
  for (gsize i = 0; i < G_N_ELEMENTS (principal_lists); i++)
    *MEMBER (who, principal_lists[i].at, char **) =
        json_to_texts (json_object_get (value, principal_lists[i].name));
  if (who->owner)
    return who;
  principal_unref (who);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, "a caller of another node has no owner");
  return NULL;
}
