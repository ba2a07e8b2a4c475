/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/switches.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "adder.h"
#include "common/error.h"
#include "common/paths.h"
#include "policy/profile_list.h"

#define FRESH_US G_USEC_PER_SEC
#define GROUP    "tools"
#define KEY      "disabled"

struct switches {
  GMutex lock;
  GStrv disabled; /* what the file says; NULL: it could not be read */
  GError *problem;
  gint64 read_us; /* 0: not yet */
};

struct switches *
switches_new (void)
{
  struct switches *switches = g_new0 (struct switches, 1);
  g_mutex_init (&switches->lock);
  return switches;
}

void
switches_free (struct switches *switches)
{
  if (!switches)
    return;
  g_strfreev (switches->disabled);
  g_clear_error (&switches->problem);
  g_mutex_clear (&switches->lock);
  g_free (switches);
}

/* ---- the file ---- */

static char *
file_path (void)
{
  g_autofree char *directory = paths_config_dir ();
  return g_build_filename (directory, "tools.conf", NULL);
}

static gboolean
check_keys (GKeyFile *keys, const char *file, GError **error)
{
  g_auto (GStrv) groups = g_key_file_get_groups (keys, NULL);
  for (gsize i = 0; groups[i]; i++) {
    g_auto (GStrv) names = g_key_file_get_keys (keys, groups[i], NULL, NULL);
    for (gsize j = 0; names && names[j]; j++)
      if (strcmp (groups[i], GROUP) != 0 || strcmp (names[j], KEY) != 0) {
        g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                     "%s: [%s] %s: there is no such key; there is [" GROUP "] " KEY, file, groups[i],
                     names[j]);
        return FALSE;
      }
  }
  return TRUE;
}

/* Its names; none where there is no file. */
static GStrv
read_file (const char *file, GError **error)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_autoptr (GError) problem = NULL;
  if (!g_key_file_load_from_file (keys, file, G_KEY_FILE_NONE, &problem)) {
    if (g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
        g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOTDIR))
      return g_new0 (char *, 1);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "cannot read %s, which switches tools off: %s",
                 file, problem->message);
    return NULL;
  }
  if (!check_keys (keys, file, error))
    return NULL;
  g_autofree char *value = g_key_file_get_string (keys, GROUP, KEY, NULL);
  GStrv names = profile_list_parse (value ? value : "", error);
  if (!names)
    g_prefix_error (error, "%s: [" GROUP "] " KEY ": ", file);
  return names;
}

/* ---- from outside ---- */

/* With the lock held. */
static void
refresh (struct switches *switches)
{
  gint64 now = g_get_monotonic_time ();
  if (switches->read_us != 0 && now - switches->read_us < FRESH_US)
    return;
  g_autofree char *file = file_path ();
  g_clear_pointer (&switches->disabled, g_strfreev);
  g_clear_error (&switches->problem);
  switches->disabled = read_file (file, &switches->problem);
  error_make_printable (&switches->problem);
  switches->read_us = now;
}

static char *
dotted (const struct toolset *toolset, const struct tool *tool)
{
  return g_strdup_printf ("%s.%s", toolset->name, tool->name);
}

gboolean
switches_are_on (struct switches *switches, const struct toolset *toolset, const struct tool *tool,
                 GError **error)
{
  g_autofree char *name = dotted (toolset, tool);
  g_mutex_lock (&switches->lock);
  refresh (switches);
  gboolean on = switches->disabled && !g_strv_contains ((const char *const *)switches->disabled, name);
  if (switches->problem && error)
    *error = g_error_copy (switches->problem);
  g_mutex_unlock (&switches->lock);
  if (!on && error && !*error)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                 "the tool %s is switched off; adder tools enable %s switches it on", tool->name, name);
  return on;
}

void
switches_reread (struct switches *switches)
{
  g_mutex_lock (&switches->lock);
  switches->read_us = 0;
  g_mutex_unlock (&switches->lock);
}

gboolean
switches_set (const struct toolset *toolset, const struct tool *tool, gboolean on, GError **error)
{
  g_autofree char *file = file_path (), *name = dotted (toolset, tool), *folder = g_path_get_dirname (file);
  g_auto (GStrv) before = read_file (file, error);
  if (!before)
    return FALSE;
  g_autoptr (GString) text = g_string_new ("[" GROUP "]\n" KEY " =");
  for (gsize i = 0; before[i]; i++)
    if (strcmp (before[i], name) != 0)
      g_string_append_printf (text, " %s", before[i]);
  if (!on)
    g_string_append_printf (text, " %s", name);
  g_string_append_c (text, '\n');
  if (g_mkdir_with_parents (folder, 0700) < 0)
    return error_from_errno (error, errno, "cannot make the folder %s", folder);
  g_autoptr (GError) problem = NULL;
  if (g_file_set_contents (file, text->str, (gssize)text->len, &problem))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot write %s: %s", file, problem->message);
  return FALSE;
}
