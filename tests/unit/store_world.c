/* SPDX-License-Identifier: Apache-2.0 */
/* A fresh database, or place for blobs, for a test. The servers are started by tests/store_world.py when they
 * are first wanted, and end when this process does, because their input ends then. */
#include "store_world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "suite.h"
#include "tests-dir.h"

struct store_world {
  const struct store_world_kind *kind;
  char *folder, *url;
};

const struct store_world_kind store_world_kinds[] = {{"sqlite"}, {"postgres"}, {NULL}};
const struct store_world_kind store_world_blob_kinds[] = {{"directory"}, {"s3"}, {NULL}};

/* ---- servers ---- */

struct server {
  const char *name; /* as tests/store_world.py knows it */
  const char *missing;
  int in, out;
  gboolean is_there;
};
static struct server postgres = {"postgres", "there is no PostgreSQL on this host (the package postgresql)",
                                 -1, -1, FALSE};
static struct server s3 = {"s3", "there is no S3 server on this host (tests/seaweedfs.txt)", -1, -1, FALSE};

/* A line of what the server says; the caller's. */
static char *
read_line (const struct server *server)
{
  GString *line = g_string_new (NULL);
  for (char byte;;) {
    if (read (server->out, &byte, 1) != 1)
      g_error ("tests/store_world.py has ended: what it said is above");
    if (byte == '\n')
      return g_string_free (line, FALSE);
    g_string_append_c (line, byte);
  }
}

static char *
tell (const struct server *server, const char *command)
{
  g_autofree char *line = g_strconcat (command, "\n", NULL);
  g_assert_cmpint (fd_write_all (server->in, line, strlen (line)), ==, 0);
  return read_line (server);
}

char *
store_world_tell (const char *command)
{
  return tell (&postgres, command);
}

char *
store_world_tell_s3 (const char *command)
{
  return tell (&s3, command);
}

/* Whether there is one; without it the test is skipped. */
static gboolean
start_server (struct server *server)
{
  if (server->in < 0) {
    const char *const argv[] = {"/usr/bin/python3", TESTS_DIR "/store_world.py", server->name, NULL};
    g_autoptr (GError) error = NULL;
    g_spawn_async_with_pipes (NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, &server->in,
                              &server->out, NULL, &error);
    g_assert_no_error (error);
    g_autofree char *said = read_line (server);
    server->is_there = strcmp (said, "ready") == 0;
    if (!server->is_there)
      g_test_message ("%s", said);
  }
  if (!server->is_there)
    g_test_skip (server->missing);
  return server->is_there;
}

/* ---- worlds ---- */

store_world *
store_world_new (const struct store_world_kind *kind)
{
  gboolean is_server = strcmp (kind->name, "postgres") == 0;
  if (is_server && !start_server (&postgres))
    return NULL;
  g_autoptr (GError) error = NULL;
  store_world *world = g_new0 (store_world, 1);
  world->kind = kind;
  world->folder = g_dir_make_tmp ("adder-store-XXXXXX", &error);
  g_assert_no_error (error);
  world->url = is_server ? store_world_tell ("new") : g_strdup_printf ("sqlite:%s/records.db", world->folder);
  return world;
}

void
store_world_free (store_world *world)
{
  suite_remove (world->folder);
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

char *
store_world_blobs (const struct store_world_kind *kind, const char *folder)
{
  if (strcmp (kind->name, "directory") == 0)
    return g_strdup_printf ("directory:%s/blobs", folder);
  return start_server (&s3) ? tell (&s3, "new") : NULL;
}
