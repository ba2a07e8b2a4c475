/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tool_enablement.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "adder.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/paths.h"
#include "policy/profile_list.h"

#define FRESH_US G_USEC_PER_SEC
#define GROUP    "tools"

/* The keys: tools that are on by default are in one, all others in the other. */
enum list { DISABLED, ENABLED, LISTS };
static const char *const keys[] = {"disabled", "enabled", NULL};

LOCK_CLASS (tool_enablement);

struct tool_enablement {
  MUTEX (tool_enablement) lock;
  GUARDED_BY (tool_enablement) GStrv lists[LISTS]; /* the file's content; NULL: unreadable */
  GUARDED_BY (tool_enablement) GError *problem;
  GUARDED_BY (tool_enablement) gint64 read_us; /* 0: not yet */
};

static void
free_lists (GStrv lists[LISTS])
{
  for (enum list list = 0; list < LISTS; list++)
    g_clear_pointer (&lists[list], g_strfreev);
}

struct tool_enablement *
tool_enablement_new (void)
{
  struct tool_enablement *enablement = g_new0 (struct tool_enablement, 1);
  g_mutex_init (&enablement->lock);
  return enablement;
}

void
tool_enablement_free (struct tool_enablement *enablement)
{
  if (!enablement)
    return;
  free_lists (enablement->lists);
  g_clear_error (&enablement->problem);
  g_mutex_clear (&enablement->lock);
  g_free (enablement);
}

/* ---- the file ---- */

static char *
file_path (void)
{
  g_autofree char *directory = paths_config_dir ();
  return g_build_filename (directory, "tools.conf", NULL);
}

static gboolean
check_keys (GKeyFile *given, const char *file, GError **error)
{
  g_auto (GStrv) groups = g_key_file_get_groups (given, NULL);
  for (gsize i = 0; groups[i]; i++) {
    g_auto (GStrv) names = g_key_file_get_keys (given, groups[i], NULL, NULL);
    for (gsize j = 0; names && names[j]; j++)
      if (strcmp (groups[i], GROUP) != 0 || !g_strv_contains (keys, names[j])) {
        g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                     "%s: [%s] %s: there is no such key; there are [" GROUP "] disabled and enabled", file,
                     groups[i], names[j]);
        return FALSE;
      }
  }
  return TRUE;
}

/* Its names, none without a file. On failure RET_LISTS is empty. */
static gboolean
tool_enablement_read_file (const char *file, GStrv ret_lists[LISTS], GError **error)
{
  g_autoptr (GKeyFile) given = g_key_file_new ();
  g_autoptr (GError) problem = NULL;
  if (!g_key_file_load_from_file (given, file, G_KEY_FILE_NONE, &problem) &&
      !g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOENT) &&
      !g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOTDIR)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "cannot read %s, which switches tools off: %s",
                 file, problem->message);
    return FALSE;
  }
  if (!check_keys (given, file, error))
    return FALSE;
  for (enum list list = 0; list < LISTS; list++) {
    g_autofree char *value = g_key_file_get_string (given, GROUP, keys[list], NULL);
    ret_lists[list] = profile_list_parse (value ? value : "", error);
    if (!ret_lists[list]) {
      g_prefix_error (error, "%s: [" GROUP "] %s: ", file, keys[list]);
      free_lists (ret_lists);
      return FALSE;
    }
  }
  return TRUE;
}

/* ---- from outside ---- */

REQUIRES (tool_enablement)
static void
refresh (struct tool_enablement *enablement)
{
  gint64 now = g_get_monotonic_time ();
  if (enablement->read_us != 0 && now - enablement->read_us < FRESH_US)
    return;
  g_autofree char *file = file_path ();
  free_lists (enablement->lists);
  g_clear_error (&enablement->problem);
  tool_enablement_read_file (file, enablement->lists, &enablement->problem);
  error_make_printable (&enablement->problem);
  enablement->read_us = now;
}

static char *
dotted (const struct toolset *toolset, const struct tool *tool)
{
  return g_strdup_printf ("%s.%s", toolset->name, tool->name);
}

static gboolean
starts_off (const struct tool *tool)
{
  return (tool->hints & TOOL_STARTS_OFF) != 0;
}

gboolean
tool_enablement_is_on (struct tool_enablement *enablement, const struct toolset *toolset,
                       const struct tool *tool, GError **error)
{
  g_autofree char *name = dotted (toolset, tool);
  g_mutex_lock (&enablement->lock);
  refresh (enablement);
  const char *const *list = (const char *const *)enablement->lists[starts_off (tool) ? ENABLED : DISABLED];
  gboolean on = list && g_strv_contains (list, name) == starts_off (tool);
  if (enablement->problem && error)
    *error = g_error_copy (enablement->problem);
  g_mutex_unlock (&enablement->lock);
  if (!on && error && !*error) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "the tool %s is switched off", tool->name);
    error_add_advice (error, "; adder tool enable %s switches it on", name);
  }
  return on;
}

void
tool_enablement_reread (struct tool_enablement *enablement)
{
  g_mutex_lock (&enablement->lock);
  enablement->read_us = 0;
  g_mutex_unlock (&enablement->lock);
}

gboolean
tool_enablement_set (const struct toolset *toolset, const struct tool *tool, gboolean on, GError **error)
{
  g_autofree char *file = file_path (), *name = dotted (toolset, tool), *folder = g_path_get_dirname (file);
  GStrv before[LISTS] = {NULL};
  if (!tool_enablement_read_file (file, before, error))
    return FALSE;
  g_autoptr (GString) text = g_string_new ("[" GROUP "]\n");
  for (enum list list = 0; list < LISTS; list++) {
    g_string_append_printf (text, "%s =", keys[list]);
    for (gsize i = 0; before[list][i]; i++)
      if (strcmp (before[list][i], name) != 0)
        g_string_append_printf (text, " %s", before[list][i]);
    if (on == starts_off (tool) && list == (on ? ENABLED : DISABLED))
      g_string_append_printf (text, " %s", name);
    g_string_append_c (text, '\n');
  }
  free_lists (before);
  if (g_mkdir_with_parents (folder, 0700) < 0)
    return error_from_errno (error, errno, "cannot make the folder %s", folder);
  g_autoptr (GError) problem = NULL;
  if (g_file_set_contents (file, text->str, (gssize)text->len, &problem))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot write %s: %s", file, problem->message);
  return FALSE;
}
