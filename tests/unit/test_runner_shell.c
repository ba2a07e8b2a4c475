/* SPDX-License-Identifier: Apache-2.0 */
/* What the sandbox of a shell answers, and which requests end it. Each is a process of its own, outside of a
 * sandbox. */
#include <glib.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/frame.h"
#include "runner/shell_answer.h"
#include "runner/wire.h"
#include "suite.h"

/* A process that answers one request by SHELL, and our end of its socket. */
static pid_t
start (const char *shell, int *ret_socket)
{
  int pair[2];
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  pid_t pid = fork ();
  if (pid == 0) {
    /* Ours first: it may have just that number. */
    close (pair[0]);
    if (dup2 (pair[1], WIRE_SOCKET_FD) < 0)
      _exit (1);
    if (pair[1] != WIRE_SOCKET_FD)
      close (pair[1]);
    shell_answer (shell);
    _exit (0);
  }
  close (pair[1]);
  *ret_socket = pair[0];
  return pid;
}

static int
wait_for (pid_t pid)
{
  int status;
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

/* A request's bytes: STRINGS with a zero byte at the end of each. */
static GByteArray *
request_new (uint32_t flags, uint32_t arguments, uint32_t variables, const char *const *strings)
{
  struct wire_command header = {.flags = flags, .arguments = arguments, .variables = variables};
  GByteArray *bytes = g_byte_array_new ();
  g_byte_array_append (bytes, (const guint8 *)&header, sizeof header);
  for (; strings && *strings; strings++)
    g_byte_array_append (bytes, (const guint8 *)*strings, (guint)strlen (*strings) + 1);
  return bytes;
}

/* The answer of SHELL to the command line in STRINGS, with two arguments and one variable behind it. */
static json_t *
ask (const char *shell, uint32_t flags, const char *script)
{
  const char *const strings[] = {script, "one", "two words", "COLOUR=blue", NULL};
  struct frame_header header;
  char *data = NULL;
  int socket;
  pid_t pid = start (shell, &socket);
  g_autoptr (GByteArray) request = request_new (flags, 2, 1, strings);
  g_assert_cmpint (frame_send (socket, WIRE_COMMAND, request->data, request->len, NULL, 0), ==, 0);
  g_assert_cmpint (frame_receive (socket, WIRE_RESULT_MAX, -1, &header, &data, NULL, 0, NULL), ==, 0);
  g_assert_cmpuint (header.kind, ==, WIRE_RESULT);
  json_error_t problem;
  json_t *answer = json_loadb (data, header.length, 0, &problem);
  if (!answer)
    g_error ("%s: %s", problem.text, data);
  free (data);
  /* It stays until we hang up. */
  close (socket);
  g_assert_cmpint (wait_for (pid), ==, 0);
  return answer;
}

static void
test_ends (void)
{
  static const struct {
    const char *shell, *script;
    uint32_t flags;
    int exit_code;
    const char *type, *message;
  } cases[] = {
      {"/bin/sh", "test \"$1,$2,$COLOUR\" = 'one,two words,blue'", 0, 0, NULL, NULL},
      {"/bin/sh", "exit 7", 0, 7, "ExitStatus", "the command ended with exit status 7"},
      {"/bin/sh", "exit 7", WIRE_COMMAND_CHECK, 0, NULL, NULL},
      {"/bin/true", "exit 7", 0, 0, NULL, NULL},
      {"/no/shell", "exit 0", 0, 126, "OSError", "cannot start /no/shell: No such file or directory"},
      {"/no/shell", "rm x", 0, 126, "Refused", "the command breaks 1 rule"},
      {"/no/shell", "rm x; dd", 0, 126, "Refused", "the command breaks 2 rules"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    json_t *answer = ask (cases[i].shell, cases[i].flags, cases[i].script);
    json_t *error = json_object_get (answer, "error");
    g_assert_cmpint (json_integer_value (json_object_get (answer, "exit_code")), ==, cases[i].exit_code);
    g_assert_cmpstr (json_string_value (json_object_get (error, "type")), ==, cases[i].type);
    g_assert_cmpstr (json_string_value (json_object_get (error, "message")), ==, cases[i].message);
    g_assert_cmpuint (json_array_size (json_object_get (answer, "denials")), ==, 0);
    json_decref (answer);
  }
}

/* A host that was wanted and could not be reached. */
static void
test_network (void)
{
  static const uint32_t flags[] = {0, WIRE_COMMAND_ONLINE, WIRE_COMMAND_CHECK};
  for (gsize i = 0; i < G_N_ELEMENTS (flags); i++) {
    json_t *answer = ask ("/bin/true", flags[i], "curl https://example.com");
    json_t *denial = json_array_get (json_object_get (answer, "denials"), 0);
    const char *detail = json_string_value (json_object_get (denial, "detail"));
    g_assert_cmpstr (detail, ==, flags[i] ? NULL : "curl https://example.com");
    json_decref (answer);
  }
}

/* Whatever bytes a command has, its answer is JSON: what is no character is a question mark. */
static void
test_characters (void)
{
  static const struct {
    const char *name, *told;
  } cases[] = {
      {"'a\"b\\c'", "'a\"b\\c'"},
      {"\x01\x1f", "\x01\x1f"},
      {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
       "\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
      {"a\x80z\xff", "a?z?"},       /* not the first byte of any */
      {"\xc0\xaf\xc1\xbf", "????"}, /* too long for what they are */
      {"\xe0\x9f\xbf\xf0\x8f\xbf\xbf", "???????"},
      {"\xed\xa0\x80", "???"},                    /* half of a pair */
      {"\xf4\x90\x80\x80\xf5\x80", "??????"},     /* beyond the last */
      {"\xc3z\xe2\x82z\xf0\x9f\x98", "?z??z???"}, /* cut off */
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    json_t *answer = ask ("/no/shell", 0, cases[i].name);
    json_t *violation = json_array_get (json_object_get (answer, "violations"), 0);
    g_assert_cmpstr (json_string_value (json_object_get (violation, "text")), ==, cases[i].told);
    json_decref (answer);
  }
}

/* As many violations as there may be, each as long as it may be: the answer is whole. */
static void
test_large (void)
{
  g_autoptr (GString) script = g_string_new (NULL);
  for (int i = 0; i < 1000; i++)
    g_string_append_printf (script, "%0300d\x01\n", i);
  json_t *answer = ask ("/no/shell", 0, script->str);
  g_assert_cmpuint (json_array_size (json_object_get (answer, "violations")), ==, 100);
  json_decref (answer);
}

/* What the daemon never sends ends the sandbox and runs nothing. */
static void
test_nonsense (void)
{
  static const char *const none[] = {NULL}, *const script[] = {"exit 0", NULL},
                           *const odd[] = {"exit 0", "no-variable", NULL};
  static const struct {
    uint32_t kind, arguments, variables;
    const char *const *strings;
    gssize cut; /* bytes that are left out at the end */
  } cases[] = {
      {WIRE_REQUEST, 0, 0, script, 0},       {WIRE_COMMAND, 0, 0, none, 1},
      {WIRE_COMMAND, 0, 0, none, 0},         {WIRE_COMMAND, 0, 0, script, 1},
      {WIRE_COMMAND, 1, 0, script, 0},       {WIRE_COMMAND, 0, 1, script, 0},
      {WIRE_COMMAND, 0, 1, odd, 0},          {WIRE_COMMAND, UINT32_MAX, 0, odd, 0},
      {WIRE_COMMAND, 0, UINT32_MAX, odd, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    int socket;
    pid_t pid = start ("/bin/sh", &socket);
    g_autoptr (GByteArray) request =
        request_new (0, cases[i].arguments, cases[i].variables, cases[i].strings);
    g_assert_cmpint (
        frame_send (socket, cases[i].kind, request->data, request->len - (gsize)cases[i].cut, NULL, 0), ==,
        0);
    g_assert_cmpint (wait_for (pid), ==, 125);
    close (socket);
  }
}

/* A daemon that hangs up without a request is no fault. */
static void
test_hang_up (void)
{
  int socket;
  pid_t pid = start ("/bin/sh", &socket);
  close (socket);
  g_assert_cmpint (wait_for (pid), ==, 0);
}

UNIT_SUITE (runner_shell)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shell/ends", test_ends);
  g_test_add_func ("/shell/network", test_network);
  g_test_add_func ("/shell/characters", test_characters);
  g_test_add_func ("/shell/large", test_large);
  g_test_add_func ("/shell/nonsense", test_nonsense);
  g_test_add_func ("/shell/hang-up", test_hang_up);
  return g_test_run ();
}
