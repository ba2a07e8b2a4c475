/* SPDX-License-Identifier: Apache-2.0 */
/* A fresh database for a test. */
#include "store_world.h"

#include <ftw.h>
#include <glib/gstdio.h>
#include <unistd.h>

struct store_world {
  char *folder, *url;
};

const struct store_world_kind store_world_kinds[] = {{"sqlite"}, {NULL}};

store_world *
store_world_new (const struct store_world_kind *kind)
{
  g_autoptr (GError) error = NULL;
  store_world *world = g_new0 (store_world, 1);
  world->folder = g_dir_make_tmp ("adder-store-XXXXXX", &error);
  g_assert_no_error (error);
  (void)kind;
  world->url = g_strdup_printf ("sqlite:%s/records.db", world->folder);
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

struct database *
store_world_open (const store_world *world, guint64 timeout_ms)
{
  g_autoptr (GError) error = NULL;
  struct database *database = database_open (world->url, timeout_ms, &error);
  g_assert_no_error (error);
  return database;
}
