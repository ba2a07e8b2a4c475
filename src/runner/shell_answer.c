/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/shell_answer.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/frame.h"
#include "runner/script_check.h"
#include "runner/wire.h"

#define EXIT_REFUSED 126
#define EXIT_FAULT   125

/* ---- JSON ---- */

/* The whole answer is at most some 100 violations of a few hundred bytes, each sixfold when escaped. */
struct text {
  char bytes[256 << 10];
  size_t length;
};

static void
shell_answer_add (struct text *text, const char *bytes)
{
  size_t length = strlen (bytes);
  if (length >= sizeof text->bytes - text->length)
    length = sizeof text->bytes - text->length - 1;
  memcpy (text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = '\0';
}

/* How many bytes the character at AT takes; 0: it is none. Stricter than UTF-8 where JSON is. */
static size_t
character (const unsigned char *at)
{
  size_t more = *at >= 0xf0 && *at <= 0xf4  ? 3
                : *at >= 0xe0 && *at < 0xf0 ? 2
                : *at >= 0xc2 && *at < 0xe0 ? 1
                                            : 0;
  if (more == 0)
    return *at < 0x80;
  for (size_t i = 1; i <= more; i++)
    if ((at[i] & 0xc0) != 0x80)
      return 0;
  if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
      (at[0] == 0xf4 && at[1] > 0x8f))
    return 0;
  return more + 1;
}

static void
add_string (struct text *text, const char *string)
{
  shell_answer_add (text, "\"");
  for (const unsigned char *at = (const unsigned char *)string; *at;) {
    char one[8];
    size_t length = character (at);
    if (length == 0)
      snprintf (one, sizeof one, "?");
    else if (*at < 0x20 || *at == '"' || *at == '\\')
      snprintf (one, sizeof one, "\\u%04x", *at);
    else
      snprintf (one, sizeof one, "%.*s", (int)length, (const char *)at);
    shell_answer_add (text, one);
    at += length ? length : 1;
  }
  shell_answer_add (text, "\"");
}

static void
add_member (struct text *text, const char *name, const char *string)
{
  add_string (text, name);
  shell_answer_add (text, ": ");
  add_string (text, string);
}

static void
shell_answer_add_number (struct text *text, const char *name, uint32_t number)
{
  char digits[16];
  add_string (text, name);
  snprintf (digits, sizeof digits, ": %u", number);
  shell_answer_add (text, digits);
}

/* ---- answers ---- */

static void
begin_answer (struct text *text, int exit_code)
{
  text->length = 0;
  shell_answer_add (text, "{");
  shell_answer_add_number (text, "exit_code", (uint32_t)exit_code);
  shell_answer_add (text, ", \"value\": null, \"warnings\": [], \"limits_met\": []");
}

static void
add_error (struct text *text, const char *type, const char *message)
{
  shell_answer_add (text, ", \"error\": {");
  add_member (text, "type", type);
  shell_answer_add (text, ", ");
  add_member (text, "message", message);
  shell_answer_add (text, ", \"traceback\": \"\", \"line\": null, \"hint\": null}");
}

static void
send_answer (struct text *text)
{
  shell_answer_add (text, "}");
  frame_send (WIRE_SOCKET_FD, WIRE_RESULT, text->bytes, text->length, NULL, 0);
}

static void
answer_refused (struct text *text, const struct check *check)
{
  char message[64];
  begin_answer (text, EXIT_REFUSED);
  snprintf (message, sizeof message, "the command breaks %zu rule%s", check->count,
            check->count == 1 ? "" : "s");
  add_error (text, "Refused", message);
  shell_answer_add (text, ", \"denials\": [], \"violations\": [");
  for (size_t i = 0; i < check->count; i++) {
    const struct check_violation *violation = &check->violations[i];
    shell_answer_add (text, i > 0 ? ", {" : "{");
    add_member (text, "rule", violation->rule);
    shell_answer_add (text, ", ");
    shell_answer_add_number (text, "line", violation->place.line);
    shell_answer_add (text, ", ");
    shell_answer_add_number (text, "column", violation->place.column - 1);
    shell_answer_add (text, ", ");
    add_member (text, "text", violation->text);
    shell_answer_add (text, ", ");
    add_member (text, "hint", violation->hint);
    shell_answer_add (text, "}");
  }
  shell_answer_add (text, "]");
  send_answer (text);
}

/* HOST: a command's target on a network that does not exist; "" if none. */
static void
answer_ended (struct text *text, int exit_code, const char *host)
{
  char message[64];
  begin_answer (text, exit_code);
  snprintf (message, sizeof message, "the command ended with exit status %d", exit_code);
  if (exit_code == 0)
    shell_answer_add (text, ", \"error\": null");
  else
    add_error (text, "ExitStatus", message);
  shell_answer_add (text, ", \"denials\": [");
  if (host[0] != '\0') {
    shell_answer_add (text, "{");
    add_member (text, "kind", "network");
    shell_answer_add (text, ", ");
    add_member (text, "detail", host);
    shell_answer_add (text, "}");
  }
  shell_answer_add (text, "]");
  send_answer (text);
}

/* ---- the command ---- */

struct command {
  uint32_t flags;
  char *script;
  char **arguments; /* of the shell, NULL-terminated */
};

/* The next string of those between *AT and END, or NULL. */
static char *
take_string (char **at, const char *end)
{
  char *string = *at, *zero = string < end ? memchr (string, '\0', (size_t)(end - string)) : NULL;
  if (!zero)
    return NULL;
  *at = zero + 1;
  return string;
}

static bool
read_command (char *data, size_t length, const char *shell, struct command *ret_command)
{
  struct wire_command header;
  if (length < sizeof header)
    return false;
  memcpy (&header, data, sizeof header);
  char *at = data + sizeof header;
  const char *end = data + length;
  char *script = take_string (&at, end);
  if (!script || header.arguments > length || header.variables > length)
    return false;
  char **arguments = calloc ((size_t)header.arguments + 6, sizeof *arguments);
  if (!arguments)
    return false;
  const char *const first[] = {shell, "-c", "--", script, "sh"};
  enum { FIRST = sizeof first / sizeof first[0] };
  for (size_t i = 0; i < FIRST; i++)
    arguments[i] = (char *)(uintptr_t)first[i];
  bool whole = true;
  for (uint32_t i = 0; i < header.arguments && whole; i++)
    whole = (arguments[FIRST + i] = take_string (&at, end)) != NULL;
  for (uint32_t i = 0; i < header.variables && whole; i++) {
    char *variable = take_string (&at, end);
    whole = variable && strchr (variable, '=') && putenv (variable) == 0;
  }
  *ret_command = (struct command){header.flags, script, arguments};
  return whole;
}

/* Starts the shell with all signals as a terminal would give them. Returns its end as the shell above it
 * would say. */
static int
shell_answer_run (const struct command *command, int *ret_exit)
{
  posix_spawnattr_t attributes;
  sigset_t all, none;
  pid_t pid;
  int status;
  sigfillset (&all);
  sigemptyset (&none);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setsigdefault (&attributes, &all);
  posix_spawnattr_setsigmask (&attributes, &none);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  int err = posix_spawn (&pid, command->arguments[0], NULL, &attributes, command->arguments, environ);
  posix_spawnattr_destroy (&attributes);
  if (err)
    return -err;
  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return -errno;
  *ret_exit = WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
  return 0;
}

static void
shell_answer_answer (const struct command *command)
{
  static struct check check;
  static struct text text;
  int exit_code = 0;
  bool fine = check_script (&check, command->script, strlen (command->script));
  if (!fine) {
    answer_refused (&text, &check);
    return;
  }
  int r = command->flags & WIRE_COMMAND_CHECK ? 0 : shell_answer_run (command, &exit_code);
  if (r < 0) {
    char message[200];
    snprintf (message, sizeof message, "cannot start %s: %s", command->arguments[0], strerror (-r));
    begin_answer (&text, EXIT_REFUSED);
    add_error (&text, "OSError", message);
    shell_answer_add (&text, ", \"denials\": []");
    send_answer (&text);
    return;
  }
  answer_ended (&text, exit_code,
                command->flags & (WIRE_COMMAND_ONLINE | WIRE_COMMAND_CHECK) ? "" : check.host);
}

void
shell_answer (const char *shell)
{
  struct frame_header header;
  struct command command;
  char *data = NULL;
  int fd = -1;
  size_t count = 0;
  int r = frame_receive (WIRE_SOCKET_FD, WIRE_REQUEST_MAX, -1, &header, &data, &fd, 1, &count);
  if (r == -EPIPE || r == -ECONNRESET)
    return;
  if (r < 0 || header.kind != WIRE_COMMAND || !read_command (data, header.length, shell, &command))
    _exit (EXIT_FAULT);
  if (fd >= 0 && dup2 (fd, STDIN_FILENO) < 0)
    _exit (EXIT_FAULT);
  fd_close (&fd);
  shell_answer_answer (&command);
  /* The daemon ends us here; a hang-up does too. */
  (void)frame_receive (WIRE_SOCKET_FD, 0, -1, &header, &data, NULL, 0, &count);
}
