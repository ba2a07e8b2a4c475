/* SPDX-License-Identifier: Apache-2.0 */
/* The local socket's frames: what is legal comes through whole, everything else ends in an error and leaks
 * nothing. */
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "base/frame.h"
#include "common/json.h"
#include "interfaces/service/submission.h"
#include "interfaces/socket/protocol.h"
#include "suite.h"

struct pair {
  int near, far;
  int open_before;
};

static void
pair_set_up (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  int ends[2];
  pair->open_before = suite_descriptors ();
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
  pair->near = ends[0];
  pair->far = ends[1];
}

static void
pair_tear_down (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  fd_close (&pair->near);
  fd_close (&pair->far);
  g_assert_cmpint (suite_descriptors (), ==, pair->open_before);
}

static void
put (struct pair *pair, guint32 kind, guint32 length, const char *payload)
{
  struct frame_header header = {kind, length};
  g_assert_cmpint (send (pair->far, &header, sizeof header, MSG_NOSIGNAL), ==, sizeof header);
  if (payload)
    g_assert_cmpint (send (pair->far, payload, length, MSG_NOSIGNAL), ==, (gssize)length);
}

/* ---- what is legal ---- */

static void
test_round_trip (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  struct protocol_message message;
  autoclose int first = open ("/dev/null", O_RDONLY | O_CLOEXEC),
                second = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  int fds[] = {first, second};
  g_assert_true (protocol_send (pair->far, PROTOCOL_RUN, "{}", 2, fds, 2, &error));
  g_assert_true (protocol_send (pair->far, PROTOCOL_CODE, "a\0b", 3, NULL, 0, &error));
  g_assert_true (protocol_receive (pair->near, PROTOCOL_AWAIT_REQUEST, 1000, &message, &error));
  g_assert_no_error (error);
  g_assert_cmpint (message.kind, ==, PROTOCOL_RUN);
  g_assert_cmpstr (message.data, ==, "{}");
  g_assert_cmpuint (message.fd_count, ==, 2);
  guint8 byte = 1;
  g_assert_cmpint (read (message.fds[1], &byte, 1), ==, 1);
  g_assert_cmpuint (byte, ==, 0);
  g_assert_cmpint (fcntl (message.fds[0], F_GETFD), ==, FD_CLOEXEC);
  protocol_message_clear (&message);
  g_assert_true (protocol_receive (pair->near, PROTOCOL_AWAIT_CODE, 1000, &message, &error));
  g_assert_cmpmem (message.data, message.length, "a\0b", 3);
  protocol_message_clear (&message);
}

static gpointer
send_large (gpointer data)
{
  struct pair *pair = data;
  g_autofree char *text = g_strnfill (PROTOCOL_CODE_MAX, 'x');
  return GINT_TO_POINTER (protocol_send (pair->far, PROTOCOL_CODE, text, PROTOCOL_CODE_MAX, NULL, 0, NULL));
}

/* Much more than a socket's buffer holds: both sides wait for each other in turn. */
static void
test_largest_frame (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  struct protocol_message message;
  GThread *thread = g_thread_new ("send", send_large, pair);
  g_assert_true (protocol_receive (pair->near, PROTOCOL_AWAIT_CODE, 10000, &message, NULL));
  g_assert_cmpuint (message.length, ==, PROTOCOL_CODE_MAX);
  g_assert_true (message.data[PROTOCOL_CODE_MAX - 1] == 'x');
  g_assert_true (GPOINTER_TO_INT (g_thread_join (thread)));
  protocol_message_clear (&message);
}

static void
test_all_descriptors (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  struct protocol_message message;
  int fds[PROTOCOL_FDS_MAX];
  for (gsize i = 0; i < G_N_ELEMENTS (fds); i++)
    fds[i] = pair->near;
  g_assert_true (protocol_send (pair->far, PROTOCOL_RUN, "{}", 2, fds, G_N_ELEMENTS (fds), NULL));
  g_assert_true (protocol_receive (pair->near, PROTOCOL_AWAIT_REQUEST, 1000, &message, NULL));
  g_assert_cmpuint (message.fd_count, ==, PROTOCOL_FDS_MAX);
  protocol_message_clear (&message);
}

/* ---- what is not ---- */

struct illegal {
  enum protocol_state state;
  guint32 kind, length;
};

static const struct illegal illegal_frames[] = {
    {PROTOCOL_AWAIT_HELLO, 0, 0},
    {PROTOCOL_AWAIT_HELLO, 0xffffffff, 0},
    {PROTOCOL_AWAIT_HELLO, PROTOCOL_RUN, 2},
    {PROTOCOL_AWAIT_HELLO, PROTOCOL_HELLO, 0xffffffff},
    {PROTOCOL_AWAIT_HELLO, PROTOCOL_HELLO, 0x7fffffff},
    {PROTOCOL_AWAIT_HELLO, PROTOCOL_HELLO, 65537},
    {PROTOCOL_AWAIT_REQUEST, PROTOCOL_HELLO, 2},
    {PROTOCOL_AWAIT_REQUEST, PROTOCOL_CODE, 2},
    {PROTOCOL_AWAIT_REQUEST, PROTOCOL_RESULT, 2},
    {PROTOCOL_AWAIT_REQUEST, PROTOCOL_STOP, 5000},
    {PROTOCOL_AWAIT_REQUEST, PROTOCOL_RUN, (8 << 20) + 1},
    {PROTOCOL_AWAIT_REQUEST, PROTOCOL_SESSION, (8 << 20) + 1},
    {PROTOCOL_AWAIT_REQUEST, PROTOCOL_ANSWER, 2},
    {PROTOCOL_AWAIT_CODE, PROTOCOL_RUN, 2},
    {PROTOCOL_AWAIT_CODE, PROTOCOL_CODE, PROTOCOL_CODE_MAX + 1},
    {PROTOCOL_AWAIT_ANSWER, PROTOCOL_RESULT, 2},
    {PROTOCOL_AWAIT_ANSWER, PROTOCOL_SESSION, 2},
    {PROTOCOL_AWAIT_ANSWER, PROTOCOL_PROGRESS, (4 << 10) + 1},
    {PROTOCOL_AWAIT_REQUEST, PROTOCOL_PROGRESS, 2},
    {PROTOCOL_AWAIT_EVENT, PROTOCOL_PROGRESS, (4 << 10) + 1},
    {PROTOCOL_AWAIT_EVENT, PROTOCOL_OPERATION, 2},
    {PROTOCOL_AWAIT_EVENT, PROTOCOL_ANSWER, 2},
    {PROTOCOL_AWAIT_EVENT, PROTOCOL_STARTED, 1},
};

static void
test_illegal_frames (G_GNUC_UNUSED struct pair *unused, G_GNUC_UNUSED gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (illegal_frames); i++) {
    const struct illegal *row = &illegal_frames[i];
    struct pair pair;
    pair_set_up (&pair, NULL);
    g_autoptr (GError) error = NULL;
    struct protocol_message message;
    g_autofree char *payload = row->length <= 65536 ? g_strnfill (row->length, '{') : NULL;
    put (&pair, row->kind, row->length, payload);
    g_assert_false (protocol_receive (pair.near, row->state, 1000, &message, &error));
    g_assert_nonnull (error);
    g_assert_false (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT));
    pair_tear_down (&pair, NULL);
  }
}

/* Descriptors with a frame that may have none are closed, not kept. */
static void
test_uninvited_descriptors (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  static const enum protocol_kind kinds[] = {PROTOCOL_STOP, PROTOCOL_HELLO};
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++) {
    struct protocol_message message;
    int fds[] = {pair->near, pair->far, pair->near};
    enum protocol_state state = kinds[i] == PROTOCOL_HELLO ? PROTOCOL_AWAIT_HELLO : PROTOCOL_AWAIT_REQUEST;
    int before = suite_descriptors ();
    g_assert_true (protocol_send (pair->far, kinds[i], NULL, 0, fds, 3, NULL));
    g_assert_false (protocol_receive (pair->near, state, 1000, &message, NULL));
    g_assert_cmpint (suite_descriptors (), ==, before);
    fd_close (&pair->near);
    fd_close (&pair->far);
    int ends[2];
    g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
    pair->near = ends[0];
    pair->far = ends[1];
  }
}

static const char half_hello[] = "{\"proto";

static void
test_half_frame_times_out (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  struct protocol_message message;
  struct frame_header header = {PROTOCOL_HELLO, 100};
  gint64 start = g_get_monotonic_time ();
  g_assert_cmpint (send (pair->far, &header, sizeof header, 0), ==, sizeof header);
  g_assert_cmpint (send (pair->far, half_hello, sizeof half_hello, 0), ==, sizeof half_hello);
  g_assert_false (protocol_receive (pair->near, PROTOCOL_AWAIT_HELLO, 100, &message, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT);
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 90 * 1000);
}

static void
test_half_frame_and_gone (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  struct protocol_message message;
  put (pair, PROTOCOL_HELLO, 100, NULL);
  fd_close (&pair->far);
  g_assert_false (protocol_receive (pair->near, PROTOCOL_AWAIT_HELLO, 1000, &message, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED);
}

static void
test_send_to_nobody (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fd_close (&pair->near);
  g_assert_false (protocol_send (pair->far, PROTOCOL_OPERATION, "{}", 2, NULL, 0, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED);
}

/* Bytes of all kinds at the daemon, with a fixed seed: an error or a legal message each time, never more. */
static void
test_garbage (G_GNUC_UNUSED struct pair *unused, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20240601);
  for (int round = 0; round < 500; round++) {
    struct pair pair;
    pair_set_up (&pair, NULL);
    guint8 bytes[64];
    for (gsize i = 0; i < sizeof bytes; i++)
      bytes[i] = (guint8)(g_rand_boolean (random) ? g_rand_int_range (random, 0, 16) : 0);
    gsize length = (gsize)g_rand_int_range (random, 0, sizeof bytes);
    g_assert_cmpint (write (pair.far, bytes, length), ==, (gssize)length);
    fd_close (&pair.far);
    enum protocol_state state = (enum protocol_state)g_rand_int_range (random, 0, PROTOCOL_AWAIT_CODE + 1);
    struct protocol_message message;
    while (protocol_receive (pair.near, state, 1000, &message, NULL))
      protocol_message_clear (&message);
    pair_tear_down (&pair, NULL);
  }
}

/* ---- hello and refusals ---- */

static void
test_hello (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  struct protocol_hello own, read;
  struct protocol_message message;
  g_autoptr (GError) error = NULL;
  protocol_hello_own (&own);
  own.pid = 77;
  own.running = 3;
  g_autoptr (json_t) value = protocol_hello_to_json (&own);
  g_assert_true (protocol_send_json (pair->far, PROTOCOL_HELLO, value, &error));
  g_assert_true (protocol_receive (pair->near, PROTOCOL_AWAIT_HELLO, 1000, &message, &error));
  g_assert_true (protocol_hello_from_message (&message, &read, &error));
  g_assert_cmpmem (&read, sizeof read, &own, sizeof own);
  protocol_message_clear (&message);
}

static void
test_bad_hello (G_GNUC_UNUSED struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  static const char *const texts[] = {"",
                                      "5",
                                      "{}",
                                      "{\"protocol\": 1}",
                                      "{\"version\": \"1\"}",
                                      "{\"protocol\": \"1\", \"version\": \"1\"}",
                                      "{\"protocol\": 0, \"version\": \"1\"}",
                                      "{\"protocol\": 99999999999, \"version\": \"1\"}",
                                      "{\"protocol\": 1, \"version\": null}",
                                      "{\"protocol\": 1, \"version\": \"1\", \"running\": -1}",
                                      "{\"protocol\": 1, \"version\": \"1\", \"pid\": []}"};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    struct protocol_message message = {.data = (char *)texts[i], .length = strlen (texts[i])};
    struct protocol_hello hello;
    g_autoptr (GError) error = NULL;
    g_assert_false (protocol_hello_from_message (&message, &hello, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
}

static void
test_compare (G_GNUC_UNUSED struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  /* Each is newer than the one before it. */
  static const struct protocol_hello ascending[] = {
      {1, "0.9", 0, 0, 0},  {1, "0.9.1", 0, 0, 0}, {1, "0.10", 0, 0, 0}, {1, "0.10", 5, 0, 0},
      {1, "0.10", 6, 0, 0}, {1, "1.0", 0, 0, 0},   {2, "0.1", 0, 0, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (ascending); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (ascending); j++) {
      int order = protocol_hello_compare (&ascending[i], &ascending[j]);
      g_assert_cmpint ((order > 0) - (order < 0), ==, (i > j) - (i < j));
    }
}

static void
test_refusal (struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) sent = g_error_new_literal (ADDER_ERROR, ADDER_ERROR_BUSY, "too many \xff");
  g_autoptr (GError) got = NULL, empty = NULL;
  struct protocol_message message, nothing = {.data = (char *)"", .length = 0};
  g_assert_true (protocol_send_refused (pair->far, sent, NULL));
  g_assert_true (protocol_receive (pair->near, PROTOCOL_AWAIT_ANSWER, 1000, &message, NULL));
  protocol_take_refusal (&message, &got);
  g_assert_error (got, ADDER_ERROR, ADDER_ERROR_BUSY);
  g_assert_cmpstr (got->message, ==, "too many \xef\xbf\xbd");
  protocol_message_clear (&message);
  protocol_take_refusal (&nothing, &empty);
  g_assert_error (empty, ADDER_ERROR, ADDER_ERROR_FAILED);
}

/* ---- the body of a run ---- */

struct body {
  const char *text;
  gsize fds; /* that come with it */
};

static const struct body good_bodies[] = {
    {"{}", 0},
    {"{\"name\": null, \"environment\": \"system\", \"arguments\": [], \"variables\": {}, \"limits\": {}}",
     0},
    {"{\"name\": \"a.py\", \"arguments\": [\"x\", \"\"], \"variables\": {\"A\": \"1\"}, \"limits\": "
     "{\"wall_ms\": 500}}",
     0},
    {"{\"files\": [{\"name\": \"a\", \"descriptor\": true}, {\"name\": \"t\", \"text\": \"x\"}, "
     "{\"name\": \"b/c\", \"descriptor\": true}], \"stdin\": true, \"save\": false, \"conversation\": \"x\"}",
     3},
    {"{\"files\": [{\"name\": \"a\", \"base64\": \"aGk=\"}, {\"file_id\": \"@x\"}], \"stdin\": \"text\"}", 0},
    {"{\"stdin\": true, \"save\": true}", 2},
};

static const struct body bad_bodies[] = {
    {"{\"colour\": 1}", 0},
    {"{\"name\": 5}", 0},
    {"{\"profile\": []}", 0},
    {"{\"arguments\": \"x\"}", 0},
    {"{\"arguments\": [1]}", 0},
    {"{\"variables\": []}", 0},
    {"{\"variables\": {\"A\": 1}}", 0},
    {"{\"limits\": {\"wall_ms\": \"5\"}}", 0},
    {"{\"limits\": {\"wall_ms\": -1}}", 0},
    {"{\"limits\": {\"wall_ms\": 99999999999}}", 0},
    {"{\"limits\": {\"no_such\": 1}}", 0},
    {"{\"stdin\": 1}", 0},
    {"{\"stdin\": true}", 0},
    {"{\"save\": true}", 0},
    {"{\"files\": [{\"name\": \"a\", \"descriptor\": true}]}", 0},
    {"{\"files\": [{\"name\": \"a\"}]}", 1},
    {"{\"files\": [{\"name\": \"a\", \"descriptor\": true, \"text\": \"x\"}]}", 1},
    {"{\"files\": [{\"name\": \"a\", \"text\": \"x\"}]}", 1},
    {"{\"files\": [{\"name\": \"a\", \"base64\": \"x\"}]}", 0},
    {"{\"files\": [{\"descriptor\": true}]}", 1},
    {"{\"files\": [\"a\"]}", 1},
    {"{\"files\": [{\"name\": \"../a\", \"descriptor\": true}]}", 1},
    {"{\"files\": [{\"name\": \"/a\", \"descriptor\": true}]}", 1},
    {"{\"files\": [{\"name\": \"\", \"descriptor\": true}]}", 1},
    {"{\"files\": [5]}", 1},
    {"{\"files\": {}}", 0},
    {"{}", 1},
    {"{\"files\": [{\"name\": \"a\", \"descriptor\": true}], \"stdin\": false}", 2},
    {"{\"code\": \"1\"}", 0},
    {"{\"owner\": \"uid:0\"}", 0},
    {"{\"workdir\": {\"root\": \"x\", \"mode\": \"read\"}}", 1},
};

static AdderRequest *
build (const struct body *body, GError **error)
{
  struct submission request;
  submission_init (&request);
  json_decref (request.body);
  request.body = json_parse_object (body->text, strlen (body->text), "the request", NULL);
  g_assert_nonnull (request.body);
  for (gsize i = 0; i < body->fds; i++) {
    int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    g_assert_true (submission_take_fd (&request, &fd, NULL));
    g_assert_cmpint (fd, ==, -1);
  }
  AdderRequest *result = submission_build (&request, NULL, error);
  submission_clear (&request);
  return result;
}

static void
test_good_bodies (G_GNUC_UNUSED struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (good_bodies); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AdderRequest) request = build (&good_bodies[i], &error);
    g_assert_no_error (error);
    g_assert_nonnull (request);
  }
}

static void
test_bad_bodies (G_GNUC_UNUSED struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_bodies); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (build (&bad_bodies[i], &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
}

static void
test_too_many_descriptors (G_GNUC_UNUSED struct pair *pair, G_GNUC_UNUSED gconstpointer data)
{
  struct submission request;
  g_autoptr (GError) error = NULL;
  submission_init (&request);
  for (int i = 0; i < PROTOCOL_FDS_MAX; i++) {
    int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    g_assert_true (submission_take_fd (&request, &fd, NULL));
  }
  autoclose int more = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  g_assert_false (submission_take_fd (&request, &more, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  submission_clear (&request);
}

#define ADD(path, test) g_test_add (path, struct pair, NULL, pair_set_up, test, pair_tear_down)

UNIT_SUITE (interfaces_protocol)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("/protocol/round-trip", test_round_trip);
  ADD ("/protocol/largest-frame", test_largest_frame);
  ADD ("/protocol/all-descriptors", test_all_descriptors);
  ADD ("/protocol/illegal-frames", test_illegal_frames);
  ADD ("/protocol/uninvited-descriptors", test_uninvited_descriptors);
  ADD ("/protocol/half-frame-times-out", test_half_frame_times_out);
  ADD ("/protocol/half-frame-and-gone", test_half_frame_and_gone);
  ADD ("/protocol/send-to-nobody", test_send_to_nobody);
  ADD ("/protocol/garbage", test_garbage);
  ADD ("/protocol/hello", test_hello);
  ADD ("/protocol/bad-hello", test_bad_hello);
  ADD ("/protocol/compare", test_compare);
  ADD ("/protocol/refusal", test_refusal);
  ADD ("/run-request/good", test_good_bodies);
  ADD ("/run-request/bad", test_bad_bodies);
  ADD ("/run-request/too-many-descriptors", test_too_many_descriptors);
  return g_test_run ();
}
