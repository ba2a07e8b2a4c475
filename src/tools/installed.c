/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/installed.h"

#include <string.h>

#include "common/text.h"
#include "engine/host/environment.h"
#include "policy/profile.h"

/* Of the whole list: a model reads it with every request. */
#define LIST_BYTES    1200
#define PROBLEM_BYTES 400

/* Common packages of scientists come first, then the rest by name. */
static const char *const main_packages[] = {"numpy",  "pandas",       "matplotlib", "scipy", "scikit-learn",
                                            "polars", "pyarrow",      "pymatgen",   "ase",   "sympy",
                                            "torch",  "statsmodels",  "seaborn",    "jax",   "tensorflow",
                                            "xarray", "scikit-image", "plotly",     NULL};

static void
append_package (GString *text, const struct environment_package *package)
{
  g_string_append_printf (text, "%s%s %s", text->len > 0 ? ", " : "", package->name, package->version);
}

static char *
installed_list_packages (GPtrArray *packages)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint listed = 0;
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < packages->len && text->len < LIST_BYTES; i++) {
      const struct environment_package *package = packages->pdata[i];
      if (g_strv_contains (main_packages, package->name) != (pass == 0))
        continue;
      append_package (text, package);
      listed++;
    }
  if (listed < packages->len)
    g_string_append_printf (text, " and %u more", packages->len - listed);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* As the library's apply_profile decides for a call. */
static struct environment *
installed_find (const struct toolset *toolset, const struct config *config, const char *python,
                GError **error)
{
  struct profile *profile = profile_load (toolset->directory_profile, NULL);
  const char *name = profile ? profile->environment : NULL;
  if (!name && config->own_environments > 0)
    name = python;
  struct environment *environment = environment_find (name ? name : environment_default (config), error);
  profile_free (profile);
  return environment;
}

char *
installed_describe (const struct toolset *toolset, const struct tool *tool, const struct config *config,
                    const char *python)
{
  if (!(tool->hints & TOOL_OWN_ENVIRONMENT))
    return g_strdup (tool->description);
  g_autoptr (GError) problem = NULL;
  struct environment *environment = installed_find (toolset, config, python, &problem);
  if (!environment) {
    g_autofree char *shown = text_one_line (problem->message, PROBLEM_BYTES);
    return g_strdup_printf ("%s Calls fail for now: %s.", tool->description, shown);
  }
  g_autoptr (GPtrArray) packages = environment_installed (environment);
  g_autofree char *list = installed_list_packages (packages);
  char *text = g_strdup_printf ("%s Python %s with %s.", tool->description, environment->version,
                                packages->len > 0 ? list : "no packages but its own");
  environment_free (environment);
  return text;
}
