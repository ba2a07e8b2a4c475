/* SPDX-License-Identifier: Apache-2.0 */
#include "environment_place.h"

#include <glib/gstdio.h>
#include <string.h>

#include "adder.h"
#include "suite.h"

void
place_set_up (struct place *place, gconstpointer data)
{
  (void)data;
  place->root = g_strdup ("/var/tmp/adder-test-XXXXXX");
  g_assert_nonnull (g_mkdtemp (place->root));
  place->environments = g_build_filename (place->root, "environments", NULL);
  g_assert_cmpint (g_mkdir (place->environments, 0755), ==, 0);
  g_setenv ("ADDER_ENVIRONMENTS_DIR", place->environments, TRUE);
}

void
place_tear_down (struct place *place, gconstpointer data)
{
  (void)data;
  suite_remove (place->root);
  g_free (place->root);
  g_free (place->environments);
}

char *
write_file (const char *directory, const char *name, const char *text, int mode)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (g_chmod (path, mode), ==, 0);
  return g_steal_pointer (&path);
}

void
assert_error (GError **error, int code, const char *part)
{
  g_assert_error (*error, ADDER_ERROR, code);
  if (!strstr ((*error)->message, part))
    g_error ("\"%s\" does not say \"%s\"", (*error)->message, part);
  g_clear_error (error);
}
