/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs through the public API, on this host's own Python: every outcome, what goes in and comes out,
 * hostile code. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "run_support.h"
#include "suite.h"

/* One engine for all tests, made for the first of them. */
static AdderEngine *shared_engine;

static AdderEngine *
shared (void)
{
  if (!shared_engine)
    shared_engine = new_engine (NULL);
  return shared_engine;
}

/* ---- each outcome ---- */

static const struct row rows[] = {
    {"print", "print(6 * 7)", NULL, 0, "ok", 0, NULL},
    {"nothing", "", NULL, 0, "ok", 0, NULL},
    {"exception", "x = 1\n1 / 0", NULL, 0, "error", 1, "ZeroDivisionError"},
    {"syntax", "def", NULL, 0, "error", 1, "SyntaxError"},
    {"exit", "import sys; sys.exit(3)", NULL, 0, "error", 3, "SystemExit"},
    {"exit-0", "import sys; sys.exit(0)", NULL, 0, "ok", 0, NULL},
    {"_exit-0", "import os; os._exit(0)", NULL, 0, "ok", 0, NULL},
    {"_exit-7", "import os; os._exit(7)", NULL, 0, "error", 7, "SystemExit"},
    {"sleep", "import time; time.sleep(60)", "wall_ms", 300, "timeout", 124, "Timeout"},
    {"catch-all", "while True:\n try:\n  import time; time.sleep(9)\n except BaseException: pass", "wall_ms",
     300, "timeout", 124, "Timeout"},
    {"stopped", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", "wall_ms", 300, "timeout", 124,
     "Timeout"},
    {"busy-loop", "while True: pass", "cpu_ms", 300, "cpu_limit", 137, "CpuLimit"},
    {"busy-children", "import os\nfor _ in range(3): os.fork()\nwhile True: pass", "cpu_ms", 400, "cpu_limit",
     137, "CpuLimit"},
    {"memory", "data = bytearray(500 << 20)\nprint(len(data))", "memory_bytes", 64 * MIB, "memory_limit", 137,
     NULL},
    {"memory-slow", "data = []\nwhile True: data.append(bytearray(1 << 20))", "memory_bytes", 64 * MIB,
     "memory_limit", 137, NULL},
    {"memory-children",
     "import os, time\n"
     "for _ in range(8):\n"
     " if os.fork() == 0:\n"
     "  data = bytearray(b'x') * (24 << 20); time.sleep(20); os._exit(0)\n"
     "time.sleep(30)",
     "memory_bytes", 64 * MIB, "memory_limit", 137, NULL},
    {"output", "while True: print('x' * 1000)", "output_bytes", 1 * MIB, "output_limit", 137, "OutputLimit"},
    {"output-stderr", "import os\nwhile True: os.write(2, b'y' * 4096)", "output_bytes", 1 * MIB,
     "output_limit", 137, "OutputLimit"},
    {"segfault", "import ctypes; ctypes.string_at(0)", NULL, 0, "crashed", 139, "Crashed"},
    {"kill", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", NULL, 0, "crashed", 137, "Crashed"},
    {"abort", "import os; os.abort()", NULL, 0, "crashed", 134, "Crashed"},
    {"kill-all", "import os, signal; os.kill(-1, signal.SIGKILL)", NULL, 0, NULL, 0, NULL},
    {"recursion", "def f(): return f()\nf()", NULL, 0, "error", 1, "RecursionError"},
};

static void
test_row (gconstpointer data)
{
  check_row (shared (), data);
}

static void
test_first (void)
{
  g_autoptr (json_t) result = run (shared (), new_request ("print('hello')\n40 + 2"), "ok", 0);
  g_assert_cmpstr (string_at (result, "stdout"), ==, "hello\n");
  g_assert_cmpstr (string_at (result, "stderr"), ==, "");
  g_assert_cmpint (json_integer_value (json_object_get (result, "stdout_bytes")), ==, 6);
  g_assert_false (json_boolean_value (json_object_get (result, "truncated")));
  g_assert_cmpstr (string_at (json_object_get (result, "value"), "text/plain"), ==, "42");
  g_assert_true (g_uuid_string_is_valid (string_at (result, "run_id")));
  g_assert_cmpfloat (usage_of (result, "wall_ms"), >, 0);
  g_assert_cmpfloat (usage_of (result, "cpu_ms"), >, 0);
  g_assert_cmpint (json_integer_value (json_object_get (json_object_get (result, "isolation"), "level")), >=,
                   2);
}

static void
test_signal_is_told (void)
{
  g_autoptr (json_t) result =
      run (shared (), new_request ("import ctypes; print('before', flush=True); ctypes.string_at(0)"),
           "crashed", 139);
  g_assert_cmpstr (string_at (result, "signal"), ==, "SIGSEGV");
  g_assert_cmpstr (string_at (result, "stdout"), ==, "before\n");
}

static void
test_limits_are_told (void)
{
  AdderRequest *request = new_request ("1");
  set_limit (request, "wall_ms", 54321);
  g_autoptr (json_t) result = run (shared (), request, "ok", 0);
  const json_t *limits = json_object_get (result, "limits");
  g_assert_cmpint (json_integer_value (json_object_get (limits, "wall_ms")), ==, 54321);
  g_assert_cmpint (json_integer_value (json_object_get (limits, "pids")), ==, 64);
}

static void
test_limits_hold (void)
{
  AdderRequest *request = new_request ("import os, resource\n"
                                       "try:\n"
                                       " while True: os.dup(0)\n"
                                       "except OSError as e: print('files', e.errno)\n"
                                       "os.closerange(4, 32)\n"
                                       "try:\n"
                                       " with open('/tmp/big', 'wb') as f:\n"
                                       "  while True: f.write(b'x' * 65536)\n"
                                       "except OSError as e: print('size', e.errno)\n");
  set_limit (request, "open_files", 32);
  set_limit (request, "file_bytes", 1 * MIB);
  g_autoptr (json_t) result = run (shared (), request, "ok", 0);
  g_assert_cmpstr (string_at (result, "stdout"), ==, "files 24\nsize 27\n");

  request = new_request ("import os, time\n"
                         "n = 0\n"
                         "try:\n"
                         " while n < 100:\n"
                         "  if os.fork() == 0: time.sleep(30); os._exit(0)\n"
                         "  n += 1\n"
                         "except BlockingIOError: print('at most', n < 8)\n");
  set_limit (request, "pids", 8);
  g_autoptr (json_t) processes = run (shared (), request, "ok", 0);
  g_assert_cmpstr (string_at (processes, "stdout"), ==, "at most True\n");
}

/* Spec limits that differ from what is parked: made on demand. */
static void
test_spec (void)
{
  AdderRequest *request = new_request ("import os\n"
                                       "try:\n"
                                       " open('/work/big', 'wb').write(b'x' * (4 << 20))\n"
                                       "except OSError as e: print(e.errno)\n"
                                       "os.remove('/work/big')");
  set_limit (request, "workspace_bytes", 2 * MIB);
  g_autoptr (json_t) result = run (shared (), request, "ok", 0);
  g_assert_cmpstr (string_at (result, "stdout"), ==, "28\n");
}

/* ---- what is wrong with the request ---- */

static void
test_bad_requests (void)
{
  g_autoptr (GError) error = NULL;
  AdderRequest *request = adder_request_new ("1", -1);
  adder_request_set_environment (request, "no-such-environment");
  g_autoptr (json_t) environment = run (shared (), request, "failed", 125);
  g_assert_nonnull (strstr (error_at (environment, "message"), "no-such-environment"));
  g_assert_true (json_is_null (json_object_get (environment, "isolation")));

  request = new_request ("1");
  adder_request_set_profile (request, "no-such-profile");
  g_autoptr (json_t) profile = run (shared (), request, "failed", 125);
  g_assert_nonnull (strstr (error_at (profile, "message"), "no-such-profile"));

  request = adder_request_new ("print(\xFF)", -1);
  adder_request_set_environment (request, ENVIRONMENT);
  g_autoptr (json_t) encoding = run (shared (), request, "failed", 125);
  g_assert_cmpstr (error_at (encoding, "message"), ==, "the code is not UTF-8: byte 6 is wrong");

  g_autofree char *longest = g_strnfill ((1 << 20) + 1, '#');
  g_autoptr (json_t) length = run (shared (), new_request (longest), "failed", 125);
  g_assert_nonnull (strstr (error_at (length, "message"), "at most 1 MiB"));

  request = new_request ("1");
  g_assert_false (adder_request_set_limit (request, "wall_ms", (guint64)3600001, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "maximum, 1 h"));
  g_clear_error (&error);
  g_assert_false (adder_request_set_limit (request, "walls", 1, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (adder_request_add_file (request, "../escape", 0, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);
  const int unreadable[] = {O_PATH, O_WRONLY};
  for (gsize i = 0; i < G_N_ELEMENTS (unreadable); i++) {
    autoclose int fd = open ("/dev/null", unreadable[i] | O_CLOEXEC);
    g_assert_false (adder_request_add_file (request, "null", fd, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, "not open for reading"));
    g_clear_error (&error);
  }
  adder_request_set_name (request, "/etc/passwd");
  g_autoptr (json_t) name = run (shared (), request, "failed", 125);
  g_assert_nonnull (strstr (error_at (name, "message"), "/etc/passwd"));
}

static void
test_longest_code (void)
{
  /* Sixfold when escaped: the request is longer than the socket holds. */
  g_autofree char *filling = g_strnfill ((1 << 20) - 18, '\x01');
  g_autofree char *code = g_strconcat ("print(len('''", filling, "'''))", NULL);
  g_autoptr (json_t) result = run (shared (), new_request (code), "ok", 0);
  g_assert_cmpstr (string_at (result, "stdout"), ==, "1048558\n");
}

/* ---- in and out ---- */

static int
memory_file (const char *content)
{
  int fd = memfd_create ("test", MFD_CLOEXEC);
  g_assert_cmpint (fd_write_all (fd, content, strlen (content)), ==, 0);
  lseek (fd, 0, SEEK_SET);
  return fd;
}

static void
test_inputs (void)
{
  const char *const arguments[] = {"--fast", "\xC3\xA4 b", NULL};
  AdderRequest *request = new_request ("import sys, os\n"
                                       "print(sys.argv, os.environ['MODE'])\n"
                                       "print(sys.stdin.read())\n"
                                       "print(open('in/data.csv').read())\n"
                                       "open('in/data.csv', 'a').write('!')\n"
                                       "os.rename('other.txt', 'renamed.txt')\n");
  autoclose int data = memory_file ("a,b"), other = memory_file ("other"), input = memory_file ("typed");
  g_autoptr (GError) error = NULL;
  adder_request_set_name (request, "job.py");
  adder_request_set_arguments (request, arguments);
  adder_request_set_variable (request, "MODE", "test");
  adder_request_set_stdin (request, input);
  adder_request_add_file (request, "in/data.csv", data, &error);
  g_assert_no_error (error);
  adder_request_add_file (request, "other.txt", other, &error);
  g_assert_no_error (error);
  g_autoptr (AdderResult) result = adder_run (shared (), request);
  adder_request_free (request);
  g_autoptr (json_t) root = parse (result);
  g_assert_cmpstr (string_at (root, "outcome"), ==, "ok");
  g_assert_cmpstr (string_at (root, "stdout"), ==, "['job.py', '--fast', '\xC3\xA4 b'] test\ntyped\na,b\n");
  g_assert_cmpuint (adder_result_file_count (result), ==, 2);
  g_assert_cmpstr (adder_result_file_name (result, 0), ==, "in/data.csv");
  g_assert_cmpstr (adder_result_file_name (result, 1), ==, "renamed.txt");
}

/* An input that is only read does not come back, and costs no waiting for the sandbox's end. */
static void
test_input_unchanged (void)
{
  AdderRequest *request = new_request ("print(open('data.csv').read())");
  autoclose int data = memory_file ("a,b");
  adder_request_add_file (request, "data.csv", data, NULL);
  g_autoptr (json_t) result = run (shared (), request, "ok", 0);
  g_assert_cmpuint (json_array_size (json_object_get (result, "files")), ==, 0);
}

static void
test_input_too_large (void)
{
  AdderRequest *request = new_request ("1");
  autoclose int large = memfd_create ("large", MFD_CLOEXEC);
  g_assert_cmpint (ftruncate (large, 4 << 20), ==, 0);
  set_limit (request, "workspace_bytes", 1 * MIB);
  adder_request_add_file (request, "large.bin", large, NULL);
  g_autoptr (json_t) result = run (shared (), request, "failed", 125);
  g_assert_nonnull (strstr (error_at (result, "message"), "large.bin does not fit into the workspace"));

  request = new_request ("1");
  set_limit (request, "stdin_bytes", 1000);
  adder_request_set_stdin (request, large);
  g_autoptr (json_t) input = run (shared (), request, "failed", 125);
  g_assert_nonnull (strstr (error_at (input, "message"), "standard input has more than 1000 bytes"));
}

static void
test_stdin_never_ends (void)
{
  int ends[2];
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  AdderRequest *request = new_request ("1");
  set_limit (request, "wall_ms", 200);
  adder_request_set_stdin (request, ends[0]);
  expect (shared (), request, "timeout", 124);
  close (ends[0]);
  close (ends[1]);
}

/* Who gives up a run has run something all the same. */
static void
test_given_up (void)
{
  AdderRequest *request = new_request ("print('begun', flush=True)\nwhile True: pass");
  g_autoptr (GError) error = NULL;
  AdderEvent event;
  adder_request_set_owner (request, "somebody", "given up");
  AdderRun *run = adder_run_start (shared (), request);
  adder_request_free (request);
  do
    g_assert_true (adder_run_next (run, &event));
  while (event.kind != ADDER_EVENT_STDOUT);
  adder_run_free (run);

  const AdderCaller caller = {.owner = "somebody", .watch_fd = -1, .fd = -1};
  g_autofree char *text =
      adder_call (shared (), &caller, "record.list", "{\"conversation\": \"given up\"}", &error);
  g_assert_no_error (error);
  g_autoptr (json_t) listed = json_loads (text, 0, NULL);
  const json_t *records = json_object_get (listed, "records");
  g_assert_cmpuint (json_array_size (records), ==, 1);
  g_assert_cmpstr (string_at (json_array_get (records, 0), "outcome"), ==, "cancelled");
}

static void
test_files (void)
{
  AdderRequest *request =
      new_request ("import os\n"
                   "open('plot.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n')\n"
                   "os.makedirs('a/b'); open('a/b/c.csv', 'w').write('x')\n"
                   "open('/tmp/output/report.html', 'w').write('<p>')\n"
                   "os.symlink('/etc/passwd', 'passwd'); os.mkfifo('fifo')\n"
                   "open('closed', 'w').write('c'); os.chmod('closed', 0)\n"
                   "os.mkdir('locked'); open('locked/in', 'w').write('i'); os.chmod('locked', 0)\n");
  g_autoptr (AdderResult) result = adder_run (shared (), request);
  adder_request_free (request);
  static const char *const names[] = {"a/b/c.csv", "closed", "locked/in", "plot.png",
                                      "tmp/output/report.html"};
  g_assert_cmpuint (adder_result_file_count (result), ==, G_N_ELEMENTS (names));
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpstr (adder_result_file_name (result, i), ==, names[i]);

  g_autoptr (json_t) root = parse (result);
  const json_t *plot = json_array_get (json_object_get (root, "files"), 3);
  g_assert_cmpstr (string_at (plot, "mime"), ==, "image/png");
  g_assert_cmpint (json_integer_value (json_object_get (plot, "bytes")), ==, 8);
  g_assert_cmpuint (json_array_size (json_object_get (root, "warnings")), ==, 1);

  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (scratch, "saved", NULL);
  g_assert_cmpint (g_mkdir_with_parents (path, 0755), ==, 0);
  autoclose int to = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_true (adder_result_save_files (result, to, FALSE, NULL, &error));
  g_assert_no_error (error);
  g_autofree char *saved = g_build_filename (path, "locked/in", NULL);
  g_autofree char *content = NULL;
  g_assert_true (g_file_get_contents (saved, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "i");
  g_assert_cmpint (adder_result_file_open (result, 99, &error), ==, -1);
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
}

/* What a run wrote until it was ended comes back too. */
static void
test_files_of_a_timeout (void)
{
  AdderRequest *request = new_request (
      "with open('part.txt', 'w') as part: part.write('p')\nprint('written', flush=True)\nimport time; "
      "time.sleep(60)");
  set_limit (request, "wall_ms", 1000);
  g_autoptr (json_t) result = run (shared (), request, "timeout", 124);
  if (*string_at (result, "stdout") == '\0') {
    g_test_skip ("the machine was so busy that the time was over before the code had written its file");
    return;
  }
  g_assert_cmpuint (json_array_size (json_object_get (result, "files")), ==, 1);
}

static void
test_long_output (void)
{
  g_autoptr (json_t) result = run (shared (), new_request ("for i in range(100000): print(i)"), "ok", 0);
  const char *text = string_at (result, "stdout");
  g_assert_true (json_boolean_value (json_object_get (result, "truncated")));
  g_assert_cmpint (json_integer_value (json_object_get (result, "stdout_bytes")), ==, 588890);
  g_assert_true (g_str_has_prefix (text, "0\n1\n2\n"));
  g_assert_true (g_str_has_suffix (text, "\n99999\n"));
  g_assert_nonnull (strstr (text, " bytes are left out here"));
  g_assert_cmpuint (strlen (text), <, 66000);
}

static gsize
resident_kib (void)
{
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  g_auto (GStrv) fields = g_strsplit (text, " ", 3);
  return g_ascii_strtoull (fields[1], NULL, 10) * (gsize)sysconf (_SC_PAGESIZE) / 1024;
}

static void
test_output_flood (void)
{
  AdderRequest *request =
      new_request ("import os\nblock = b'z' * 65536\nfor _ in range(6400): os.write(1, block)");
  set_limit (request, "output_bytes", (guint64)1 << 30);
  gsize before = resident_kib ();
  g_autoptr (json_t) result = run (shared (), request, "ok", 0);
  g_assert_cmpint (json_integer_value (json_object_get (result, "stdout_bytes")), ==,
                   (json_int_t)6400 * 65536);
  g_assert_cmpuint (resident_kib (), <, before + 8192);
}

static void
test_events (void)
{
  /* Between two streams there is no order but that of being read, for which the code waits. */
  AdderRequest *request = new_request ("import fcntl, sys, termios, time\n"
                                       "def wait_for_reader(pipe):\n"
                                       "    while any(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))):\n"
                                       "        time.sleep(0.001)\n"
                                       "print('one', flush=True); wait_for_reader(1)\n"
                                       "print('two', file=sys.stderr, flush=True); wait_for_reader(2)\n"
                                       "print('three', flush=True)");
  g_autoptr (AdderRun) run = adder_run_start (shared (), request);
  adder_request_free (request);
  g_autoptr (GString) seen = g_string_new (NULL);
  AdderEvent event;
  while (adder_run_next (run, &event)) {
    static const char *const kinds[] = {"started", "stdout", "stderr", "display", "result"};
    g_string_append_printf (seen, "%s %.*s|", kinds[event.kind], (int)event.length,
                            event.data ? event.data : "");
    if (event.result)
      adder_result_free (event.result);
  }
  g_assert_cmpstr (seen->str, ==, "started |stdout one\n|stderr two\n|stdout three\n|result |");
  g_assert_false (adder_run_next (run, &event));
}

/* ---- hostile code ---- */

static const struct row hostile_rows[] = {
    {"garbage", "import os, time; os.write(3, b'garbage garbage garbage'); time.sleep(20)", NULL, 0,
     "crashed", 137, "Crashed"},
    {"long-frame",
     "import os, time; os.write(3, (4).to_bytes(4, 'little') + b'\\xff\\xff\\xff\\xff'); time.sleep(20)",
     NULL, 0, "crashed", 137, "Crashed"},
    {"half-frame",
     "import os, time; os.write(3, (4).to_bytes(4, 'little') + b'\\xff\\0\\0\\0ab'); time.sleep(20)",
     "wall_ms", 400, "timeout", 124, "Timeout"},
    {"ill-typed",
     "import os, time; d = b'{\"exit_code\": \"0\"}'\n"
     "os.write(3, (4).to_bytes(4, 'little') + len(d).to_bytes(4, 'little') + d); time.sleep(20)",
     NULL, 0, "crashed", 137, "Crashed"},
    {"a-file",
     "import os, time; d = b'work/a\\0b'\n"
     "os.write(3, (16).to_bytes(4, 'little') + len(d).to_bytes(4, 'little') + d); time.sleep(20)",
     NULL, 0, "crashed", 137, "Crashed"},
    {"forged",
     "import os, time; d = b'{\"exit_code\": 0, \"value\": null, \"error\": null, \"warnings\": []}'\n"
     "os.write(3, ((4).to_bytes(4, 'little') + len(d).to_bytes(4, 'little') + d) * 2); time.sleep(20)",
     NULL, 0, "ok", 0, NULL},
    {"display-flood",
     "import os; d = b'{\"text/plain\": \"x\"}'\n"
     "f = (3).to_bytes(4, 'little') + len(d).to_bytes(4, 'little') + d\n"
     "s = __import__('socket').socket(fileno=3)\n"
     "while True: s.sendall(f)",
     "wall_ms", 120000, "output_limit", 137, "OutputLimit"},
    {"display-bytes",
     "import os; d = b'{\"text/plain\": \"' + b'x' * (12 << 20) + b'\"}'\n"
     "f = (3).to_bytes(4, 'little') + len(d).to_bytes(4, 'little') + d\n"
     "s = __import__('socket').socket(fileno=3)\n"
     "while True: s.sendall(f)",
     "wall_ms", 120000, "output_limit", 137, "OutputLimit"},
    {"closed-descriptors", "import os; os.closerange(0, 64); os._exit(5)", NULL, 0, "error", 5, "SystemExit"},
    {"closed-socket", "import os, time; os.close(3); time.sleep(20)", "wall_ms", 400, "timeout", 124,
     "Timeout"},
    {"left-behind", "import os, time\nif os.fork() == 0:\n os.setsid(); time.sleep(60)\nprint('gone')", NULL,
     0, "ok", 0, NULL},
    {"left-writing",
     "import os\n"
     "if os.fork() == 0:\n"
     " while True: os.write(1, b'noise')\n"
     "print('gone')",
     NULL, 0, "ok", 0, NULL},
    {"fork-bomb", "import os\nwhile True:\n try: os.fork()\n except OSError: pass", "wall_ms", 500, "timeout",
     124, "Timeout"},
};

static void
test_second_run_is_clean (void)
{
  expect (shared (), new_request ("import builtins, os; builtins.x = 1; open('f', 'w').write('f')"), "ok", 0);
  g_autoptr (json_t) clean =
      run (shared (), new_request ("import builtins, os; print(hasattr(builtins, 'x'), os.listdir('.'))"),
           "ok", 0);
  g_assert_cmpstr (string_at (clean, "stdout"), ==, "False []\n");
}

/* ---- being cancelled ---- */

static gpointer
cancel_soon (gpointer run)
{
  g_usleep (200 * 1000);
  adder_run_cancel (run);
  return NULL;
}

static void
test_cancel (void)
{
  AdderRequest *request = new_request ("import time; time.sleep(60)");
  g_autoptr (AdderRun) run = adder_run_start (shared (), request);
  adder_request_free (request);
  GThread *thread = g_thread_new ("cancel", cancel_soon, run);
  g_autoptr (AdderResult) result = pull (run);
  g_thread_join (thread);
  g_assert_cmpint (adder_result_outcome (result), ==, ADDER_OUTCOME_CANCELLED);
  g_assert_cmpint (adder_result_exit_code (result), ==, 130);
}

static gpointer
hang_up_soon (gpointer data)
{
  g_usleep (200 * 1000);
  close (GPOINTER_TO_INT (data));
  return NULL;
}

static void
test_hang_up (void)
{
  int ends[2];
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
  AdderRequest *request = new_request ("import time; time.sleep(60)");
  adder_request_set_watch (request, ends[0]);
  GThread *thread = g_thread_new ("hang-up", hang_up_soon, GINT_TO_POINTER (ends[1]));
  expect (shared (), request, "cancelled", 130);
  g_thread_join (thread);
  close (ends[0]);
}

/* A run that is never pulled, or not to its end, takes nothing with it. */
static void
test_abandoned (void)
{
  AdderEvent event;
  AdderRequest *request = new_request ("import time; time.sleep(60)");
  AdderRun *never = adder_run_start (shared (), request);
  AdderRun *started = adder_run_start (shared (), request);
  adder_request_free (request);
  g_assert_true (adder_run_next (started, &event));
  g_assert_cmpint (event.kind, ==, ADDER_EVENT_STARTED);
  adder_run_free (never);
  adder_run_free (started);
}

/* ---- many at once ---- */

static gpointer
run_many (gpointer data)
{
  const char *owner = data;
  for (int i = 0; i < 15; i++) {
    g_autofree char *code = g_strdup_printf ("print(%d)", i);
    g_autofree char *expected = g_strdup_printf ("%d\n", i);
    AdderRequest *request = new_request (code);
    adder_request_set_owner (request, owner, NULL);
    g_autoptr (json_t) result = run (shared (), request, "ok", 0);
    g_assert_cmpstr (string_at (result, "stdout"), ==, expected);
  }
  return NULL;
}

static void
test_parallel (void)
{
  GThread *threads[6];
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("runs", run_many, (gpointer)(guintptr)(i % 2 ? "anna" : "ben"));
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

UNIT_SUITE (engine_run)
{
  g_test_init (&argc, &argv, NULL);
  if (!support_begin ())
    return 0;
  g_test_add_func ("/run/first", test_first);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strconcat ("/run/outcome/", rows[i].name, NULL);
    g_test_add_data_func (path, &rows[i], test_row);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (hostile_rows); i++) {
    g_autofree char *path = g_strconcat ("/run/hostile/", hostile_rows[i].name, NULL);
    g_test_add_data_func (path, &hostile_rows[i], test_row);
  }
  static const struct {
    const char *path;
    void (*test) (void);
  } tests[] = {
      {"/run/signal", test_signal_is_told},
      {"/run/limits/told", test_limits_are_told},
      {"/run/limits/hold", test_limits_hold},
      {"/run/limits/spec", test_spec},
      {"/run/bad-requests", test_bad_requests},
      {"/run/longest-code", test_longest_code},
      {"/run/inputs", test_inputs},
      {"/run/input-unchanged", test_input_unchanged},
      {"/run/input-too-large", test_input_too_large},
      {"/run/stdin-never-ends", test_stdin_never_ends},
      {"/run/files", test_files},
      {"/run/given-up", test_given_up},
      {"/run/files-of-a-timeout", test_files_of_a_timeout},
      {"/run/long-output", test_long_output},
      {"/run/output-flood", test_output_flood},
      {"/run/events", test_events},
      {"/run/clean", test_second_run_is_clean},
      {"/run/cancel", test_cancel},
      {"/run/hang-up", test_hang_up},
      {"/run/abandoned", test_abandoned},
      {"/run/parallel", test_parallel},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_func (tests[i].path, tests[i].test);

  int r = g_test_run ();
  adder_engine_free (shared_engine);
  support_end ();
  return r;
}
