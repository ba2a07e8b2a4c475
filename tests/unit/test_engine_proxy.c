/* SPDX-License-Identifier: Apache-2.0 */
/* What the proxy counts and refuses of a run (egress), and how it carries bytes between a sandbox and a host.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/json.h"
#include "engine/network/egress.h"
#include "engine/network/proxy_answer.h"
#include "engine/network/proxy_private.h"
#include "engine/network/proxy_request.h"
#include "suite.h"

/* ---- egress ---- */

static struct egress *
make_egress (guint64 connections, guint64 in, guint64 out)
{
  g_autoptr (GError) error = NULL;
  struct limits limits = limits_default ();
  limits.value[LIMIT_NETWORK_CONNECTIONS] = connections;
  limits.value[LIMIT_NETWORK_IN] = in;
  limits.value[LIMIT_NETWORK_OUT] = out;
  limits.value[LIMIT_NETWORK_TIME] = 1500;
  struct network_rules *rules = network_rules_new ();
  rules->profile = g_strdup ("mine");
  int fds[2];
  g_assert_cmpint (pipe2 (fds, O_CLOEXEC), ==, 0);
  struct egress *egress = egress_new (7, fds[0], rules, &limits, &error);
  g_assert_no_error (error);
  close (fds[0]);
  close (fds[1]);
  network_rules_unref (rules);
  return egress;
}

static void
test_egress_counts (void)
{
  struct egress *egress = make_egress (2, 10, 5);
  json_t *destinations, *denials;
  guint32 met;
  g_assert_true (egress_enter (egress));
  g_assert_true (egress_enter (egress));
  g_assert_false (egress_enter (egress));
  guint a = egress_connected (egress, "a.org", 80), b = egress_connected (egress, "a.org", 443);
  g_assert_cmpuint (a, !=, b);
  g_assert_cmpuint (egress_connected (egress, "a.org", 80), ==, a);
  g_assert_cmpuint (egress_count_in (egress, a, 8), ==, 8);
  /* All connections of a run have one limit together. */
  g_assert_cmpuint (egress_count_in (egress, b, 8), ==, 2);
  g_assert_cmpuint (egress_count_in (egress, b, 1), ==, 0);
  g_assert_cmpuint (egress_count_out (egress, a, 5), ==, 5);
  egress_report (egress, &destinations, &denials, &met);
  g_autoptr (json_t) wanted =
      json_pack ("[{s:s, s:i, s:i, s:i, s:i}, {s:s, s:i, s:i, s:i, s:i}]", "host", "a.org", "port", 80,
                 "connections", 2, "in_bytes", 8, "out_bytes", 5, "host", "a.org", "port", 443, "connections",
                 1, "in_bytes", 2, "out_bytes", 0);
  g_assert_true (json_equal (destinations, wanted));
  g_assert_cmpuint (json_array_size (denials), ==, 0);
  g_assert_cmpuint (met, ==, 1u << LIMIT_NETWORK_CONNECTIONS | 1u << LIMIT_NETWORK_IN);
  json_decref (destinations);
  json_decref (denials);
  /* A connection that lives on is told of again only when something passes. */
  g_assert_cmpuint (egress_count_out (egress, b, 1), ==, 1);
  egress_report (egress, &destinations, &denials, &met);
  g_assert_cmpuint (json_array_size (destinations), ==, 1);
  g_assert_cmpint (json_integer_value (json_object_get (json_array_get (destinations, 0), "port")), ==, 443);
  g_assert_cmpuint (met, ==, 0);
  json_decref (destinations);
  json_decref (denials);
  g_assert_cmpint (egress_time_us (egress), ==, 1500000);
  egress_close (egress);
  g_assert_cmpuint (egress_count_in (egress, a, 1), ==, 0);
  g_assert_cmpuint (egress_count_out (egress, a, 1), ==, 0);
  egress_unref (egress);
}

/* Who goes to many hosts fills no memory with that. */
static void
test_egress_bounds (void)
{
  struct egress *egress = make_egress (2, 10, 10);
  json_t *destinations, *denials;
  guint32 met;
  for (int i = 0; i < 100; i++) {
    g_autofree char *host = g_strdup_printf ("h%d.org", i);
    egress_connected (egress, host, 80);
    egress_deny (egress, EGRESS_HOST, host);
  }
  egress_deny (egress, EGRESS_HOST, "h0.org");
  egress_meet (egress, LIMIT_NETWORK_TIME);
  egress_report (egress, &destinations, &denials, &met);
  g_assert_cmpuint (json_array_size (destinations), ==, 64);
  const json_t *last = json_array_get (destinations, 63);
  g_assert_cmpstr (json_string_value (json_object_get (last, "host")), ==, "others");
  g_assert_cmpint (json_integer_value (json_object_get (last, "port")), ==, 0);
  g_assert_cmpint (json_integer_value (json_object_get (last, "connections")), ==, 37);
  g_assert_cmpuint (json_array_size (denials), ==, 16);
  g_assert_cmpuint (met, ==, 1u << LIMIT_NETWORK_TIME);
  json_decref (destinations);
  json_decref (denials);
  egress_unref (egress);
}

static void
test_egress_hints (void)
{
  static const struct {
    enum egress_refusal refusal;
    const char *list, *hint;
  } rows[] = {
      {EGRESS_HOST, "", "The profile mine allows no host, ports 80 and 443"},
      {EGRESS_HOST, "a.org", "The profile mine allows only a.org, ports 80 and 443"},
      {EGRESS_ADDRESS, "", "[network] private_networks"},
      {EGRESS_REQUEST, "", "CONNECT and plain requests"},
      {EGRESS_KEY, "", "The key that the profile mine names"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct egress *egress = make_egress (2, 10, 10);
    json_t *destinations, *denials;
    guint32 met;
    if (rows[i].list[0])
      g_assert_true (network_rules_add (egress->rules, rows[i].list, NULL));
    egress_deny (egress, rows[i].refusal, "connect\nb.org");
    egress_deny (egress, rows[i].refusal, "connect\nb.org");
    egress_report (egress, &destinations, &denials, &met);
    g_assert_cmpuint (json_array_size (denials), ==, 1);
    const json_t *denial = json_array_get (denials, 0);
    g_assert_cmpstr (json_string_value (json_object_get (denial, "kind")), ==, "network");
    g_assert_null (strchr (json_string_value (json_object_get (denial, "detail")), '\n'));
    g_assert_nonnull (strstr (json_string_value (json_object_get (denial, "hint")), rows[i].hint));
    json_decref (destinations);
    json_decref (denials);
    egress_unref (egress);
  }
}

/* ---- carrying ---- */

/* What lies at the far ends of CLIENT and HOST passes, and what came there is read afterwards. */
struct ends {
  int client[2], host[2];
};

static void
ends_begin (struct ends *ends)
{
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->client), ==, 0);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->host), ==, 0);
}

static void
ends_close (struct ends *ends)
{
  for (int i = 0; i < 2; i++) {
    fd_close (&ends->client[i]);
    fd_close (&ends->host[i]);
  }
}

static void
say (int fd, const char *text, gboolean ends)
{
  g_assert_cmpint (fd_write_all (fd, text, strlen (text)), ==, 0);
  if (ends)
    g_assert_cmpint (shutdown (fd, SHUT_WR), ==, 0);
}

static void
assert_heard (int fd, const char *text)
{
  char heard[64] = "";
  gssize got = recv (fd, heard, sizeof heard - 1, MSG_DONTWAIT);
  heard[MAX (got, 0)] = '\0';
  g_assert_cmpstr (heard, ==, text);
}

static void
test_carried (void)
{
  static const struct {
    const char *name, *client, *host;
    gboolean client_ends, host_ends;
    enum proxy_body_kind body; /* PROXY_BODY_NONE: a tunnel */
    guint64 in, out;           /* the limits */
    gboolean whole;
    const char *to_host, *to_client;
    guint32 met;
    guint64 length; /* of the body */
  } rows[] = {
      {"a tunnel", "abc", "xyz", TRUE, TRUE, PROXY_BODY_NONE, 99, 99, TRUE, "HEADabc", "xyz", 0},
      {"a request", "body", "answer", FALSE, TRUE, PROXY_BODY_LENGTH, 99, 99, TRUE, "HEADbody", "answer", 0,
       4},
      /* The host would have kept the connection, and the client has its whole answer. */
      {"another request behind it", "GET", "HTTP/1.1 204 \r\n\r\n", FALSE, FALSE, PROXY_BODY_LENGTH, 99, 99,
       TRUE, "HEAD", "HTTP/1.1 204 \r\n\r\n", 0, 0},
      {"half of a request", "bo", "", TRUE, FALSE, PROXY_BODY_LENGTH, 99, 99, FALSE, "HEADbo", "", 0, 4},
      {"no such body", "zz", "", TRUE, FALSE, PROXY_BODY_CHUNKED, 99, 99, FALSE, "HEAD", "", 0},
      {"a long answer", "abc", "0123456789", TRUE, TRUE, PROXY_BODY_NONE, 5, 99, FALSE, NULL, "",
       1u << LIMIT_NETWORK_IN},
      {"a long question", "abcdef", "", TRUE, FALSE, PROXY_BODY_NONE, 99, 6, FALSE, "HEAD", "",
       1u << LIMIT_NETWORK_OUT},
      {"a long head", "", "", TRUE, TRUE, PROXY_BODY_NONE, 99, 3, FALSE, "", "", 1u << LIMIT_NETWORK_OUT},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct ends ends;
    struct egress *egress = make_egress (2, rows[i].in, rows[i].out);
    const struct proxy_request request = {.body = rows[i].body, .length = rows[i].length};
    struct proxy_body body;
    struct proxy_answer answer;
    g_autoptr (GString) first = g_string_new ("HEAD");
    g_test_message ("%s", rows[i].name);
    proxy_answer_init (&answer, &request);
    ends_begin (&ends);
    proxy_body_init (&body, &request);
    say (ends.client[1], rows[i].client, rows[i].client_ends);
    say (ends.host[1], rows[i].host, rows[i].host_ends);
    const struct carried carried = {.client_fd = ends.client[0],
                                    .host_fd = ends.host[0],
                                    .destination = egress_connected (egress, "a.org", 80),
                                    .deadline_us = g_get_monotonic_time () + G_TIME_SPAN_MINUTE,
                                    .first = first,
                                    .body = rows[i].body == PROXY_BODY_NONE ? NULL : &body,
                                    .answer = rows[i].body == PROXY_BODY_NONE ? NULL : &answer};
    g_assert_cmpint (proxy_carry (egress, &carried), ==, rows[i].whole);
    if (rows[i].to_host)
      assert_heard (ends.host[1], rows[i].to_host);
    if (rows[i].to_client)
      assert_heard (ends.client[1], rows[i].to_client);
    json_t *destinations, *denials;
    guint32 met;
    egress_report (egress, &destinations, &denials, &met);
    g_assert_cmpuint (met, ==, rows[i].met);
    json_decref (destinations);
    json_decref (denials);
    ends_close (&ends);
    proxy_answer_clear (&answer);
    egress_unref (egress);
  }
}

/* Where answers end, however they come in pieces; END: that they do not. */
static void
test_answers (void)
{
#define END G_MAXSIZE
#define OK  "HTTP/1.1 200 OK\r\n"
  static const struct {
    const char *before, *behind; /* the end of the answer */
    gboolean is_head, endless;
  } rows[] = {
      {OK "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 200 OK", FALSE, FALSE},
      {OK "content-length:0\r\n\r\n", "x", FALSE, FALSE},
      {OK "Content-Length: 3\r\n\r\n", "abc", TRUE, FALSE},
      {OK "X: y\r\n\r\n", "", TRUE, FALSE},
      {OK "Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "x", FALSE, FALSE},
      {"HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n", "abc", FALSE, FALSE},
      {"HTTP/1.0 304 \r\n\r\n", "x", FALSE, FALSE},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 \r\nLink: x\r\n\r\n" OK "Content-Length: 1\r\n\r\na", "b",
       FALSE, FALSE},
      {"HTTP/1.1 100 Continue\r\nContent-Length: 9\r\n\r\n" OK "Content-Length: 1\r\n\r\na", "b", FALSE,
       FALSE},
      /* These end with their connection. */
      {OK "X: y\r\n\r\nabc", "", FALSE, TRUE},
      {"HTTP/1.1 101 Other\r\nContent-Length: 0\r\n\r\n", "", FALSE, TRUE},
      {OK "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "", FALSE, TRUE},
      {OK "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", FALSE, TRUE},
      {OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "", FALSE, TRUE},
      {OK "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n", "", FALSE, TRUE},
      {OK "Content-Length: +3\r\n\r\nabc", "", FALSE, TRUE},
      {OK "Content-Length: 3, 3\r\n\r\nabc", "", FALSE, TRUE},
      {OK "X: y\r\n Content-Length: 3\r\n\r\nabc", "", FALSE, TRUE},
      {OK "Content-Length 3\r\n\r\nabc", "", FALSE, TRUE},
      {"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n", "", FALSE, TRUE},
      {"HTTP/2 200\r\nContent-Length: 0\r\n\r\n", "", FALSE, TRUE},
      {"HTTP/1.1 200 OK\nContent-Length: 0\n\n", "", FALSE, TRUE},
      {"\r\n\r\n", "", FALSE, TRUE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    const struct proxy_request request = {.is_head = rows[i].is_head};
    g_autofree char *text = g_strconcat (rows[i].before, rows[i].behind, NULL);
    gsize length = strlen (text), end = rows[i].endless ? END : strlen (rows[i].before);
    g_test_message ("%s", text);
    for (gsize step = 1; step <= length; step++) {
      struct proxy_answer answer;
      gsize at = 0;
      gboolean whole = FALSE;
      proxy_answer_init (&answer, &request);
      for (; at < length && !whole; at += MIN (step, length - at))
        whole = proxy_answer_take (&answer, text + at, MIN (step, length - at));
      g_assert_cmpint (whole, ==, end != END);
      if (whole)
        g_assert_true (at >= end && at < end + step);
      proxy_answer_clear (&answer);
    }
  }
  /* A head without an end is not kept. */
  const struct proxy_request request = {.is_head = FALSE};
  struct proxy_answer answer;
  proxy_answer_init (&answer, &request);
  for (gsize i = 0; i < 2 * PROXY_HEAD_BYTES / strlen (OK); i++)
    g_assert_false (proxy_answer_take (&answer, OK, strlen (OK)));
  g_assert_true (answer.endless);
  g_assert_cmpuint (answer.head->len, <=, PROXY_HEAD_BYTES + strlen (OK));
  proxy_answer_clear (&answer);
}

/* Neither is waited for: when its time is over, or the run. */
static void
test_carried_too_long (void)
{
  for (int closed = 0; closed < 2; closed++) {
    struct ends ends;
    struct egress *egress = make_egress (2, 99, 99);
    g_autoptr (GString) first = g_string_new ("HEAD");
    ends_begin (&ends);
    if (closed)
      egress_close (egress);
    const struct carried carried = {.client_fd = ends.client[0],
                                    .host_fd = ends.host[0],
                                    .destination = egress_connected (egress, "a.org", 80),
                                    .deadline_us =
                                        g_get_monotonic_time () + (closed ? G_TIME_SPAN_MINUTE : 1000),
                                    .first = first};
    g_assert_false (proxy_carry (egress, &carried));
    json_t *destinations, *denials;
    guint32 met;
    egress_report (egress, &destinations, &denials, &met);
    g_assert_cmpuint (met, ==, closed ? 0 : 1u << LIMIT_NETWORK_TIME);
    json_decref (destinations);
    json_decref (denials);
    ends_close (&ends);
    egress_unref (egress);
  }
}

#define MUCH ((gsize)1 << 20)

/* Sends back all that came, when no more comes. */
static gpointer
send_back (gpointer data)
{
  int fd = GPOINTER_TO_INT (data);
  g_autofree char *block = g_malloc (MUCH + 4);
  g_assert_cmpint (fd_read_all (fd, block, MUCH + 4), ==, 0);
  g_assert_cmpint (recv (fd, block, 1, MSG_PEEK), ==, 0);
  g_assert_cmpint (fd_write_all (fd, block, MUCH + 4), ==, 0);
  g_assert_cmpint (shutdown (fd, SHUT_WR), ==, 0);
  return NULL;
}

static gpointer
carry (gpointer data)
{
  const struct carried *carried = data;
  struct egress *egress = make_egress (2, 2 * MUCH, 2 * MUCH);
  egress_connected (egress, "a.org", 80);
  gboolean whole = proxy_carry (egress, carried);
  g_assert_cmpint (shutdown (carried->client_fd, SHUT_WR), ==, 0);
  egress_unref (egress);
  return GINT_TO_POINTER (whole);
}

/* However slow either side is. */
static void
test_carried_much (void)
{
  struct ends ends;
  const int small = 4096;
  g_autoptr (GString) first = g_string_new ("HEAD");
  g_autofree char *there = g_malloc (MUCH), *back = g_malloc (MUCH + 4);
  for (gsize i = 0; i < MUCH; i++)
    there[i] = (char)(i * 7 >> 3);
  ends_begin (&ends);
  g_assert_cmpint (setsockopt (ends.client[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), ==, 0);
  g_assert_cmpint (setsockopt (ends.host[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), ==, 0);
  struct carried carried = {.client_fd = ends.client[0],
                            .host_fd = ends.host[0],
                            .deadline_us = g_get_monotonic_time () + G_TIME_SPAN_MINUTE,
                            .first = first};
  GThread *host = g_thread_new ("host", send_back, GINT_TO_POINTER (ends.host[1]));
  GThread *proxy = g_thread_new ("proxy", carry, &carried);
  g_assert_cmpint (fd_write_all (ends.client[1], there, MUCH), ==, 0);
  g_assert_cmpint (shutdown (ends.client[1], SHUT_WR), ==, 0);
  g_assert_cmpint (fd_read_all (ends.client[1], back, MUCH + 4), ==, 0);
  g_assert_cmpmem (back, 4, "HEAD", 4);
  g_assert_cmpmem (back + 4, MUCH, there, MUCH);
  g_assert_true (GPOINTER_TO_INT (g_thread_join (proxy)));
  g_thread_join (host);
  ends_close (&ends);
}

UNIT_SUITE (engine_proxy)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/proxy/egress-counts", test_egress_counts);
  g_test_add_func ("/engine/proxy/egress-bounds", test_egress_bounds);
  g_test_add_func ("/engine/proxy/egress-hints", test_egress_hints);
  g_test_add_func ("/engine/proxy/carried", test_carried);
  g_test_add_func ("/engine/proxy/answers", test_answers);
  g_test_add_func ("/engine/proxy/carried-too-long", test_carried_too_long);
  g_test_add_func ("/engine/proxy/carried-much", test_carried_much);
  return g_test_run ();
}
