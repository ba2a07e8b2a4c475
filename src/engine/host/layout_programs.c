/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host/layout_programs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/host/elf_dependencies.h"
#include "sandbox/programs.h"

#define PLACE "/usr/bin"

/* Loaded at run time: host name resolution on older systems, and ending threads. */
static const char *const loaded_later[] = {"libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2",
                                           "libgcc_s.so.1"};

/* The library that stdbuf preloads, by system. It is found by this path. */
static const char *const loaded_by_path[] = {"/usr/libexec/coreutils/libstdbuf.so",
                                             "/usr/lib/coreutils/libstdbuf.so"};

/* What iconv loads for today's common encodings, below the library directories; and the index of those
 * files. */
static const char *const encodings[] = {"UTF-16.so", "UTF-32.so", "ISO8859-1.so", "ISO8859-15.so",
                                        "CP1252.so"};
#define ENCODINGS     "gconv"
#define ENCODINGS_KEY "gconv-modules.cache"

static void
free_file (gpointer data)
{
  struct layout_file *file = data;
  g_free (file->source);
  g_free (file->target);
  g_free (file);
}

static void
layout_programs_add_file (GPtrArray *files, const char *path, const char *target, gboolean runnable)
{
  char *source = realpath (path, NULL);
  if (!source)
    return;
  struct layout_file *file = g_new0 (struct layout_file, 1);
  *file =
      (struct layout_file){.source = g_strdup (source), .target = g_strdup (target), .runnable = runnable};
  free (source);
  g_ptr_array_add (files, file);
}

/* The program NAME as the distribution installs it. The caller's, links resolved; NULL: not installed. */
static char *
find_program (const char *name)
{
  static const char *const directories[] = {"/usr/bin", "/bin"};
  for (gsize i = 0; i < G_N_ELEMENTS (directories); i++) {
    g_autofree char *path = g_build_filename (directories[i], name, NULL);
    char *real = access (path, X_OK) == 0 ? realpath (path, NULL) : NULL;
    if (real)
      return real;
  }
  return NULL;
}

char *
layout_find_shell (void)
{
  char *shell = find_program ("dash");
  return shell ? shell : find_program ("sh");
}

static void
layout_programs_add_program (GPtrArray *files, struct elf_dependencies *dependencies, const char *name)
{
  g_autofree char *real = find_program (name), *target = g_build_filename (PLACE, name, NULL);
  if (real && elf_dependencies_add (dependencies, real))
    layout_programs_add_file (files, real, target, TRUE);
}

/* At their own paths, without the links of merged systems (/lib), which are in the tree as well. */
static void
layout_programs_add_paths (GPtrArray *files, GHashTable *paths, gboolean runnable)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer path;
  g_hash_table_iter_init (&iter, paths);
  while (g_hash_table_iter_next (&iter, &path, NULL)) {
    g_autofree char *directory = g_path_get_dirname (path), *name = g_path_get_basename (path);
    g_autofree char *real = realpath (directory, NULL);
    g_autofree char *target = real ? g_build_filename (real, name, NULL) : NULL;
    if (target && g_hash_table_add (seen, g_strdup (target)))
      layout_programs_add_file (files, path, target, runnable);
  }
}

/* At its own path. FALSE: it is missing, or not for this machine. */
static gboolean
add_loaded (GPtrArray *files, struct elf_dependencies *dependencies, const char *path)
{
  gboolean fits = elf_dependencies_add (dependencies, path);
  if (fits)
    layout_programs_add_file (files, path, path, FALSE);
  return fits;
}

static void
add_encodings (GPtrArray *files, struct elf_dependencies *dependencies)
{
  gboolean found = FALSE;
  for (guint i = 0; i < dependencies->directories->len && !found; i++) {
    g_autofree char *directory = g_build_filename (dependencies->directories->pdata[i], ENCODINGS, NULL);
    char *real = realpath (directory, NULL);
    for (gsize j = 0; real && j < G_N_ELEMENTS (encodings); j++) {
      g_autofree char *path = g_build_filename (real, encodings[j], NULL);
      found = add_loaded (files, dependencies, path) || found;
    }
    g_autofree char *key = found ? g_build_filename (real, ENCODINGS_KEY, NULL) : NULL;
    if (key)
      layout_programs_add_file (files, key, key, FALSE);
    free (real);
  }
}

GPtrArray *
layout_programs (const char *zygote)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (free_file);
  struct elf_dependencies *dependencies = elf_dependencies_new ();
  g_autofree char *shell = layout_find_shell ();
  /* First, since most libraries are in its loader's directory. */
  (void)elf_dependencies_add (dependencies, zygote);
  if (shell && elf_dependencies_add (dependencies, shell))
    layout_programs_add_file (files, shell, PLACE "/sh", TRUE);
  for (gsize i = 0; i < program_rows_count; i++) {
    const char *list = program_rows[i].names, *word;
    size_t length;
    while (program_rows[i].kind == PROGRAM_FILE && (word = programs_next (&list, &length))) {
      g_autofree char *name = g_strndup (word, length);
      layout_programs_add_program (files, dependencies, name);
    }
  }
  for (gsize i = 0; i < G_N_ELEMENTS (loaded_later); i++)
    elf_dependencies_add_library (dependencies, loaded_later[i]);
  for (gsize i = 0; i < G_N_ELEMENTS (loaded_by_path); i++)
    (void)add_loaded (files, dependencies, loaded_by_path[i]);
  add_encodings (files, dependencies);
  layout_programs_add_paths (files, dependencies->libraries, FALSE);
  layout_programs_add_paths (files, dependencies->loaders, TRUE);
  elf_dependencies_free (dependencies);
  return files;
}
