/* SPDX-License-Identifier: Apache-2.0 */
/* What programs need to be executed, and the files of which a shell's tree is made. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/host/elf_dependencies.h"
#include "engine/host/layout_programs.h"
#include "suite.h"

static const char *const programs[] = {"/usr/bin/head", "/usr/bin/grep", "/usr/bin/find", "/usr/bin/curl",
                                       "/usr/bin/wget", "/usr/bin/jq",   "/usr/bin/file", "/bin/tar"};

static char *
output_of_ldd (const char *program)
{
  const char *argv[] = {"ldd", program, NULL};
  char *text = NULL;
  int status;
  if (g_spawn_sync (NULL, (char **)(guintptr)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                    NULL, NULL, &text, NULL, &status, NULL) &&
      status == 0)
    return text;
  g_free (text);
  return NULL;
}

/* The loader itself is asked. */
static void
test_as_ldd (void)
{
  guint compared = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (programs); i++) {
    g_autofree char *told = output_of_ldd (programs[i]);
    if (!told)
      continue;
    struct elf_dependencies *dependencies = elf_dependencies_new ();
    g_assert_true (elf_dependencies_add (dependencies, programs[i]));
    g_assert_cmpuint (g_hash_table_size (dependencies->loaders), ==, 1);
    GHashTableIter iter;
    gpointer path;
    g_hash_table_iter_init (&iter, dependencies->libraries);
    while (g_hash_table_iter_next (&iter, &path, NULL)) {
      g_autofree char *name = g_path_get_basename (path), *line = g_strdup_printf ("%s => ", name);
      if (!strstr (told, line) && !strstr (told, name))
        g_error ("%s is said to need %s; ldd says\n%s", programs[i], name, told);
    }
    guint lines = 0;
    for (const char *at = told; (at = strstr (at, " => ")); at++)
      lines++;
    /* The loader is a library as well, of those that name it. */
    g_assert_cmpuint (g_hash_table_size (dependencies->libraries), >=, lines);
    g_assert_cmpuint (g_hash_table_size (dependencies->libraries), <=, lines + 1);
    elf_dependencies_free (dependencies);
    compared++;
  }
  if (compared == 0)
    g_test_skip ("there is no ldd");
}

static void
test_scripts (void)
{
  static const struct {
    const char *text;
    gboolean fine;
  } rows[] = {
      {"#!/bin/sh\necho\n", TRUE},
      {"#! /bin/sh\necho\n", TRUE},
      {"#!/bin/sh -e\necho\n", TRUE},
      {"#!/bin/bash\necho\n", FALSE},
      {"#!/usr/bin/perl\n", FALSE},
      {"#!/bin/shx\n", FALSE},
      {"#!/usr/bin/env sh\n", FALSE},
      {"", FALSE},
      {"x", FALSE},
  };
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("adder-elf-XXXXXX", &path, NULL);
  close (fd);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct elf_dependencies *dependencies = elf_dependencies_new ();
    g_assert_true (g_file_set_contents (path, rows[i].text, -1, NULL));
    g_assert_cmpint (elf_dependencies_add (dependencies, path), ==, rows[i].fine);
    elf_dependencies_free (dependencies);
  }
  g_unlink (path);
  struct elf_dependencies *dependencies = elf_dependencies_new ();
  g_assert_false (elf_dependencies_add (dependencies, path));
  elf_dependencies_free (dependencies);
}

/* A program of which any byte may be wrong, or which ends anywhere: read or not, but never beyond its end. */
static void
test_damaged (void)
{
  g_autofree char *whole = NULL, *path = NULL;
  gsize length;
  if (!g_file_get_contents ("/usr/bin/head", &whole, &length, NULL)) {
    g_test_skip ("there is no /usr/bin/head");
    return;
  }
  close (g_file_open_tmp ("adder-elf-XXXXXX", &path, NULL));
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  struct elf_dependencies *dependencies = elf_dependencies_new ();
  for (int round = 0; round < 400; round++) {
    g_autofree char *copy = g_memdup2 (whole, length);
    for (int i = g_rand_int_range (random, 1, 20); i > 0; i--)
      copy[g_rand_int_range (random, 4, round % 2 ? 1024 : (gint32)length)] = (char)g_rand_int (random);
    gsize kept = round % 3 ? length : (gsize)g_rand_int_range (random, 0, (gint32)length);
    g_assert_true (g_file_set_contents_full (path, copy, (gssize)kept, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    (void)elf_dependencies_add (dependencies, path);
  }
  elf_dependencies_free (dependencies);
  g_unlink (path);
}

static void
test_tree_of_a_shell (void)
{
  static const char *const wanted[] = {"/usr/bin/sh", "/usr/bin/cat", "/usr/bin/grep", "/usr/bin/awk"};
  g_autoptr (GPtrArray) files = layout_programs ("/usr/bin/head");
  g_autoptr (GHashTable) targets = g_hash_table_new (g_str_hash, g_str_equal);
  guint runnable = 0;
  for (guint i = 0; i < files->len; i++) {
    const struct layout_file *file = files->pdata[i];
    g_assert_true (g_path_is_absolute (file->source) && g_path_is_absolute (file->target));
    g_assert_true (g_file_test (file->source, G_FILE_TEST_IS_REGULAR));
    g_assert_true (g_hash_table_add (targets, file->target));
    g_assert_null (strstr (file->target, "python"));
    g_assert_false (g_str_has_suffix (file->target, "/rm") || g_str_has_suffix (file->target, "/chmod"));
    runnable += file->runnable;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (wanted); i++)
    g_assert_true (g_hash_table_contains (targets, wanted[i]));
  g_assert_cmpuint (runnable, >, 40);
  g_assert_cmpuint (runnable, <, files->len);
}

UNIT_SUITE (engine_elf_dependencies)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elf-dependencies/as_ldd", test_as_ldd);
  g_test_add_func ("/elf-dependencies/scripts", test_scripts);
  g_test_add_func ("/elf-dependencies/damaged", test_damaged);
  g_test_add_func ("/elf-dependencies/tree_of_a_shell", test_tree_of_a_shell);
  return g_test_run ();
}
