/* SPDX-License-Identifier: Apache-2.0 */
/* A program is in a process group of its own, which is killed as a whole when it has ended, when time is over
 * and when the call is cancelled. Its pipes are read while it runs, each up to a bound. */
#include "apps/agent/external.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder.h"
#include "apps/agent/steps.h"
#include "base/fd.h"
#include "base/pidfd.h"
#include "common/error.h"
#include "common/field.h"
#include "common/json.h"
#include "common/text.h"

#define COMMAND_MAX     64         /* arguments */
#define DESCRIPTION_MAX (16 << 10) /* characters */
#define SHOWN_BYTES     400
#define PART_BYTES      (64 << 10)

void
external_free (struct external *external)
{
  if (!external)
    return;
  g_free (external->name);
  g_free (external->description);
  json_decref (external->parameters);
  g_strfreev (external->command);
  g_free (external);
}

/* ---- the description ---- */

static const struct field description_fields[] = {
    {.name = "name",
     .types = FIELD_TEXT,
     .pattern = "^[A-Za-z0-9_-]{1,64}$",
     .pattern_words = "letters, digits, _ and -, at most 64"},
    {.name = "description", .types = FIELD_TEXT, .maximum = DESCRIPTION_MAX},
    {.name = "parameters", .types = FIELD_OBJECT},
    {.name = "command", .types = FIELD_LIST, .items = FIELD_TEXT, .minimum = 1, .maximum = COMMAND_MAX},
    {.name = "timeout",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = G_STRINGIFY (EXTERNAL_TIMEOUT),
     .minimum = 1,
     .maximum = EXTERNAL_TIMEOUT_MAX,
     .unit = "s"},
    {0},
};

/* DESCRIPTION with what it leaves out. The caller's. */
static json_t *
check_description (const json_t *description, GError **error)
{
  const char *problem = NULL;
  g_autoptr (json_t) checked = field_check (description_fields, NULL, description, error);
  if (!checked)
    return NULL;
  if (strcmp (json_member_text (checked, "name"), STEPS_TOOL) == 0)
    problem = "name must not be " STEPS_TOOL ", which is a tool of ours";
  else if (strcmp (json_member_text (json_object_get (checked, "parameters"), "type"), "object") != 0)
    problem = "parameters must be a JSON Schema of the type object";
  else if (json_string_length (json_array_get (json_object_get (checked, "command"), 0)) == 0)
    problem = "command must begin with a program";
  if (!problem)
    return g_steal_pointer (&checked);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, problem);
  return NULL;
}

static struct external *
from_description (const json_t *description)
{
  struct external *external = g_new0 (struct external, 1);
  const json_t *command = json_object_get (description, "command");
  external->name = g_strdup (json_member_text (description, "name"));
  external->description = g_strdup (json_member_text (description, "description"));
  external->parameters = json_incref (json_object_get (description, "parameters"));
  external->command = g_new0 (char *, json_array_size (command) + 1);
  for (gsize i = 0; i < json_array_size (command); i++)
    external->command[i] = g_strdup (json_string_value (json_array_get (command, i)));
  external->timeout_ms = (guint64)json_integer_value (json_object_get (description, "timeout")) * 1000;
  return external;
}

/* Up to MOST bytes of FD; more is an error. */
static GString *
external_read_file (int fd, gsize most, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char part[PART_BYTES];
  ssize_t got;
  while ((got = read (fd, part, sizeof part)) != 0) {
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      error_from_errno (error, errno, "it cannot be read");
    else if (text->len + (gsize)got > most)
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "it has more than %" G_GSIZE_FORMAT " bytes",
                   most);
    else {
      g_string_append_len (text, part, got);
      continue;
    }
    return NULL;
  }
  return g_steal_pointer (&text);
}

static json_t *
external_read_description (const char *file, GError **error)
{
  autoclose int fd = open (file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    error_from_errno (error, errno, "it cannot be opened");
    return NULL;
  }
  g_autoptr (GString) text = external_read_file (fd, EXTERNAL_FILE_BYTES, error);
  return text ? json_parse_object (text->str, text->len, "its text", error) : NULL;
}

struct external *
external_load (const char *file, GError **error)
{
  g_autoptr (json_t) description = external_read_description (file, error);
  g_autoptr (json_t) checked = description ? check_description (description, error) : NULL;
  if (checked)
    return from_description (checked);
  g_autofree char *shown = text_one_line (file, SHOWN_BYTES);
  g_prefix_error (error, "the tool of %s: ", shown);
  return NULL;
}

/* ---- the program ---- */

struct program {
  pid_t pid; /* also of its group; 0: there is none */
  int process_fd, in_fd, out_fd, error_fd;
  char *in; /* what is still to be written is from IN_AT on */
  gsize in_at, in_length;
  GString *out, *errors;
};

static void
program_clear (struct program *program)
{
  if (program->pid > 0) {
    (void)kill (-program->pid, SIGKILL);
    while (waitpid (program->pid, NULL, 0) < 0 && errno == EINTR)
      ;
  }
  fd_close (&program->process_fd);
  fd_close (&program->in_fd);
  fd_close (&program->out_fd);
  fd_close (&program->error_fd);
  g_free (program->in);
  g_string_free (program->out, TRUE);
  g_string_free (program->errors, TRUE);
}

/* Signals are blocked in this process for the thread that waits for them. */
static int
spawn (const struct external *external, int in, int out, int errors, pid_t *ret_pid)
{
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  sigset_t none, all;
  sigemptyset (&none);
  sigfillset (&all);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setpgroup (&attributes, 0);
  posix_spawnattr_setsigmask (&attributes, &none);
  posix_spawnattr_setsigdefault (&attributes, &all);
  posix_spawnattr_setflags (&attributes,
                            POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_adddup2 (&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2 (&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2 (&actions, errors, STDERR_FILENO);
  int err = posix_spawnp (ret_pid, external->command[0], &actions, &attributes, external->command, environ);
  posix_spawn_file_actions_destroy (&actions);
  posix_spawnattr_destroy (&attributes);
  return err;
}

static gboolean
external_make_pipe (int *ret_read, int *ret_write, GError **error)
{
  int ends[2];
  if (pipe2 (ends, O_CLOEXEC) < 0)
    return error_from_errno (error, errno, "cannot make a pipe");
  *ret_read = ends[0];
  *ret_write = ends[1];
  return TRUE;
}

static gboolean
external_start (const struct external *external, struct program *program, GError **error)
{
  autoclose int in = -1, out = -1, errors = -1;
  if (!external_make_pipe (&in, &program->in_fd, error) ||
      !external_make_pipe (&program->out_fd, &out, error) ||
      !external_make_pipe (&program->error_fd, &errors, error))
    return FALSE;
  (void)fcntl (program->in_fd, F_SETFL, O_NONBLOCK);
  (void)fcntl (program->out_fd, F_SETFL, O_NONBLOCK);
  (void)fcntl (program->error_fd, F_SETFL, O_NONBLOCK);
  int err = spawn (external, in, out, errors, &program->pid);
  if (err != 0) {
    program->pid = 0;
    return error_from_errno (error, err, "cannot start %s", external->command[0]);
  }
  program->process_fd = sys_pidfd_open (program->pid, 0);
  return program->process_fd >= 0 || error_from_errno (error, errno, "cannot watch %s", external->command[0]);
}

/* ---- its pipes ---- */

/* A program need not read what it is given. */
static void
feed (struct program *program)
{
  ssize_t put = write (program->in_fd, program->in + program->in_at, program->in_length - program->in_at);
  if (put > 0)
    program->in_at += (gsize)put;
  if ((put < 0 && errno != EAGAIN && errno != EINTR) || program->in_at == program->in_length)
    fd_close (&program->in_fd);
}

/* Reads what there is; FALSE at its end. What is beyond MOST bytes, and one more, is forgotten. */
static gboolean
external_drain (int *fd, GString *text, gsize most)
{
  g_autofree char *part = g_malloc (PART_BYTES);
  ssize_t got = *fd >= 0 ? read (*fd, part, PART_BYTES) : 0;
  if (got > 0)
    g_string_append_len (text, part, (gssize)MIN ((gsize)got, most + 1 - MIN (text->len, most + 1)));
  else if (got == 0)
    fd_close (fd);
  return got > 0 || (got < 0 && errno == EINTR);
}

static gboolean
check_size (const struct program *program, GError **error)
{
  if (program->out->len <= EXTERNAL_REPLY_BYTES)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "it wrote more than %d bytes", EXTERNAL_REPLY_BYTES);
  return FALSE;
}

static gboolean
wait_ms (gint64 deadline_us, int *ret_ms)
{
  gint64 left_us = deadline_us - g_get_monotonic_time ();
  *ret_ms = (int)CLAMP (left_us / 1000 + 1, 0, G_MAXINT);
  return left_us > 0;
}

/* One wait, and what it brought. *RET_ENDED: the program is at its end; what it left in its pipes is read
 * then, though others that it started may hold them. */
static gboolean
exchange_once (struct program *program, int cancel_fd, int left_ms, gboolean *ret_ended, GError **error)
{
  enum { IN, OUT, ERRORS, PROCESS, CANCEL };
  struct pollfd ready[] = {
      [IN] = {.fd = program->in_fd, .events = POLLOUT},
      [OUT] = {.fd = program->out_fd, .events = POLLIN},
      [ERRORS] = {.fd = program->error_fd, .events = POLLIN},
      [PROCESS] = {.fd = program->process_fd, .events = POLLIN},
      [CANCEL] = {.fd = cancel_fd, .events = POLLIN},
  };
  if (poll (ready, G_N_ELEMENTS (ready), left_ms) <= 0)
    return TRUE;
  if (ready[CANCEL].revents) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the call was cancelled");
    return FALSE;
  }
  if (ready[IN].revents)
    feed (program);
  if (ready[ERRORS].revents)
    (void)external_drain (&program->error_fd, program->errors, EXTERNAL_ERROR_BYTES);
  if (ready[OUT].revents)
    (void)external_drain (&program->out_fd, program->out, EXTERNAL_REPLY_BYTES);
  *ret_ended = ready[PROCESS].revents != 0;
  return check_size (program, error);
}

static gboolean
external_exchange (const struct external *external, struct program *program, int cancel_fd, GError **error)
{
  gint64 deadline_us = g_get_monotonic_time () + (gint64)external->timeout_ms * 1000;
  gboolean ended = FALSE;
  int left_ms;
  while (!ended) {
    if (!wait_ms (deadline_us, &left_ms)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT, "it took longer than %" G_GUINT64_FORMAT " s",
                   external->timeout_ms / 1000);
      return FALSE;
    }
    if (!exchange_once (program, cancel_fd, left_ms, &ended, error))
      return FALSE;
  }
  (void)kill (-program->pid, SIGKILL);
  while (external_drain (&program->error_fd, program->errors, EXTERNAL_ERROR_BYTES))
    ;
  while (program->out->len <= EXTERNAL_REPLY_BYTES &&
         external_drain (&program->out_fd, program->out, EXTERNAL_REPLY_BYTES))
    ;
  return check_size (program, error);
}

/* ---- how it ended ---- */

static gboolean
external_take_end (struct program *program, GError **error)
{
  int status = 0;
  pid_t pid = program->pid;
  while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
    ;
  program->pid = 0;
  if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return TRUE;
  g_autofree char *said = text_one_line (g_strstrip (program->errors->str), SHOWN_BYTES);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "it ended with %s %d%s%s",
               WIFEXITED (status) ? "exit code" : "signal",
               WIFEXITED (status) ? WEXITSTATUS (status) : WTERMSIG (status), said[0] ? ": " : "", said);
  return FALSE;
}

static json_t *
external_reply_of (const GString *out)
{
  json_t *value = json_loadb (out->str, out->len, JSON_REJECT_DUPLICATES, NULL);
  if (json_is_object (value))
    return value;
  json_decref (value);
  g_autofree char *text = g_utf8_make_valid (out->str, (gssize)out->len);
  return json_pack ("{s:s}", "text", g_strchomp (text));
}

gboolean
external_call (const struct external *external, const json_t *arguments, int cancel_fd, json_t **ret_reply,
               GError **error)
{
  struct program program = {.process_fd = -1, .in_fd = -1, .out_fd = -1, .error_fd = -1};
  program.in = json_to_text (arguments);
  program.in_length = strlen (program.in);
  program.out = g_string_new (NULL);
  program.errors = g_string_new (NULL);
  gboolean ok = external_start (external, &program, error) &&
                external_exchange (external, &program, cancel_fd, error) &&
                external_take_end (&program, error);
  if (ok)
    *ret_reply = external_reply_of (program.out);
  program_clear (&program);
  return ok;
}
