/* SPDX-License-Identifier: Apache-2.0 */
/* Runs, sessions and work directories while one call of this process to the system fails, each in turn: what
 * was asked for is done or refused with a sentence, and the engine goes on. What fails in the processes of a
 * sandbox is in tests/faults. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "each_call.h"
#include "run_support.h"
#include "session_calls.h"
#include "suite.h"

#define WALL_MS 3000 /* where a message was lost, a run ends by it */

/* What the steps of this file work on. */
struct work {
  int descriptors;
  AdderEngine *engine;
  int small_fd, large_fd, stdin_fd, out_fd, directory_fd;
  char *directory, *out;
};

static int
make_file (const char *name, gsize bytes)
{
  g_autofree char *path = g_build_filename (scratch, name, NULL), *text = g_strnfill (bytes, 'x');
  g_assert_true (g_file_set_contents (path, text, (gssize)bytes, NULL));
  return open (path, O_RDONLY | O_CLOEXEC);
}

static int
make_directory (const char *name, char **ret_path)
{
  *ret_path = g_build_filename (scratch, name, NULL);
  g_assert_cmpint (g_mkdir_with_parents (*ret_path, 0755), ==, 0);
  return open (*ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void
work_init (struct work *work, const char *settings)
{
  *work = (struct work){.descriptors = suite_descriptors (),
                        .engine = new_engine (settings),
                        .small_fd = make_file ("small.txt", 1000),
                        .large_fd = make_file ("large.bin", 20 * MIB),
                        .stdin_fd = make_file ("stdin.txt", 10)};
  work->out_fd = make_directory ("out", &work->out);
  work->directory_fd = make_directory ("directory", &work->directory);
}

static void
work_clear (struct work *work)
{
  adder_engine_free (work->engine);
  close (work->small_fd);
  close (work->large_fd);
  close (work->stdin_fd);
  close (work->out_fd);
  close (work->directory_fd);
  suite_remove (work->out);
  suite_remove (work->directory);
  g_free (work->out);
  g_free (work->directory);
  g_assert_cmpint (suite_descriptors (), ==, work->descriptors);
}

/* Runs REQUEST, which it frees. NULL: it did not end well, and ERROR says what its result does. */
static AdderResult *
try_run (struct work *work, AdderRequest *request, AdderOutcome outcome, GError **error)
{
  AdderResult *result = adder_run (work->engine, request);
  adder_request_free (request);
  if (adder_result_outcome (result) == outcome)
    return result;
  g_autoptr (json_t) json = parse (result);
  const char *message = error_at (json, "message");
  if (!message || !message[0])
    g_error ("no reason: %s", adder_result_json (result));
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, message);
  adder_result_free (result);
  return NULL;
}

/* The engine runs code as before. */
static void
check_engine (gpointer data, gboolean done)
{
  struct work *work = data;
  (void)done;
  g_autoptr (json_t) result = run (work->engine, new_request ("6 * 7"), "ok", 0);
  g_assert_cmpstr (string_at (json_object_get (result, "value"), "text/plain"), ==, "42");
}

static void
each (const char *settings, call_step step, call_check check, enum call_fault last)
{
  struct work work;
  work_init (&work, settings);
  check (&work, FALSE);
  for (enum call_fault kind = CALL_ERROR; kind <= last; kind++) {
    guint count = each_call_fails (kind, CALLS_EVERYWHERE, step, check, &work);
    g_test_message ("kind %d: %u calls", kind, count);
  }
  work_clear (&work);
}

/* ---- a run ---- */

static AdderRequest *
new_failing (const char *code)
{
  AdderRequest *request = new_request (code);
  set_limit (request, "wall_ms", WALL_MS);
  return request;
}

static gboolean
run_step (gpointer data, GError **error)
{
  struct work *work = data;
  AdderRequest *request = new_failing ("import os\n"
                                       "os.makedirs('made/deep')\n"
                                       "with open('made/deep/a.txt', 'w') as f: f.write('made')\n"
                                       "with open('b.txt', 'w') as f: f.write(input())\n"
                                       "print('y' * 100000)\n"
                                       "len(open('in/small.txt').read())");
  (void)lseek (work->stdin_fd, 0, SEEK_SET);
  adder_request_set_stdin (request, work->stdin_fd);
  if (!adder_request_add_file (request, "in/small.txt", work->small_fd, error)) {
    adder_request_free (request);
    return FALSE;
  }
  g_autoptr (AdderResult) result = try_run (work, request, ADDER_OUTCOME_OK, error);
  g_autofree char *told = NULL;
  return result && adder_result_save_files (result, work->out_fd, TRUE, &told, error);
}

static void
test_run (void)
{
  each (NULL, run_step, check_engine, CALL_SHORT);
}

static void
test_run_process (void)
{
  each ("[pool]\nparked = 1\n[sandbox]\nisolation = process\nmin_isolation = 1\n", run_step, check_engine,
        CALL_ERROR);
}

/* A file that is too large to be copied without need. */
static gboolean
bind_mount_step (gpointer data, GError **error)
{
  struct work *work = data;
  AdderRequest *request = new_failing ("import os; os.stat('in/large.bin').st_size");
  if (!adder_request_add_file (request, "in/large.bin", work->large_fd, error)) {
    adder_request_free (request);
    return FALSE;
  }
  g_autoptr (AdderResult) result = try_run (work, request, ADDER_OUTCOME_OK, error);
  return result != NULL;
}

static void
test_bind (void)
{
  each (NULL, bind_mount_step, check_engine, CALL_INTERRUPTED);
}

/* ---- the network ---- */

/* A process that answers each connection to the socket LISTENER. */
static pid_t
start_server (int listener)
{
  static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
  pid_t parent = getpid (), pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid > 0)
    return pid;
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  for (char request[4096]; getppid () == parent;) {
    autoclose int fd = accept4 (listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0 && read (fd, request, sizeof request) > 0)
      (void)fd_write_all (fd, answer, sizeof answer - 1);
  }
  _exit (0);
}

/* A socket on the loopback; its port. */
static guint16
make_listener (int *ret_fd)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  *ret_fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (*ret_fd, (struct sockaddr *)&address, size), ==, 0);
  g_assert_cmpint (listen (*ret_fd, 16), ==, 0);
  g_assert_cmpint (getsockname (*ret_fd, (struct sockaddr *)&address, &size), ==, 0);
  return ntohs (address.sin_port);
}

static char *network_code;

static gboolean
network_step (gpointer data, GError **error)
{
  AdderRequest *request = new_failing (network_code);
  adder_request_set_profile (request, "net");
  g_autoptr (AdderResult) result = try_run (data, request, ADDER_OUTCOME_OK, error);
  return result != NULL;
}

/* A plain request and a tunnel, to a name. */
static void
test_network (void)
{
  int listener;
  guint16 port = make_listener (&listener);
  pid_t server = start_server (listener);
  g_autofree char *config = g_build_filename (scratch, "config", NULL);
  g_autofree char *profiles = g_build_filename (config, "profiles", NULL);
  g_autofree char *profile = g_build_filename (profiles, "net.conf", NULL);
  g_autofree char *text =
      g_strdup_printf ("[profile]\ntitle = net\n[network]\nmode = allow\nallow = localhost:%u\n", port);
  g_assert_cmpint (g_mkdir_with_parents (profiles, 0755), ==, 0);
  g_assert_true (g_file_set_contents (profile, text, -1, NULL));
  g_setenv ("ADDER_CONFIG_DIR", config, TRUE);
  network_code =
      g_strdup_printf ("import http.client, os, urllib.parse\n"
                       "proxy = urllib.parse.urlsplit(os.environ['http_proxy'])\n"
                       "plain = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=2)\n"
                       "plain.request('GET', 'http://localhost:%u/')\n"
                       "assert plain.getresponse().read() == b'ok', 'no answer'\n"
                       "tunnel = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=2)\n"
                       "tunnel.set_tunnel('localhost', %u)\n"
                       "tunnel.request('GET', '/')\n"
                       "assert tunnel.getresponse().read() == b'ok', 'no answer'\n",
                       port, port);
  each ("[pool]\nparked = 1\n[network]\nparked = 1\nprivate_networks = 127.0.0.0/8\n", network_step,
        check_engine, CALL_ERROR);
  kill (server, SIGKILL);
  waitpid (server, NULL, 0);
  close (listener);
  g_free (network_code);
}

/* ---- directories ---- */

static gboolean
workdir_step (gpointer data, const char *mode, AdderOutcome outcome, GError **error)
{
  struct work *work = data;
  AdderRequest *request = new_failing ("import os, shutil\n"
                                       "with open('a', 'a') as a: a.write('more')\n"
                                       "os.remove('b')\n"
                                       "shutil.rmtree('old')\n"
                                       "os.mkdir('new')\n"
                                       "with open('new/c', 'w') as c: c.write('c')\n");
  if (!adder_request_set_workdir (request, work->directory_fd, work->directory, mode, error)) {
    adder_request_free (request);
    return FALSE;
  }
  g_autoptr (AdderResult) result = try_run (work, request, outcome, error);
  return result != NULL;
}

static gboolean
overlay_step (gpointer data, GError **error)
{
  return workdir_step (data, "overlay", ADDER_OUTCOME_OK, error);
}

static void
fill_directory (const struct work *work)
{
  static const char *const names[] = {"a", "b", "old/x"};
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_build_filename (work->directory, names[i], NULL);
    g_autofree char *parent = g_path_get_dirname (path);
    g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
    g_assert_true (g_file_set_contents (path, names[i], -1, NULL));
  }
}

static gboolean
is_there (const struct work *work, const char *name, const char *content)
{
  g_autofree char *path = g_build_filename (work->directory, name, NULL), *text = NULL;
  return g_file_get_contents (path, &text, NULL, NULL) && strcmp (text, content) == 0;
}

/* Nothing of the directory was changed. */
static void
check_overlay (gpointer data, gboolean done)
{
  struct work *work = data;
  if (!is_there (work, "a", "a"))
    fill_directory (work);
  g_assert_true (is_there (work, "a", "a") && is_there (work, "b", "b") &&
                 is_there (work, "old/x", "old/x") && !is_there (work, "new/c", "c"));
  check_engine (work, done);
}

static void
test_overlay (void)
{
  each (NULL, overlay_step, check_overlay, CALL_INTERRUPTED);
}

static gboolean
review_step (gpointer data, GError **error)
{
  return workdir_step (data, "review", ADDER_OUTCOME_APPROVAL_REQUIRED, error);
}

/* What waits goes. */
static void
check_review (gpointer data, gboolean done)
{
  struct work *work = data;
  g_autofree char *text = adder_call (work->engine, NULL, "review.list", NULL, NULL);
  g_autoptr (json_t) answer = json_parse_object (text, strlen (text), "the reviews", NULL);
  const json_t *list = json_object_get (answer, "reviews"), *one;
  gsize index;
  json_array_foreach (list, index, one)
  {
    g_autoptr (GError) error = NULL;
    json_t *params = json_pack ("{s:s}", "review", string_at (one, "review_id"));
    g_free (called (work->engine, NULL, "review.drop", params, &error));
    g_assert_no_error (error);
  }
  check_overlay (work, done);
}

static void
test_review (void)
{
  each (NULL, review_step, check_review, CALL_ERROR);
}

/* ---- sessions ---- */

#define SESSIONS "[pool]\nparked = 1\n[sessions]\ninterrupt_grace_ms = 200\nmax_sessions_per_owner = 8\n"

static gboolean
cell (struct work *work, const char *code, GError **error)
{
  AdderRequest *request = adder_request_new (code, -1);
  set_limit (request, "wall_ms", WALL_MS);
  adder_request_set_session (request, "one", TRUE);
  g_autoptr (AdderResult) result = try_run (work, request, ADDER_OUTCOME_OK, error);
  return result != NULL;
}

static gboolean
open_session (struct work *work, GError **error)
{
  AdderRequest *options = new_failing ("");
  g_autofree char *opened = adder_request_add_file (options, "small.txt", work->small_fd, error)
                                ? adder_session_new (work->engine, options, "one", error)
                                : NULL;
  adder_request_free (options);
  return opened != NULL;
}

static gboolean
session_step (gpointer data, GError **error)
{
  struct work *work = data;
  static const char *const names[] = {"x", NULL};
  if (!open_session (work, error) ||
      !cell (work, "x = len(open('small.txt').read()); open('y', 'w').write('y')", error))
    return FALSE;
  g_autofree char *variables = called_session_variables (work->engine, NULL, "one", names, error);
  g_autofree char *history = variables ? called_session_history (work->engine, NULL, "one", error) : NULL;
  return history && called_session_reset (work->engine, NULL, "one", error);
}

static gboolean
checkpoint_step (gpointer data, GError **error)
{
  struct work *work = data;
  if (!open_session (work, error))
    return FALSE;
  g_autofree char *made = called_session_checkpoint (work->engine, NULL, "one", "c", error);
  g_autofree char *branched = made ? called_session_branch (work->engine, NULL, "one", NULL, 1, error) : NULL;
  return branched && cell (work, "x = 1", error) &&
         called_session_rollback (work->engine, NULL, "one", "c", error) &&
         called_session_forget (work->engine, NULL, "one", "c", error);
}

/* All sessions end, and another can be made. */
static void
check_sessions (gpointer data, gboolean done)
{
  struct work *work = data;
  g_autofree char *text = called_session_list (work->engine, NULL, NULL);
  g_autoptr (json_t) answer = json_parse_object (text, strlen (text), "the sessions", NULL);
  const json_t *list = json_object_get (answer, "sessions"), *one;
  gsize index;
  json_array_foreach (list, index, one)
  {
    g_autoptr (GError) error = NULL;
    if (strcmp (string_at (one, "state"), "ended") == 0)
      continue;
    called_session_end (work->engine, NULL, string_at (one, "session_id"), &error);
    g_assert_no_error (error);
  }
  check_engine (work, done);
}

static void
test_session (void)
{
  each (SESSIONS, session_step, check_sessions, CALL_INTERRUPTED);
}

static void
test_checkpoint (void)
{
  each (SESSIONS, checkpoint_step, check_sessions, CALL_INTERRUPTED);
}

/* ---- engines ---- */

static gboolean
engine_step (gpointer data, GError **error)
{
  struct work *work = data;
  g_autoptr (AdderEngine) engine = adder_engine_new (work->directory, error);
  return engine != NULL;
}

static void
test_engine (void)
{
  static const char *const settings[] = {"[pool]\nparked = 1\n",
                                         "[sandbox]\nisolation = process\nmin_isolation = 1\n"};
  g_autofree char *path = g_build_filename (scratch, "adder.conf", NULL);
  struct work work = {.directory = path};
  for (gsize i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_assert_true (g_file_set_contents (path, settings[i], -1, NULL));
    int descriptors = suite_descriptors ();
    each_call_fails (CALL_ERROR, CALLS_HERE, engine_step, NULL, &work);
    g_assert_cmpint (suite_descriptors (), ==, descriptors);
  }
}

UNIT_SUITE (engine_failing)
{
  g_test_init (&argc, &argv, NULL);
  if (!support_begin ())
    return 0;
  g_test_add_func ("/engine/failing/run", test_run);
  g_test_add_func ("/engine/failing/run-process", test_run_process);
  g_test_add_func ("/engine/failing/bind-mount", test_bind);
  g_test_add_func ("/engine/failing/network", test_network);
  g_test_add_func ("/engine/failing/overlay", test_overlay);
  g_test_add_func ("/engine/failing/review", test_review);
  g_test_add_func ("/engine/failing/session", test_session);
  g_test_add_func ("/engine/failing/checkpoint", test_checkpoint);
  g_test_add_func ("/engine/failing/engine", test_engine);
  int code = g_test_run ();
  support_end ();
  return code;
}
