/* SPDX-License-Identifier: Apache-2.0 */
/* A socket pair for each request. The end that the request watches is closed only on removal, by the thread
 * that carried it out: no descriptor is reused while somebody waits on it. */
#include "interfaces/mcp/inflight.h"

#include <sys/socket.h>

#include "base/fd.h"
#include "common/guarded.h"

struct flight {
  int watch_fd, peer_fd;
  gboolean lasts;
};

LOCK_CLASS (mcp_inflight);

struct mcp_inflight {
  MUTEX (mcp_inflight) lock;
  guint most;
  GUARDED_BY (mcp_inflight) GHashTable *flights; /* struct flight by id as text */
};

static void
flight_free (gpointer data)
{
  struct flight *flight = data;
  fd_close (&flight->watch_fd);
  fd_close (&flight->peer_fd);
  g_free (flight);
}

struct mcp_inflight *
mcp_inflight_new (guint most)
{
  struct mcp_inflight *inflight = g_new0 (struct mcp_inflight, 1);
  inflight->most = most;
  g_mutex_init (&inflight->lock);
  inflight->flights = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, flight_free);
  return inflight;
}

void
mcp_inflight_free (struct mcp_inflight *inflight)
{
  if (!inflight)
    return;
  UNSHARED (mcp_inflight);
  g_hash_table_destroy (inflight->flights);
  g_mutex_clear (&inflight->lock);
  g_free (inflight);
}

/* 1 and "1" are two ids. The caller's. */
static char *
inflight_key_of (const json_t *id)
{
  if (json_is_string (id))
    return g_strconcat ("s", json_string_value (id), NULL);
  return g_strdup_printf ("i%" JSON_INTEGER_FORMAT, json_integer_value (id));
}

int
mcp_inflight_add (struct mcp_inflight *inflight, const json_t *id, gboolean lasts, gboolean *ret_taken)
{
  g_autofree char *key = inflight_key_of (id);
  int pair[2];
  struct flight *flight = NULL;
  g_mutex_lock (&inflight->lock);
  gboolean taken = g_hash_table_contains (inflight->flights, key);
  if (!taken && g_hash_table_size (inflight->flights) < inflight->most &&
      socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
    flight = g_new0 (struct flight, 1);
    *flight = (struct flight){pair[0], pair[1], lasts};
    g_hash_table_insert (inflight->flights, g_steal_pointer (&key), flight);
  }
  g_mutex_unlock (&inflight->lock);
  *ret_taken = taken;
  return flight ? flight->watch_fd : -1;
}

void
mcp_inflight_remove (struct mcp_inflight *inflight, const json_t *id)
{
  g_autofree char *key = inflight_key_of (id);
  g_mutex_lock (&inflight->lock);
  g_hash_table_remove (inflight->flights, key);
  g_mutex_unlock (&inflight->lock);
}

void
mcp_inflight_cancel (struct mcp_inflight *inflight, const json_t *id)
{
  g_autofree char *key = inflight_key_of (id);
  g_mutex_lock (&inflight->lock);
  struct flight *flight = g_hash_table_lookup (inflight->flights, key);
  if (flight)
    fd_close (&flight->peer_fd);
  g_mutex_unlock (&inflight->lock);
}

static void
inflight_cancel_those (struct mcp_inflight *inflight, gboolean only_lasting)
{
  GHashTableIter iter;
  gpointer flight;
  g_mutex_lock (&inflight->lock);
  g_hash_table_iter_init (&iter, inflight->flights);
  while (g_hash_table_iter_next (&iter, NULL, &flight))
    if (!only_lasting || ((struct flight *)flight)->lasts)
      fd_close (&((struct flight *)flight)->peer_fd);
  g_mutex_unlock (&inflight->lock);
}

void
mcp_inflight_cancel_all (struct mcp_inflight *inflight)
{
  inflight_cancel_those (inflight, FALSE);
}

void
mcp_inflight_cancel_lasting (struct mcp_inflight *inflight)
{
  inflight_cancel_those (inflight, TRUE);
}
