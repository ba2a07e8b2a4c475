/* SPDX-License-Identifier: Apache-2.0 */
/* The table of groups, and those that need no file of their own. */
#include "policy/profile_groups.h"

#include <stddef.h>
#include <string.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "engine/host/host.h"
#include "engine/request/request.h"
#include "sandbox/mitigations.h"

#define DAY_MS (24 * 3600 * G_GUINT64_CONSTANT (1000))

/* ---- [profile] ---- */

gboolean
profile_is_name (const char *name)
{
  gsize length = strlen (name);
  return length >= 1 && length <= 64 && g_ascii_isalnum (name[0]) &&
         strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

static gboolean
check_environment (const char *value, GError **error)
{
  if (profile_is_name (value))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not a name of an environment", value);
  return FALSE;
}

uint32_t
profile_mitigations (const struct profile *profile)
{
  uint32_t bits = 0;
  for (gsize i = 0; profile->mitigations && profile->mitigations[i]; i++)
    bits |= UINT32_C (1) << mitigation_find (profile->mitigations[i]);
  return bits;
}

static const struct profile_key main_keys[] = {
    {"title", PROFILE_TEXT, PROFILE_AT (title), .text = "A description in one line."},
    {"environment", PROFILE_TEXT, PROFILE_AT (environment), .check = check_environment, .values = "a name",
     .text = "The default environment of runs; without it, the configuration's."},
    {"min_isolation", PROFILE_COUNT, PROFILE_AT (min_isolation), .maximum = 4,
     .text = "Runs are refused on a host that does not reach this level."},
    {"role", PROFILE_CHOICE, PROFILE_AT (role), .choices = config_roles,
     .text = "The lowest role that may use the profile; the default, `guest`, is everybody."},
    {"approval", PROFILE_CHOICE, PROFILE_AT (approval), .choices = approval_modes,
     .text = "Whether a person must approve: `always`, before anything runs, or only before an `effect` "
             "on a directory of the host ([approval.md](approval.md)); the default is `never`."},
    {"mitigations", PROFILE_LIST, PROFILE_AT (mitigations), .check = host_check_mitigation,
     .values = "`core_scheduling`, `store_bypass`, `indirect_branch`, `l1d_flush`",
     .text =
         "Mitigations against timing attacks, by scheduler and processor, in addition to the configuration's "
         "`[sandbox] mitigations` ([isolation.md](isolation.md#mitigations)). If they exceed those of the "
         "configuration, each run gets a new sandbox."},
    {"tables", PROFILE_CHOICE, PROFILE_AT (tables), .choices = request_tables_names,
     .text = "Also write displayed tables to files, whole: `csv`, `parquet` or `json` "
             "([results.md](results.md)); the default is `none`."},
    {"keep_files", PROFILE_BOOLEAN, PROFILE_AT (keep_files),
     .text = "Whether the code's files and long output are stored; by default they are. "
             "A record names them with their digests in either case."},
    {"backend", PROFILE_CHOICE, PROFILE_AT (backend), .choices = backend_names,
     .text = "`container`: runs use containers of Docker or Podman (docs/containers.md), and are refused if "
             "none is available; `auto`: they then use a sandbox, with a warning; the default is `native`. A "
             "run's `--isolation` takes precedence."},
    {NULL},
};

/* ---- [limits] and [maxima] ---- */

/* Sets the limit KEY in LIMITS. */
static gboolean
profile_groups_set_limit (struct limits *limits, const char *key, const char *value, GError **error)
{
  int index = limit_find (key);
  if (index < 0) {
    struct text_guess guess = TEXT_GUESS_NONE;
    for (int i = 0; i < LIMIT_COUNT; i++)
      text_consider (&guess, key, limit_table[i].name);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there is no such limit%s%s%s",
                 guess.best ? "; did you mean " : "", guess.best ? guess.best : "", guess.best ? "?" : "");
    if (!guess.best)
      error_add_advice (error, "; adder profile show lists them");
    return FALSE;
  }
  const struct limit_row *row = &limit_table[index];
  guint64 number;
  if (!quantity_parse (value, row->unit, &number, error))
    return FALSE;
  if (number < row->minimum || number > row->maximum) {
    g_autofree char *least = quantity_format (row->minimum, row->unit);
    g_autofree char *most = quantity_format (row->maximum, row->unit);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is not between %s and %s", value, least, most);
    return FALSE;
  }
  limits->value[index] = number;
  return TRUE;
}

static gboolean
set_default (struct profile *profile, const char *key, const char *value, GError **error)
{
  return profile_groups_set_limit (&profile->limits, key, value, error);
}

static gboolean
set_maximum (struct profile *profile, const char *key, const char *value, GError **error)
{
  return profile_groups_set_limit (&profile->maxima, key, value, error);
}

static json_t *
show_defaults (const struct profile *profile)
{
  return request_limits_to_json (&profile->limits, REQUEST_LIMITS_ALL);
}

static json_t *
show_maxima (const struct profile *profile)
{
  return request_limits_to_json (&profile->maxima, REQUEST_LIMITS_ALL);
}

static gboolean
check_maxima (const struct profile *profile, const char **ret_key, GError **error)
{
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    if (profile->limits.value[i] <= profile->maxima.value[i])
      continue;
    g_autofree char *value = quantity_format (profile->limits.value[i], row->unit);
    g_autofree char *most = quantity_format (profile->maxima.value[i], row->unit);
    *ret_key = row->name;
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s is less than what a run gets that asks for nothing, %s: set that in [limits]", most,
                 value);
    return FALSE;
  }
  return TRUE;
}

/* ---- [session] ---- */

static const struct profile_key session_keys[] = {
    {"allowed", PROFILE_BOOLEAN, PROFILE_AT (session.allowed),
     .text = "Whether the profile allows sessions; by default it does."},
    {"idle_ms", PROFILE_DURATION, PROFILE_AT (session.idle_ms), .minimum = 10, .maximum = 7 * DAY_MS,
     .text = "A session of the profile ends after this time without use; without it, the configuration's."},
    {NULL},
};

/* ---- [packages] ---- */

static const struct profile_key packages_keys[] = {
    {"with", PROFILE_BOOLEAN, PROFILE_AT (packages.with),
     .text = "Whether a run over HTTP or MCP may name packages (`packages`), which are installed on this "
             "machine ([packages.md](packages.md)); by default only runs from the command line may."},
    {NULL},
};

/* ---- [variables] ---- */

#define VARIABLES_MAX 256

static gboolean
set_variable (struct profile *profile, const char *key, const char *value, GError **error)
{
  if (g_hash_table_size (profile->variables) >= VARIABLES_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there are more than %d variables", VARIABLES_MAX);
    return FALSE;
  }
  g_hash_table_replace (profile->variables, g_strdup (key), g_strdup (value));
  return TRUE;
}

static json_t *
show_variables (const struct profile *profile)
{
  json_t *object = json_object ();
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (profile->variables), (GCompareFunc)strcmp);
  for (const GList *at = names; at; at = at->next)
    json_object_set_new (object, at->data,
                         json_text_or_null (g_hash_table_lookup (profile->variables, at->data)));
  return object;
}

/* ---- all of them ---- */

const struct profile_group profile_groups[] = {
    {"profile", "General settings, and who may use the profile.", main_keys},
    {"limits", "Default limits of a run: `NAME = VALUE` for any limit.", .set = set_default,
     .show = show_defaults},
    {"maxima",
     "The most that a run may request, `NAME = VALUE` for any limit; without it, the limit's maximum.",
     .set = set_maximum, .show = show_maxima, .check = check_maxima},
    {"session", "Interpreters that keep their state between runs.", session_keys},
    {"packages", "Packages that a run may add to those of its environment.", packages_keys},
    {"variables",
     "Environment variables of the code: `NAME = VALUE`. Those of the run itself take precedence.",
     .set = set_variable, .show = show_variables},
    {"blocked",
     "Functions and modules that raise PermissionError in the user's own code, while libraries can still use "
     "them.",
     profile_blocked_keys},
    {"guard", "Rules that code is checked against before any of it runs (docs/guard.md).", profile_guard_keys,
     .show = profile_guard_show},
    {"workdir", "Directories of the host in which code works, and variables that are passed on with them.",
     profile_workdir_keys},
    {"network", "What the code can reach (docs/network.md).", profile_network_keys,
     .check = profile_network_check},
    {NULL},
};

const struct profile_group *
profile_group_find (const char *name)
{
  for (const struct profile_group *group = profile_groups; group->name; group++)
    if (strcmp (group->name, name) == 0)
      return group;
  return NULL;
}

void
profile_groups_init (struct profile *profile)
{
  profile->limits = limits_default ();
  profile->maxima = limits_maximum ();
  profile->session.allowed = TRUE;
  profile->keep_files = TRUE;
  profile->workdir.mode = PROFILE_WORKDIR_RW;
  profile->variables = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}
