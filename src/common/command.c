/* SPDX-License-Identifier: Apache-2.0 */
/* Running programs of the host, such as python and pip: never through a shell, always with a deadline, and
 * without the caller's settings that would redirect them. Nothing here runs code that an agent wrote. */
#include "common/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/pidfd.h"
#include "common/error.h"

/* The variables passed on. All others are dropped: PYTHONPATH, PYTHONHOME, PIP_TARGET, PIP_USER and similar
 * would make a different environment than requested. */
static const char *const handed_on[] = {
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CONFIG_FILE",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_PROXY",
    "PIP_TRUSTED_HOST",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_TIMEOUT",
    "PIP_RETRIES",
    "PIP_CACHE_DIR",
    "PIP_KEYRING_PROVIDER",
};

/* A line longer than this is delivered in pieces: the longest we need is the list of a thousand packages. */
#define LINE_MAX_BYTES (1 << 20)

/* The pause between two calls of a command's check, and its minimum in multiples of a call's duration. */
#define CHECK_US    (G_USEC_PER_SEC / 5)
#define CHECK_SHARE 10

struct stream {
  int fd;
  gboolean is_stderr;
  GString *line;
};

/* Until when a command may run, as far as known. */
struct command_term {
  const struct command *command;
  gint64 deadline_us, check_us; /* check_us: time of the next check; G_MAXINT64: never */
  GError *problem;              /* why it must end */
};

static GStrv
short_environment (const char *const *settings)
{
  GStrv environment = g_new0 (char *, 1);
  for (gsize i = 0; i < G_N_ELEMENTS (handed_on); i++) {
    const char *value = g_getenv (handed_on[i]);
    if (value)
      environment = g_environ_setenv (environment, handed_on[i], value, TRUE);
  }
  for (gsize i = 0; settings && settings[i]; i++) {
    const char *equals = strchr (settings[i], '=');
    g_autofree char *name = g_strndup (settings[i], (gsize)(equals - settings[i]));
    environment = g_environ_setenv (environment, name, equals + 1, TRUE);
  }
  return environment;
}

static void
command_set_limit (__rlimit_resource_t resource, guint64 bytes)
{
  const struct rlimit limit = {bytes, bytes};
  if (bytes > 0)
    (void)setrlimit (resource, &limit);
}

/* Runs in the child between fork and exec: only what is async-signal-safe. */
static void
prepare_child (gpointer data)
{
  const struct command *command = data;
  sigset_t none;
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  signal (SIGPIPE, SIG_DFL);
  umask (022);
  if (command->alone)
    setpgid (0, 0);
  command_set_limit (RLIMIT_FSIZE, command->file_bytes);
  command_set_limit (RLIMIT_AS, command->memory_bytes);
  /* We wait in the thread that started it, so this ends it only when Adder is killed. */
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

static void
give_line (const struct command *command, struct stream *stream)
{
  if (command->line)
    command->line (stream->line->str, stream->is_stderr, command->data);
  g_string_truncate (stream->line, 0);
}

/* Reads what is there. Returns FALSE at the end of the stream. */
static gboolean
command_read_lines (const struct command *command, struct stream *stream)
{
  char buffer[8192];
  ssize_t count = read (stream->fd, buffer, sizeof buffer);
  if (count < 0)
    return errno == EINTR || errno == EAGAIN;
  for (ssize_t i = 0; i < count; i++) {
    if (buffer[i] == '\n' || stream->line->len >= LINE_MAX_BYTES)
      give_line (command, stream);
    if (buffer[i] != '\n' && buffer[i] != '\0')
      g_string_append_c (stream->line, buffer[i]);
  }
  if (count == 0 && stream->line->len > 0)
    give_line (command, stream);
  return count > 0;
}

/* How long to wait for the next event; negative: the command must end, by its deadline or with
 * term->problem. */
static int
command_wait_ms (struct command_term *term)
{
  const struct command *command = term->command;
  gint64 now_us = g_get_monotonic_time ();
  if (command->check && now_us >= term->check_us) {
    if (!command->check (command->data, &term->problem))
      return -1;
    gint64 took_us = g_get_monotonic_time () - now_us;
    now_us += took_us;
    term->check_us = now_us + MAX (CHECK_US, CHECK_SHARE * took_us);
  }
  gint64 left_us = MIN (term->deadline_us, term->check_us) - now_us;
  return now_us >= term->deadline_us ? -1 : (int)MIN (left_us / 1000 + 1, G_MAXINT);
}

/* Reads both streams to their ends. Returns FALSE when the command must end. */
static gboolean
read_streams (struct command_term *term, struct stream streams[2])
{
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    int wait_ms = command_wait_ms (term);
    if (wait_ms < 0)
      return FALSE;
    struct pollfd polled[2] = {
        {.fd = streams[0].fd, .events = POLLIN},
        {.fd = streams[1].fd, .events = POLLIN},
    };
    if (poll (polled, 2, wait_ms) < 0 && errno != EINTR)
      return FALSE;
    for (int i = 0; i < 2; i++)
      if (polled[i].revents != 0 && !command_read_lines (term->command, &streams[i]))
        fd_close (&streams[i].fd);
  }
  return TRUE;
}

/* A program may close its streams and stay. Returns FALSE when it must end. If it cannot be watched
 * (descriptors ran out), its end is simply waited for. */
static gboolean
wait_until_ended (struct command_term *term, GPid pid)
{
  autoclose int process = sys_pidfd_open (pid, 0);
  struct pollfd ended = {.fd = process, .events = POLLIN};
  while (process >= 0) {
    int wait_ms = command_wait_ms (term);
    if (wait_ms < 0)
      return FALSE;
    int r = poll (&ended, 1, wait_ms);
    if (r != 0 && !(r < 0 && errno == EINTR))
      return r > 0;
  }
  return TRUE;
}

static int
command_wait_for (GPid pid)
{
  int status = 0;
  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return 127;
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

gboolean
command_run (const struct command *command, int *ret_status, GError **error)
{
  g_auto (GStrv) environment = short_environment (command->settings);
  g_autoptr (GError) cause = NULL;
  GPid pid = 0;
  struct stream streams[2] = {{.fd = -1}, {.fd = -1, .is_stderr = TRUE}};
  if (!g_spawn_async_with_pipes ("/", (char **)command->argv, environment,
                                 G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CLOEXEC_PIPES, prepare_child,
                                 (gpointer)command, &pid, NULL, &streams[0].fd, &streams[1].fd, &cause)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "cannot run %s: %s", command->argv[0],
                 cause->message);
    return FALSE;
  }
  for (int i = 0; i < 2; i++)
    streams[i].line = g_string_new (NULL);
  struct command_term term = {.command = command,
                              .deadline_us = g_get_monotonic_time () + (gint64)command->timeout_ms * 1000,
                              .check_us = command->check ? 0 : G_MAXINT64};
  gboolean ended = read_streams (&term, streams) && wait_until_ended (&term, pid);
  if (!ended)
    kill (command->alone ? -pid : pid, SIGKILL);
  int status = command_wait_for (pid);
  for (int i = 0; i < 2; i++) {
    fd_close (&streams[i].fd);
    g_string_free (streams[i].line, TRUE);
  }
  if (term.problem) {
    g_propagate_error (error, term.problem);
    return FALSE;
  }
  if (!ended) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "%s did not end within %u seconds", command->argv[0],
                 command->timeout_ms / 1000);
    return FALSE;
  }
  *ret_status = status;
  return TRUE;
}
