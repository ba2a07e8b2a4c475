/* SPDX-License-Identifier: Apache-2.0 */
/* A token made with another: one check for each right. */
#include "policy/token_rights.h"

#include <string.h>

#include "adder_types.h"
#include "common/text.h"

#define SHOWN_BYTES 64

/* A new token and its maker. */
struct grant {
  struct token *token;
  const struct principal *who;
  const struct config *config;
};

static gboolean
grant_refuse (GError **error, const char *what, const char *value)
{
  g_autofree char *shown = value ? text_one_line (value, SHOWN_BYTES) : NULL;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "a token cannot have more rights than its maker, and yours may not %s%s%s%s", what,
               shown ? " \"" : "", shown ? shown : "", shown ? "\"" : "");
  return FALSE;
}

/* The daemon's own account, or a browser that acts as it. */
static gboolean
grant_is_of_account (const struct principal *who)
{
  return who->is_browser || (g_str_has_prefix (who->owner, "uid:") && !who->service);
}

static gboolean
grant_check_role (const struct grant *grant, GError **error)
{
  return grant->token->role <= grant->who->role ||
         grant_refuse (error, "have the role", role_name (grant->token->role));
}

static gboolean
grant_check_flags (const struct grant *grant, GError **error)
{
  grant->token->read_only = grant->token->read_only || grant->who->read_only;
  if (grant->token->may_decide && !grant->who->may_decide)
    return grant_refuse (error, "decide for a person", NULL);
  if (grant->token->acts_for_users && !grant->who->acts_for_users)
    return grant_refuse (error, "act for users", NULL);
  return TRUE;
}

static gboolean
grant_check_toolset (const struct grant *grant, GError **error)
{
  const char *own = grant->who->toolset;
  if (!own || g_strcmp0 (grant->token->toolset, own) == 0)
    return TRUE;
  if (grant->token->toolset)
    return grant_refuse (error, "use the toolset", grant->token->toolset);
  grant->token->toolset = g_strdup (own);
  return TRUE;
}

/* Whether PATTERNS allow all that PATTERN does. A pattern within another one is not found out. */
static gboolean
grant_has_pattern (char *const *patterns, const char *pattern)
{
  gboolean is_name = !strpbrk (pattern, "*?");
  for (; *patterns; patterns++)
    if (strcmp (*patterns, pattern) == 0 || (is_name && g_pattern_match_simple (*patterns, pattern)))
      return TRUE;
  return FALSE;
}

static gboolean
grant_check_profiles (const struct grant *grant, GError **error)
{
  char *const *own = grant->who->profiles;
  struct token *token = grant->token;
  /* A toolset without profiles has no runs of its own, which profiles would give. */
  if (!own && grant->who->toolset && token->profiles)
    return grant_refuse (error, "run code without a tool", NULL);
  if (!own)
    return TRUE;
  if (!token->profiles)
    token->profiles = g_strdupv ((GStrv)(guintptr)own);
  for (gsize i = 0; token->profiles[i]; i++)
    if (!grant_has_pattern (own, token->profiles[i]))
      return grant_refuse (error, "use the profile", token->profiles[i]);
  return TRUE;
}

static gboolean
grant_check_roots (const struct grant *grant, GError **error)
{
  const char *const *own = (const char *const *)grant->who->roots;
  for (gsize i = 0; grant->token->roots && grant->token->roots[i]; i++)
    if (!own || !g_strv_contains (own, grant->token->roots[i]))
      return grant_refuse (error, "use the root", grant->token->roots[i]);
  return TRUE;
}

/* OWN 0: STANDARD. */
static gboolean
grant_bound_number (guint64 *asked, guint64 own, guint64 standard, const char *what, GError **error)
{
  if (*asked > (own > 0 ? own : standard))
    return grant_refuse (error, what, NULL);
  if (*asked == 0)
    *asked = own;
  return TRUE;
}

static gboolean
grant_check_rates (const struct grant *grant, GError **error)
{
  return grant_bound_number (&grant->token->rate, grant->who->rate, grant->config->http_rate,
                             "send as many requests per minute", error) &&
         grant_bound_number (&grant->token->concurrent, grant->who->concurrent,
                             grant->config->http_concurrent, "send as many requests at once", error);
}

static gboolean
grant_check_expiry (const struct grant *grant, GError **error)
{
  gint64 own_ms = grant->who->expires_ms, *asked_ms = &grant->token->expires_ms;
  if (own_ms > 0 && *asked_ms > own_ms)
    return grant_refuse (error, "live as long", NULL);
  if (*asked_ms == 0)
    *asked_ms = own_ms;
  return TRUE;
}

gboolean
token_rights_bound (struct token *token, const struct principal *who, const struct config *config,
                    GError **error)
{
  static gboolean (*const checks[]) (const struct grant *grant, GError **error) = {
      grant_check_role,     grant_check_flags, grant_check_toolset,
      grant_check_profiles, grant_check_roots, grant_check_rates,
  };
  const struct grant grant = {token, who, config};
  if (!who)
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (checks) && !grant_is_of_account (who); i++)
    if (!checks[i](&grant, error))
      return FALSE;
  return grant_check_expiry (&grant, error);
}
