/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/roles.h"

#include <string.h>

#include "adder_types.h"
#include "common/text.h"

const char *
role_name (enum role role)
{
  return config_roles[role];
}

gboolean
role_parse (const char *text, enum role *ret_role, GError **error)
{
  for (guint i = 0; config_roles[i]; i++)
    if (strcmp (config_roles[i], text) == 0) {
      *ret_role = (enum role)i;
      return TRUE;
    }
  g_autofree char *known = g_strjoinv (", ", (GStrv)(guintptr)config_roles);
  g_autofree char *shown = text_one_line (text, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not one of the roles: %s", shown, known);
  return FALSE;
}

enum role
role_default (const struct config *config)
{
  enum role role = ROLE_GUEST;
  /* The configuration has checked it. */
  (void)role_parse (config->role_default, &role, NULL);
  return role;
}

/* ---- lists of the configuration ---- */

/* Words between blanks or commas, in which * stands for any letters and ? for any one. */
static gboolean
roles_matches (const char *list, const char *name)
{
  if (strcmp (list, "*") == 0)
    return TRUE;
  g_auto (GStrv) patterns = g_strsplit_set (list, " \t,;", -1);
  for (gsize i = 0; patterns[i]; i++)
    if (patterns[i][0] != '\0' && g_pattern_match_simple (patterns[i], name))
      return TRUE;
  return FALSE;
}

enum kind { KIND_PROFILE, KIND_TOOL, KINDS };
static const char *const kind_names[] = {"profile", "tool"};

/* The list that restricts what ROLE may use; none for an admin. */
static const char *
roles_list_of (const struct config *config, enum role role, enum kind kind)
{
  const char *const lists[][KINDS] = {
      [ROLE_GUEST] = {config->guest_profiles, config->guest_tools},
      [ROLE_USER] = {config->user_profiles, config->user_tools},
      [ROLE_ADMIN] = {"*", "*"},
  };
  return lists[role][kind];
}

static gboolean
roles_may_use (const struct config *config, enum role role, enum kind kind, const char *name,
               enum role needed, GError **error)
{
  if (role < needed) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "the %s %s needs the role %s; the caller's is %s",
                 kind_names[kind], name, role_name (needed), role_name (role));
    return FALSE;
  }
  if (!roles_matches (roles_list_of (config, role, kind), name)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                 "the %s %s is not for the role %s here: [roles] %s_%ss of adder.conf leaves it out",
                 kind_names[kind], name, role_name (role), role_name (role), kind_names[kind]);
    return FALSE;
  }
  return TRUE;
}

gboolean
role_may_use_profile (const struct config *config, enum role role, const char *name, enum role needed,
                      GError **error)
{
  return roles_may_use (config, role, KIND_PROFILE, name, needed, error);
}

gboolean
role_may_use_tool (const struct config *config, const struct role_caller *caller, const char *name,
                   enum role needed, gboolean executes, GError **error)
{
  if (caller->read_only && executes) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                 "the tool %s executes code; an agent that may only read has no such tool", name);
    return FALSE;
  }
  return roles_may_use (config, caller->role, KIND_TOOL, name, needed, error);
}
