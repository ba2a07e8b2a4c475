/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster whose nodes only pretend to run: how fast work is dispatched, at rising rates. The nodes and the
 * gateways are our own cluster code (src/cluster) on a real NATS server; in place of the HTTP server of a
 * node, a thread answers each request as soon as it has been started.
 *
 *   build/bench/simulate_cluster --nats nats://127.0.0.1:4222 --secret FILE
 *
 * Each node has subscriptions, a thread and signs of life of its own, but many share a connection, and hear
 * of the others once: 1,000 connections that hear of 1,000 nodes each second would measure that.
 *
 * Requests are due at fixed times, and their waits count from then: a client that comes late, because all
 * earlier ones still wait, does not make the result better. Prints one object of JSON per rate.
 * scripts/bench-cluster starts the server and makes a table. */
#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "cluster/cluster_private.h"
#include "cluster/tunnel.h"
#include "common/json.h"

#define EVENTS     256
#define READ_BYTES 4096
#define PART_MS    200   /* within which nodes answer that are ready */
#define READY_MS   60000 /* until all have subscribed */
#define SETTLE_MS  1500  /* between rates; room is looked at once a second */
#define REACHED    0.9   /* of a rate, or no higher one is tried */
#define GATEWAYS   2

static int nodes = 1000, room = 8, connections = 8, clients = 400, most = 10000;
static double seconds = 5;
static char *servers, *secret_file;

static const GOptionEntry entries[] = {
    {"nats", 0, 0, G_OPTION_ARG_STRING, &servers, "the NATS server, with JetStream", "URL"},
    {"secret", 0, 0, G_OPTION_ARG_FILENAME, &secret_file, "file with the secret of the cluster", "FILE"},
    {"nodes", 0, 0, G_OPTION_ARG_INT, &nodes, "nodes that pretend to run (1000)", "N"},
    {"room", 0, 0, G_OPTION_ARG_INT, &room, "runs that each of them takes at once (8)", "N"},
    {"connections", 0, 0, G_OPTION_ARG_INT, &connections, "connections that the nodes share (8)", "N"},
    {"clients", 0, 0, G_OPTION_ARG_INT, &clients, "requests that wait at once, at most (400)", "N"},
    {"rate", 0, 0, G_OPTION_ARG_INT, &most, "highest rate, in runs a second (10000)", "N"},
    {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, "length of each rate (5)", "S"},
    {NULL},
};

static _Noreturn void
fail (const char *what, const char *why)
{
  fprintf (stderr, "simulate_cluster: %s: %s\n", what, why);
  exit (EXIT_FAILURE);
}

/* ---- what nodes pretend ---- */

static int pretend_fd; /* of epoll, with the sockets of requests that have not been started */

static int
pretend_connect (gpointer data, const json_t *head, char **ret_text, GError **error)
{
  (void)data;
  (void)head;
  int pair[2];
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, g_strerror (errno));
    return -1;
  }
  struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = pair[1]};
  if (epoll_ctl (pretend_fd, EPOLL_CTL_ADD, pair[1], &event) < 0)
    fail ("epoll", g_strerror (errno));
  *ret_text = g_strdup ("POST /v1/runs HTTP/1.0\r\n\r\n");
  return pair[0];
}

static gboolean
pretend_is_closed (gpointer data)
{
  (void)data;
  return FALSE;
}

/* A request is whole when the node starts it, since it holds the end back until then. It tells when that was.
 */
static gpointer
pretend_run (gpointer data)
{
  struct epoll_event events[EVENTS];
  char request[READ_BYTES], reply[128];
  (void)data;
  for (;;) {
    int n = epoll_wait (pretend_fd, events, EVENTS, -1);
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd;
      gssize got = recv (fd, request, sizeof request, MSG_PEEK);
      if (got > 0 && (got < 4 || memcmp (request + got - 4, "\r\n\r\n", 4) != 0))
        got = events[i].events & EPOLLHUP ? 0 : -1;
      if (got < 0)
        continue;
      if (got > 0) {
        int length =
            g_snprintf (reply, sizeof reply, "HTTP/1.0 200 OK\r\n\r\n{\"started_us\": %" G_GINT64_FORMAT "}",
                        g_get_monotonic_time ());
        (void)send (fd, reply, (gsize)length, MSG_NOSIGNAL);
      }
      close (fd);
    }
  }
  return NULL;
}

/* ---- the cluster ---- */

static void
ignore_tag (guint32 tag)
{
  (void)tag;
}

static json_t *
describe (gpointer is_gateway)
{
  return json_pack ("{s:s, s:b}", "state", "serving", "gateway", is_gateway != NULL);
}

static struct cluster *
join (const struct config *config, const char *kind, int number, gboolean is_gateway)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *node = g_strdup_printf ("%s-%d", kind, number);
  const struct cluster_options options = {config, node, describe, ignore_tag, GINT_TO_POINTER (is_gateway)};
  struct cluster *cluster = cluster_new (&options, &problem);
  if (!cluster)
    fail (node, problem->message);
  return cluster;
}

/* What all nodes say of themselves once a second. */
static gpointer
beat (gpointer data)
{
  const struct cluster *cluster = data;
  for (;;) {
    for (int i = 0; i < nodes; i++) {
      g_autofree char *node = g_strdup_printf ("node-%d", i), *tag = g_strdup_printf ("%06x", i);
      g_autofree char *subject = g_strconcat ("$KV.adder-nodes.", tag, NULL);
      g_autoptr (json_t) entry = json_pack (
          "{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:i, s:i, s:I}", "node", node, "tag", tag, "instance",
          tag, "version", "0", "protocol", CLUSTER_PROTOCOL, "started", "", "state", "serving", "running", 0,
          "waiting", 0, "sessions", 0, "number", (json_int_t)g_get_real_time ());
      g_autofree char *text = entry_sign (cluster->secret, tag, entry);
      (void)cluster->binding->publish (cluster->bus, subject, NULL, text, strlen (text), NULL);
      g_usleep ((gulong)(CLUSTER_BEAT_MS * 1000 / nodes));
    }
  }
  return NULL;
}

static void
await_size (struct cluster *cluster, guint size)
{
  gint64 end_us = g_get_monotonic_time () + READY_MS * 1000;
  while (cluster_size (cluster) < size) {
    if (g_get_monotonic_time () > end_us)
      fail ("the nodes", "not all are known");
    g_usleep (PART_MS * 1000);
  }
}

static void
start_nodes (const struct config *config)
{
  static const struct tunnel_host_options pretends = {.is_closed = pretend_is_closed,
                                                      .connect = pretend_connect};
  struct cluster **joined = g_new (struct cluster *, (gsize)connections);
  for (int i = 0; i < connections; i++)
    joined[i] = join (config, "nodes", i, FALSE);
  g_thread_new ("beats", beat, joined[0]);
  for (int i = 0; i < connections; i++)
    await_size (joined[i], (guint)nodes);
  for (int i = 0; i < nodes; i++) {
    g_autoptr (GError) problem = NULL;
    struct tunnel_host_options options = pretends;
    options.room = (guint)room;
    if (!tunnel_host_new (joined[i % connections], &options, &problem))
      fail ("a node", problem->message);
  }
}

/* ---- the clients ---- */

struct wait {
  gint64 dispatch_us, reply_us; /* from when it was due until it was started, and until all is known */
};

struct load {
  struct cluster *gateways[GATEWAYS];
  json_t *head;
  double rate;
  gint64 begun_us;
  gint count;  /* of all requests */
  gint next;   /* atomic */
  gint failed; /* atomic */
  struct wait *waits;
};

static gint64
ask (const struct load *load, int number, GError **error)
{
  const struct tunnel_request request = {.head = load->head, .body = "", .watch_fd = -1, .wait_ms = 10000};
  g_autoptr (json_t) reply = tunnel_call (load->gateways[number % GATEWAYS], &request, error);
  return reply ? json_integer_value (json_object_get (reply, "started_us")) : -1;
}

static gpointer
load_client (gpointer data)
{
  struct load *load = data;
  int number;
  while ((number = g_atomic_int_add (&load->next, 1)) < load->count) {
    gint64 due_us = load->begun_us + (gint64)(number * 1e6 / load->rate), early_us;
    while ((early_us = due_us - g_get_monotonic_time ()) > 0)
      g_usleep ((gulong)early_us);
    g_autoptr (GError) problem = NULL;
    gint64 started_us = ask (load, number, &problem);
    if (started_us < 0 && g_atomic_int_add (&load->failed, 1) == 0)
      fprintf (stderr, "simulate_cluster: a request failed: %s\n", problem->message);
    gint64 now_us = g_get_monotonic_time ();
    load->waits[number] = (struct wait){(started_us < 0 ? now_us : started_us) - due_us, now_us - due_us};
  }
  return NULL;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  gint64 one = *(const gint64 *)a, other = *(const gint64 *)b;
  return (one > other) - (one < other);
}

/* In milliseconds; of dispatch, or of replies. */
static json_t *
percentiles (const struct load *load, gboolean of_reply)
{
  g_autofree gint64 *sorted = g_new (gint64, (gsize)load->count);
  for (int i = 0; i < load->count; i++)
    sorted[i] = of_reply ? load->waits[i].reply_us : load->waits[i].dispatch_us;
  qsort (sorted, (gsize)load->count, sizeof *sorted, compare);
  return json_pack ("{s:f, s:f}", "p50", (double)sorted[load->count / 2] / 1000, "p99",
                    (double)sorted[(gint64)load->count * 99 / 100] / 1000);
}

/* FALSE: this rate is not reached. */
static gboolean
load_run (struct load *load, double rate)
{
  load->rate = rate;
  load->count = (int)(rate * seconds);
  load->next = load->failed = 0;
  load->waits = g_new0 (struct wait, (gsize)load->count);
  g_autofree GThread **threads = g_new (GThread *, (gsize)clients);
  load->begun_us = g_get_monotonic_time () + PART_MS * 1000;
  for (int i = 0; i < clients; i++)
    threads[i] = g_thread_new ("client", load_client, load);
  for (int i = 0; i < clients; i++)
    g_thread_join (threads[i]);
  double reached = (load->count - load->failed) * 1e6 / (double)(g_get_monotonic_time () - load->begun_us);
  g_autoptr (json_t) told =
      json_pack ("{s:f, s:f, s:i, s:o, s:o}", "rate", rate, "reached", reached, "failed", load->failed,
                 "dispatch_ms", percentiles (load, FALSE), "reply_ms", percentiles (load, TRUE));
  g_autofree char *line = json_to_text (told);
  puts (line);
  fflush (stdout);
  g_free (load->waits);
  return load->failed == 0 && reached > rate * REACHED;
}

/* The nodes have subscribed when one answers; the others follow within a second. */
static void
load_await (struct load *load)
{
  gint64 end_us = g_get_monotonic_time () + READY_MS * 1000;
  g_autoptr (GError) problem = NULL;
  while (ask (load, 0, &problem) < 0) {
    if (g_get_monotonic_time () > end_us)
      fail ("no node answers", problem->message);
    g_clear_error (&problem);
  }
  g_usleep (2 * SETTLE_MS * 1000);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (GOptionContext) context =
      g_option_context_new ("- dispatch in a cluster whose nodes only pretend to run");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &problem))
    fail ("options", problem->message);
  if (!servers || !secret_file || nodes < 1 || room < 1 || connections < 1 || clients < 1 || most < 1 ||
      seconds <= 0)
    fail ("options", "--nats and --secret are needed, and numbers are positive");
  const struct config config = {.cluster_nats = servers, .cluster_secret_file = secret_file};
  pretend_fd = epoll_create1 (EPOLL_CLOEXEC);
  g_thread_new ("pretends", pretend_run, NULL);
  start_nodes (&config);
  struct load load = {.head = json_pack ("{s:s, s:s}", "method", "POST", "target", "/v1/runs")};
  for (int i = 0; i < GATEWAYS; i++)
    load.gateways[i] = join (&config, "gateway", i, TRUE);
  load_await (&load);
  static const int rates[] = {250, 500, 1000, 2000, 3000, 4000, 6000, 8000, 10000, 15000, 20000, 30000};
  gboolean goes_on = TRUE;
  for (gsize i = 0; goes_on && i < G_N_ELEMENTS (rates) && (i == 0 || rates[i - 1] < most); i++) {
    goes_on = load_run (&load, MIN (rates[i], most));
    g_usleep (SETTLE_MS * 1000);
  }
  fflush (NULL);
  _exit (EXIT_SUCCESS); /* the threads of nodes end with the process */
}
