/* SPDX-License-Identifier: Apache-2.0 */
/* Gates: counting, and the words for what was refused. */
#include "engine/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"

/* Of a run; what is beyond is not told apart. */
#define VISITS_MOST  64
#define DENIALS_MOST 16
#define DETAIL_BYTES 300

/* The hosts that a hint names. */
#define LIST_BYTES 300

struct gate_visit {
  char *host;
  guint16 port;
  guint64 connections, in_bytes, out_bytes;
};

static void
free_visit (gpointer data)
{
  struct gate_visit *visit = data;
  g_free (visit->host);
  g_free (visit);
}

struct gate *
gate_new (guint64 number, int listener_fd, struct network_rules *rules, const struct limits *limits,
          GError **error)
{
  struct gate *gate = g_new0 (struct gate, 1);
  g_atomic_ref_count_init (&gate->references);
  g_mutex_init (&gate->lock);
  gate->number = number;
  gate->rules = network_rules_ref (rules);
  gate->limits = *limits;
  gate->visits = g_ptr_array_new_with_free_func (free_visit);
  gate->denials = json_array ();
  gate->closed_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  gate->listener_fd = fcntl (listener_fd, F_DUPFD_CLOEXEC, 0);
  if (gate->closed_fd >= 0 && gate->listener_fd >= 0)
    return gate;
  error_from_errno (error, errno, "cannot make the descriptors of a proxy");
  gate_unref (gate);
  return NULL;
}

struct gate *
gate_ref (struct gate *gate)
{
  g_atomic_ref_count_inc (&gate->references);
  return gate;
}

void
gate_unref (struct gate *gate)
{
  if (!gate || !g_atomic_ref_count_dec (&gate->references))
    return;
  fd_close (&gate->listener_fd);
  fd_close (&gate->closed_fd);
  network_rules_unref (gate->rules);
  g_ptr_array_unref (gate->visits);
  json_decref (gate->denials);
  g_mutex_clear (&gate->lock);
  g_free (gate);
}

void
gate_begin (struct gate *gate, const struct limits *limits)
{
  g_mutex_lock (&gate->lock);
  gate->limits = *limits;
  g_mutex_unlock (&gate->lock);
}

void
gate_close (struct gate *gate)
{
  g_mutex_lock (&gate->lock);
  gate->closed = TRUE;
  g_mutex_unlock (&gate->lock);
  (void)eventfd_write (gate->closed_fd, 1);
}

/* With the lock held. Connections that live on keep their visits, with nothing in them yet. */
static void
count_anew (struct gate *gate)
{
  gate->in_bytes = gate->out_bytes = 0;
  gate->limits_met = 0;
  if (gate->connections == 0)
    g_ptr_array_set_size (gate->visits, 0);
  for (guint i = 0; i < gate->visits->len; i++) {
    struct gate_visit *visit = gate->visits->pdata[i];
    visit->connections = visit->in_bytes = visit->out_bytes = 0;
  }
  json_decref (gate->denials);
  gate->denials = json_array ();
}

void
gate_report (struct gate *gate, json_t **ret_visits, json_t **ret_denials, guint32 *ret_limits_met)
{
  json_t *visits = json_array ();
  g_mutex_lock (&gate->lock);
  for (guint i = 0; i < gate->visits->len; i++) {
    const struct gate_visit *visit = gate->visits->pdata[i];
    if (visit->connections + visit->in_bytes + visit->out_bytes == 0)
      continue;
    json_array_append_new (
        visits, json_pack ("{s:o, s:i, s:I, s:I, s:I}", "host", json_text_or_null (visit->host), "port",
                           (int)visit->port, "connections", (json_int_t)visit->connections, "in_bytes",
                           (json_int_t)visit->in_bytes, "out_bytes", (json_int_t)visit->out_bytes));
  }
  *ret_visits = visits;
  *ret_denials = json_deep_copy (gate->denials);
  *ret_limits_met = gate->limits_met;
  count_anew (gate);
  g_mutex_unlock (&gate->lock);
}

/* ---- counting ---- */

gboolean
gate_enter (struct gate *gate)
{
  g_mutex_lock (&gate->lock);
  gboolean room = gate->connections < gate->limits.value[LIMIT_NETWORK_CONNECTIONS];
  if (room)
    gate->connections++;
  else
    gate->limits_met |= 1u << LIMIT_NETWORK_CONNECTIONS;
  g_mutex_unlock (&gate->lock);
  return room;
}

void
gate_leave (struct gate *gate)
{
  g_mutex_lock (&gate->lock);
  gate->connections--;
  g_mutex_unlock (&gate->lock);
}

guint
gate_visit (struct gate *gate, const char *host, guint16 port)
{
  guint at;
  g_mutex_lock (&gate->lock);
  for (at = 0; at < gate->visits->len; at++) {
    const struct gate_visit *visit = gate->visits->pdata[at];
    if ((visit->port == port && strcmp (visit->host, host) == 0) || at + 1 == VISITS_MOST)
      break;
  }
  if (at == gate->visits->len) {
    struct gate_visit *visit = g_new0 (struct gate_visit, 1);
    gboolean last = at + 1 == VISITS_MOST;
    visit->host = g_strdup (last ? "others" : host);
    visit->port = last ? 0 : port;
    g_ptr_array_add (gate->visits, visit);
  }
  ((struct gate_visit *)gate->visits->pdata[at])->connections++;
  g_mutex_unlock (&gate->lock);
  return at;
}

/* How many of BYTES may be added to *SUM; what is left out meets LIMIT. */
static gsize
count (struct gate *gate, guint64 *sum, guint64 *of_visit, enum limit limit, gsize bytes)
{
  guint64 most = gate->limits.value[limit];
  gsize room = (gsize)MIN ((guint64)bytes, most - MIN (*sum, most));
  if (room < bytes)
    gate->limits_met |= 1u << limit;
  *sum += room;
  *of_visit += room;
  return room;
}

gsize
gate_count_in (struct gate *gate, guint visit, gsize bytes)
{
  g_mutex_lock (&gate->lock);
  struct gate_visit *to = gate->visits->pdata[visit];
  gsize room = gate->closed ? 0 : count (gate, &gate->in_bytes, &to->in_bytes, LIMIT_NETWORK_IN, bytes);
  g_mutex_unlock (&gate->lock);
  return room;
}

gsize
gate_count_out (struct gate *gate, guint visit, gsize bytes)
{
  g_mutex_lock (&gate->lock);
  struct gate_visit *to = gate->visits->pdata[visit];
  gsize room = gate->closed ? 0 : count (gate, &gate->out_bytes, &to->out_bytes, LIMIT_NETWORK_OUT, bytes);
  g_mutex_unlock (&gate->lock);
  return room;
}

void
gate_meet (struct gate *gate, enum limit limit)
{
  g_mutex_lock (&gate->lock);
  gate->limits_met |= 1u << limit;
  g_mutex_unlock (&gate->lock);
}

gint64
gate_time_us (struct gate *gate)
{
  g_mutex_lock (&gate->lock);
  gint64 time_us = (gint64)gate->limits.value[LIMIT_NETWORK_TIME] * 1000;
  g_mutex_unlock (&gate->lock);
  return time_us;
}

/* ---- what was refused ---- */

static char *
hint_of (const struct gate *gate, enum gate_refusal refusal)
{
  const struct network_rules *rules = gate->rules;
  g_autofree char *list = text_one_line (rules->text, LIST_BYTES);
  switch (refusal) {
  case GATE_HOST:
    return g_strdup_printf (
        "The profile %s allows %s%s, ports 80 and 443 unless it says others: use these, or ask "
        "the user to add a host to its key [network] allow.",
        rules->profile, list[0] ? "only " : "no host", list);
  case GATE_ADDRESS:
    return g_strdup (
        "Private, local and special addresses are refused whatever name leads to them; for a private "
        "network of one's own there is the configuration's key [network] private_networks.");
  case GATE_REQUEST:
    return g_strdup (
        "The proxy takes CONNECT and plain requests for http:// that have one meaning: use urllib, "
        "requests or curl as they are.");
  case GATE_KEY:
    return g_strdup_printf ("The key that the profile %s names for this host ([network] secret_file or "
                            "secret_variable) cannot be used: tell the user.",
                            rules->profile);
  }
  return NULL;
}

void
gate_deny (struct gate *gate, enum gate_refusal refusal, const char *detail)
{
  g_autofree char *shown = text_one_line (detail, DETAIL_BYTES);
  g_autofree char *hint = hint_of (gate, refusal);
  g_autoptr (json_t) denial =
      json_pack ("{s:s, s:o, s:s}", "kind", "network", "detail", json_text_or_null (shown), "hint", hint);
  gsize index;
  json_t *known;
  g_mutex_lock (&gate->lock);
  gboolean room = json_array_size (gate->denials) < DENIALS_MOST;
  json_array_foreach (gate->denials, index, known) room = room && !json_equal (known, denial);
  if (room)
    json_array_append (gate->denials, denial);
  g_mutex_unlock (&gate->lock);
}
