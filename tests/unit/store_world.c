/* SPDX-License-Identifier: Apache-2.0 */
/* A fresh database for a test. The PostgreSQL server is started by tests/store_world.py when it is first
 * wanted, and ends when this process does, because its input ends then. */
#include "store_world.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

struct store_world {
  const struct store_world_kind *kind;
  char *folder, *url;
};

const struct store_world_kind store_world_kinds[] = {{"sqlite"}, {"postgres"}, {NULL}};

/* ---- the server ---- */

static int server_in = -1, server_out = -1;

/* A line of what the server says; the caller's. */
static char *
read_line (void)
{
  GString *line = g_string_new (NULL);
  for (char byte;;) {
    if (read (server_out, &byte, 1) != 1)
      g_error ("tests/store_world.py has ended: what it said is above");
    if (byte == '\n')
      return g_string_free (line, FALSE);
    g_string_append_c (line, byte);
  }
}

char *
store_world_tell (const char *command)
{
  g_autofree char *line = g_strconcat (command, "\n", NULL);
  g_assert_cmpint (fd_write_all (server_in, line, strlen (line)), ==, 0);
  return read_line ();
}

/* Whether there is one. */
static gboolean
start_server (void)
{
  static gboolean is_there;
  if (server_in >= 0)
    return is_there;
  const char *const argv[] = {"/usr/bin/python3", TESTS_DIR "/store_world.py", "postgres", NULL};
  g_autoptr (GError) error = NULL;
  g_spawn_async_with_pipes (NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, &server_in,
                            &server_out, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *said = read_line ();
  is_there = strcmp (said, "ready") == 0;
  if (!is_there)
    g_test_message ("%s", said);
  return is_there;
}

/* ---- worlds ---- */

store_world *
store_world_new (const struct store_world_kind *kind)
{
  gboolean is_server = strcmp (kind->name, "postgres") == 0;
  if (is_server && !start_server ()) {
    g_test_skip ("there is no PostgreSQL on this host (the package postgresql)");
    return NULL;
  }
  g_autoptr (GError) error = NULL;
  store_world *world = g_new0 (store_world, 1);
  world->kind = kind;
  world->folder = g_dir_make_tmp ("adder-store-XXXXXX", &error);
  g_assert_no_error (error);
  world->url = is_server ? store_world_tell ("new") : g_strdup_printf ("sqlite:%s/records.db", world->folder);
  return world;
}

static int
remove_one (const char *path, const struct stat *st, int kind, struct FTW *walk)
{
  (void)st, (void)kind, (void)walk;
  return remove (path);
}

void
store_world_free (store_world *world)
{
  nftw (world->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  g_free (world->folder);
  g_free (world->url);
  g_free (world);
}

const char *
store_world_url (const store_world *world)
{
  return world->url;
}

const char *
store_world_folder (const store_world *world)
{
  return world->folder;
}

gboolean
store_world_is_server (const store_world *world)
{
  return strcmp (world->kind->name, "sqlite") != 0;
}

struct database *
store_world_open (const store_world *world, guint64 timeout_ms)
{
  g_autoptr (GError) error = NULL;
  struct database *database = database_open (world->url, timeout_ms, &error);
  g_assert_no_error (error);
  return database;
}
