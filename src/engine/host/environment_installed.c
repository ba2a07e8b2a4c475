/* SPDX-License-Identifier: Apache-2.0 */
/* Which packages are in an environment. Installers' metadata folders are named by package and version
 * (numpy-2.0.1.dist-info), so nothing has to be run or opened. In a caller's own environment code may have
 * written these names, and models read them: only valid package names are taken. */
#include <string.h>

#include "engine/host/environment_private.h"

/* More than any environment has. */
#define ENTRIES_MAX   8192
#define NAME_BYTES    64
#define VERSION_BYTES 32

static const char *const endings[] = {".dist-info", ".egg-info"};
/* In every environment, and useless to code. */
static const char *const tools[] = {"pip", "setuptools", "wheel", NULL};

static void
package_free (gpointer data)
{
  struct environment_package *package = data;
  g_free (package->name);
  g_free (package->version);
  g_free (package);
}

static gboolean
is_made_of (const char *text, const char *more, gsize most)
{
  gsize length = strlen (text);
  if (length == 0 || length > most || !g_ascii_isalnum (text[0]))
    return FALSE;
  for (; *text; text++)
    if (!g_ascii_isalnum (*text) && !strchr (more, *text))
      return FALSE;
  return TRUE;
}

/* Normalized names (PEP 503): scikit_learn is scikit-learn. */
static char *
normalise (const char *name)
{
  char *lower = g_ascii_strdown (name, -1);
  return g_strdelimit (lower, "_.", '-');
}

/* ENTRY is NAME-VERSION and an extension; for eggs, -pyX.Y may precede it. */
static struct environment_package *
environment_installed_parse (const char *entry)
{
  g_autofree char *name = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (endings) && !name; i++)
    if (g_str_has_suffix (entry, endings[i]))
      name = g_strndup (entry, strlen (entry) - strlen (endings[i]));
  char *version = name ? strchr (name, '-') : NULL;
  if (!version)
    return NULL;
  *version++ = '\0';
  char *python = strstr (version, "-py");
  if (python)
    *python = '\0';
  if (!is_made_of (name, "._", NAME_BYTES) || !is_made_of (version, "._+!", VERSION_BYTES))
    return NULL;
  struct environment_package *package = g_new0 (struct environment_package, 1);
  package->name = normalise (name);
  package->version = g_strdup (version);
  return package;
}

static int
environment_installed_compare (gconstpointer a, gconstpointer b)
{
  const struct environment_package *const *one = a, *const *other = b;
  return strcmp ((*one)->name, (*other)->name);
}

GPtrArray *
environment_installed (const struct environment *environment)
{
  char *const *directories = environment->packages;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *packages = g_ptr_array_new_with_free_func (package_free);
  guint entries = 0;
  for (gsize i = 0; directories && directories[i]; i++) {
    g_autoptr (GDir) listing = g_dir_open (directories[i], 0, NULL);
    const char *entry;
    while (listing && (entry = g_dir_read_name (listing)) && entries++ < ENTRIES_MAX) {
      struct environment_package *package = environment_installed_parse (entry);
      /* Python imports the first that it finds. */
      if (package && !g_strv_contains (tools, package->name) && g_hash_table_add (seen, package->name))
        g_ptr_array_add (packages, package);
      else if (package)
        package_free (package);
    }
  }
  g_ptr_array_sort (packages, environment_installed_compare);
  return packages;
}
