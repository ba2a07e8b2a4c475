/* SPDX-License-Identifier: Apache-2.0 */
/* Egress: counting, and the words for what was refused. */
#include "engine/network/egress.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"

/* Of a run; what is beyond is not told apart. */
#define DESTINATIONS_MAX 64
#define DENIALS_MAX      16
#define DETAIL_BYTES     300

/* The hosts that a hint names. */
#define LIST_BYTES 300

struct egress_destination {
  char *host;
  guint16 port;
  guint64 connections, in_bytes, out_bytes;
};

static void
free_destination (gpointer data)
{
  struct egress_destination *destination = data;
  g_free (destination->host);
  g_free (destination);
}

struct egress *
egress_new (guint64 number, int listener_fd, struct network_rules *rules, const struct limits *limits,
            GError **error)
{
  struct egress *egress = g_new0 (struct egress, 1);
  g_atomic_ref_count_init (&egress->references);
  g_mutex_init (&egress->lock);
  egress->number = number;
  egress->rules = network_rules_ref (rules);
  egress->limits = *limits;
  egress->destinations = g_ptr_array_new_with_free_func (free_destination);
  egress->denials = json_array ();
  egress->closed_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  egress->listener_fd = fcntl (listener_fd, F_DUPFD_CLOEXEC, 0);
  if (egress->closed_fd >= 0 && egress->listener_fd >= 0)
    return egress;
  error_from_errno (error, errno, "cannot make the descriptors of a proxy");
  egress_unref (egress);
  return NULL;
}

struct egress *
egress_ref (struct egress *egress)
{
  g_atomic_ref_count_inc (&egress->references);
  return egress;
}

void
egress_unref (struct egress *egress)
{
  if (!egress || !g_atomic_ref_count_dec (&egress->references))
    return;
  fd_close (&egress->listener_fd);
  fd_close (&egress->closed_fd);
  network_rules_unref (egress->rules);
  UNSHARED (egress);
  g_ptr_array_unref (egress->destinations);
  json_decref (egress->denials);
  g_mutex_clear (&egress->lock);
  g_free (egress);
}

void
egress_begin (struct egress *egress, const struct limits *limits)
{
  g_mutex_lock (&egress->lock);
  egress->limits = *limits;
  g_mutex_unlock (&egress->lock);
}

void
egress_close (struct egress *egress)
{
  g_mutex_lock (&egress->lock);
  egress->closed = TRUE;
  g_mutex_unlock (&egress->lock);
  (void)eventfd_write (egress->closed_fd, 1);
}

/* Connections that live on keep their destinations, with nothing in them yet. */
REQUIRES (egress)
static void
count_anew (struct egress *egress)
{
  egress->in_bytes = egress->out_bytes = 0;
  egress->limits_met = 0;
  if (egress->connections == 0)
    g_ptr_array_set_size (egress->destinations, 0);
  for (guint i = 0; i < egress->destinations->len; i++) {
    struct egress_destination *destination = egress->destinations->pdata[i];
    destination->connections = destination->in_bytes = destination->out_bytes = 0;
  }
  json_decref (egress->denials);
  egress->denials = json_array ();
}

void
egress_report (struct egress *egress, json_t **ret_destinations, json_t **ret_denials,
               guint32 *ret_limits_met)
{
  json_t *destinations = json_array ();
  g_mutex_lock (&egress->lock);
  for (guint i = 0; i < egress->destinations->len; i++) {
    const struct egress_destination *destination = egress->destinations->pdata[i];
    if (destination->connections + destination->in_bytes + destination->out_bytes == 0)
      continue;
    json_array_append_new (
        destinations,
        json_pack ("{s:o, s:i, s:I, s:I, s:I}", "host", json_text_or_null (destination->host), "port",
                   (int)destination->port, "connections", (json_int_t)destination->connections, "in_bytes",
                   (json_int_t)destination->in_bytes, "out_bytes", (json_int_t)destination->out_bytes));
  }
  *ret_destinations = destinations;
  *ret_denials = json_deep_copy (egress->denials);
  *ret_limits_met = egress->limits_met;
  count_anew (egress);
  g_mutex_unlock (&egress->lock);
}

/* ---- counting ---- */

gboolean
egress_enter (struct egress *egress)
{
  g_mutex_lock (&egress->lock);
  gboolean room = egress->connections < egress->limits.value[LIMIT_NETWORK_CONNECTIONS];
  if (room)
    egress->connections++;
  else
    egress->limits_met |= 1u << LIMIT_NETWORK_CONNECTIONS;
  g_mutex_unlock (&egress->lock);
  return room;
}

void
egress_leave (struct egress *egress)
{
  g_mutex_lock (&egress->lock);
  egress->connections--;
  g_mutex_unlock (&egress->lock);
}

guint
egress_connected (struct egress *egress, const char *host, guint16 port)
{
  guint at;
  g_mutex_lock (&egress->lock);
  for (at = 0; at < egress->destinations->len; at++) {
    const struct egress_destination *destination = egress->destinations->pdata[at];
    if ((destination->port == port && strcmp (destination->host, host) == 0) || at + 1 == DESTINATIONS_MAX)
      break;
  }
  if (at == egress->destinations->len) {
    struct egress_destination *destination = g_new0 (struct egress_destination, 1);
    gboolean last = at + 1 == DESTINATIONS_MAX;
    destination->host = g_strdup (last ? "others" : host);
    destination->port = last ? 0 : port;
    g_ptr_array_add (egress->destinations, destination);
  }
  ((struct egress_destination *)egress->destinations->pdata[at])->connections++;
  g_mutex_unlock (&egress->lock);
  return at;
}

/* How many of BYTES may be added to *SUM; what is left out meets LIMIT. */
REQUIRES (egress)
static gsize
egress_count (struct egress *egress, guint64 *sum, guint64 *of_destination, enum limit limit, gsize bytes)
{
  guint64 most = egress->limits.value[limit];
  gsize room = (gsize)MIN ((guint64)bytes, most - MIN (*sum, most));
  if (room < bytes)
    egress->limits_met |= 1u << limit;
  *sum += room;
  *of_destination += room;
  return room;
}

gsize
egress_count_in (struct egress *egress, guint destination, gsize bytes)
{
  g_mutex_lock (&egress->lock);
  struct egress_destination *to = egress->destinations->pdata[destination];
  gsize room =
      egress->closed ? 0 : egress_count (egress, &egress->in_bytes, &to->in_bytes, LIMIT_NETWORK_IN, bytes);
  g_mutex_unlock (&egress->lock);
  return room;
}

gsize
egress_count_out (struct egress *egress, guint destination, gsize bytes)
{
  g_mutex_lock (&egress->lock);
  struct egress_destination *to = egress->destinations->pdata[destination];
  gsize room = egress->closed
                   ? 0
                   : egress_count (egress, &egress->out_bytes, &to->out_bytes, LIMIT_NETWORK_OUT, bytes);
  g_mutex_unlock (&egress->lock);
  return room;
}

void
egress_meet (struct egress *egress, enum limit limit)
{
  g_mutex_lock (&egress->lock);
  egress->limits_met |= 1u << limit;
  g_mutex_unlock (&egress->lock);
}

gint64
egress_time_us (struct egress *egress)
{
  g_mutex_lock (&egress->lock);
  gint64 time_us = (gint64)egress->limits.value[LIMIT_NETWORK_TIME] * 1000;
  g_mutex_unlock (&egress->lock);
  return time_us;
}

/* ---- what was refused ---- */

static char *
egress_hint_of (const struct egress *egress, enum egress_refusal refusal)
{
  const struct network_rules *rules = egress->rules;
  g_autofree char *list = text_one_line (rules->text, LIST_BYTES);
  switch (refusal) {
  case EGRESS_HOST:
    return g_strdup_printf (
        "The profile %s allows %s%s, ports 80 and 443 unless it says others: use these, or ask "
        "the user to add a host to its key [network] allow.",
        rules->profile, list[0] ? "only " : "no host", list);
  case EGRESS_ADDRESS:
    return g_strdup ("Private, local and special addresses are refused whatever name leads to them; for your "
                     "own private network there is the configuration's key [network] private_networks.");
  case EGRESS_REQUEST:
    return g_strdup (
        "The proxy takes CONNECT and plain requests for http:// that have one meaning: use urllib, "
        "requests or curl as they are.");
  case EGRESS_KEY:
    return g_strdup_printf ("The key that the profile %s names for this host ([network] secret_file or "
                            "secret_variable) cannot be used: tell the user.",
                            rules->profile);
  }
  return NULL;
}

void
egress_deny (struct egress *egress, enum egress_refusal refusal, const char *detail)
{
  g_autofree char *shown = text_one_line (detail, DETAIL_BYTES);
  g_autofree char *hint = egress_hint_of (egress, refusal);
  g_autoptr (json_t) denial =
      json_pack ("{s:s, s:o, s:s}", "kind", "network", "detail", json_text_or_null (shown), "hint", hint);
  gsize index;
  json_t *known;
  g_mutex_lock (&egress->lock);
  gboolean room = json_array_size (egress->denials) < DENIALS_MAX;
  json_array_foreach (egress->denials, index, known) room = room && !json_equal (known, denial);
  if (room)
    json_array_append (egress->denials, denial);
  g_mutex_unlock (&egress->lock);
}
