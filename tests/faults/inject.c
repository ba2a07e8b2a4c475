/* SPDX-License-Identifier: Apache-2.0 */
/* inject FILE CALL... -- COMMAND [ARGUMENT]...: runs COMMAND, whose system calls CALL... fail while FILE says
 * so, and ends when all that descends from COMMAND has ended.
 *
 * The calls of COMMAND and its descendants wait for this program (SECCOMP_RET_USER_NOTIF), which lets them go
 * on unless a line of FILE, read anew each time, fits:
 *
 *     CALL|any ERRNO|return=NUMBER|hold|pass [who=NAME] [N=VALUE]... [N&BITS]... [from=COUNT] [to=COUNT]
 * [nth=COUNT]
 *
 * NAME is the name of the calling process, N=VALUE and N&BITS look at its Nth argument, from=3 to=4 fits the
 * third and fourth of such calls of each process, and nth=3 the third of all. The first line that fits is
 * applied; pass lets the call go on. A call that is held waits until FILE no longer says so. Each call that a
 * line was applied to is noted in FILE.hits. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/pidfd.h"

#define LINES_MAX 16
#define HELD_MAX  64
#define LOOK_MS   10 /* how often FILE is looked at while calls are held */

struct fault_line {
  char call[32], who[16];
  int err;
  int64_t value;
  bool hold, pass;
  struct {
    bool wanted;
    uint64_t mask, value;
  } argument[6];
  unsigned from, to, seen; /* SEEN: by CALLER */
  uint32_t caller;
  unsigned nth, seen_of_all; /* NTH: 0 where it is not asked for */
};

struct plan {
  char text[4096];
  struct fault_line line[LINES_MAX];
  size_t count;
  unsigned version;
};

/* ---- the file ---- */

static int
errno_by_name (const char *name)
{
  for (int err = 1; err < 134; err++) {
    const char *known = strerrorname_np (err);
    if (known && strcmp (known, name) == 0)
      return err;
  }
  return 0;
}

static bool
parse_word (struct fault_line *line, const char *word)
{
  unsigned argument;
  int64_t value;
  if (sscanf (word, "return=%" SCNi64, &line->value) == 1 || sscanf (word, "who=%15s", line->who) == 1 ||
      sscanf (word, "from=%u", &line->from) == 1 || sscanf (word, "to=%u", &line->to) == 1 ||
      sscanf (word, "nth=%u", &line->nth) == 1)
    return true;
  if (strcmp (word, "hold") == 0)
    return line->hold = true;
  if (strcmp (word, "pass") == 0)
    return line->pass = true;
  bool equals = sscanf (word, "%u=%" SCNi64, &argument, &value) == 2;
  if (equals || sscanf (word, "%u&%" SCNi64, &argument, &value) == 2) {
    line->argument[argument % 6].wanted = true;
    line->argument[argument % 6].mask = equals ? UINT64_MAX : (uint64_t)value;
    line->argument[argument % 6].value = (uint64_t)value;
    return true;
  }
  line->err = errno_by_name (word);
  return line->err > 0;
}

static void
parse (struct plan *plan, const char *text)
{
  char copy[sizeof plan->text], *lines, *words;
  *plan = (struct plan){.version = plan->version + 1};
  snprintf (plan->text, sizeof plan->text, "%s", text);
  snprintf (copy, sizeof copy, "%s", text);
  for (char *at = strtok_r (copy, "\n", &lines); at && plan->count < LINES_MAX;
       at = strtok_r (NULL, "\n", &lines)) {
    struct fault_line *line = &plan->line[plan->count++];
    char *word = strtok_r (at, " ", &words);
    snprintf (line->call, sizeof line->call, "%s", word ? word : "");
    line->from = 1;
    line->to = UINT_MAX;
    while ((word = strtok_r (NULL, " ", &words)))
      if (!parse_word (line, word)) {
        fprintf (stderr, "inject: cannot understand %s\n", word);
        exit (125);
      }
  }
}

static void
read_file (int fd, char *text, size_t size)
{
  size_t have = 0;
  for (ssize_t got; fd >= 0 && have < size - 1 && (got = read (fd, text + have, size - 1 - have)) > 0;)
    have += (size_t)got;
  text[have] = '\0';
}

/* No file: no faults. */
static void
refresh (struct plan *plan, const char *path)
{
  char text[sizeof plan->text];
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
  read_file (fd, text, sizeof text);
  if (strcmp (text, plan->text) != 0)
    parse (plan, text);
}

/* ---- the calls ---- */

static struct {
  struct seccomp_notif call[HELD_MAX];
  size_t count;
  unsigned version; /* of the plan that they were last held against */
} held;

static void
name_of (pid_t pid, char *name, size_t size)
{
  char path[64];
  snprintf (path, sizeof path, "/proc/%d/comm", (int)pid);
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
  read_file (fd, name, size);
  name[strcspn (name, "\n")] = '\0';
}

static struct fault_line *
find_line (struct plan *plan, const struct seccomp_notif *call, const char *call_name, const char *who)
{
  for (size_t i = 0; i < plan->count; i++) {
    struct fault_line *line = &plan->line[i];
    bool named = strcmp (line->call, "any") == 0 || strcmp (line->call, call_name) == 0;
    bool fits = named && (!line->who[0] || strcmp (line->who, who) == 0);
    for (int n = 0; n < 6 && fits; n++)
      fits = !line->argument[n].wanted ||
             (call->data.args[n] & line->argument[n].mask) == line->argument[n].value;
    if (!fits)
      continue;
    if (line->caller != call->pid)
      line->seen = 0;
    line->caller = call->pid;
    line->seen++;
    line->seen_of_all++;
    if (line->seen >= line->from && line->seen <= line->to && (!line->nth || line->nth == line->seen_of_all))
      return line;
  }
  return NULL;
}

static void
note_hit (const char *path, const char *call, const char *who)
{
  char hits[4096];
  snprintf (hits, sizeof hits, "%s.hits", path);
  autoclose int fd = open (hits, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd >= 0)
    dprintf (fd, "%s %s\n", call, who);
}

static void
respond (int listener, uint64_t id, const struct fault_line *line)
{
  struct seccomp_notif_resp reply = {
      .id = id,
      .flags = line ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE,
      .error = line ? -line->err : 0,
      .val = line ? line->value : 0,
  };
  /* ENOENT: the caller was killed meanwhile. */
  (void)ioctl (listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static void
decide (int listener, struct plan *plan, const char *path, const struct seccomp_notif *call)
{
  char who[16];
  char *name = seccomp_syscall_resolve_num_arch (SCMP_ARCH_NATIVE, call->data.nr);
  refresh (plan, path);
  name_of ((pid_t)call->pid, who, sizeof who);
  struct fault_line *line = find_line (plan, call, name ? name : "", who);
  if (line && line->pass)
    line = NULL;
  if (line)
    note_hit (path, name, who);
  if (line && line->hold && held.count < HELD_MAX)
    held.call[held.count++] = *call;
  else
    respond (listener, call->id, line);
  free (name);
}

static void
receive (int listener, struct plan *plan, const char *path)
{
  struct seccomp_notif call = {0};
  if (ioctl (listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0)
    decide (listener, plan, path, &call);
}

/* Looks at each held call again. */
static void
release (int listener, struct plan *plan, const char *path)
{
  refresh (plan, path);
  if (held.version == plan->version)
    return;
  held.version = plan->version;
  size_t count = held.count;
  held.count = 0;
  for (size_t i = 0; i < count; i++)
    decide (listener, plan, path, &held.call[i]);
}

/* ---- the whole ---- */

/* In the child: the listener's number is told by LISTENER, which both see. It stops until somebody listens:
 * any other call might already have to wait for that. */
static void
run (scmp_filter_ctx filter, volatile int *listener, char **command)
{
  int r = seccomp_load (filter);
  if (r < 0) {
    fprintf (stderr, "inject: cannot install the filter: %s\n", strerror (-r));
    _exit (125);
  }
  *listener = seccomp_notify_fd (filter);
  raise (SIGSTOP);
  close (*listener);
  execvp (command[0], command);
  fprintf (stderr, "inject: cannot run %s: %s\n", command[0], strerror (errno));
  _exit (125);
}

static void
pass_on (int number)
{
  (void)number; /* it interrupts poll, and the child has had it from the terminal or from us */
}

int
main (int argc, char **argv)
{
  int at = 2, status = 0;
  scmp_filter_ctx filter = seccomp_init (SCMP_ACT_ALLOW);
  for (; filter && at < argc && strcmp (argv[at], "--") != 0; at++)
    if (seccomp_rule_add (filter, SCMP_ACT_NOTIFY, seccomp_syscall_resolve_name (argv[at]), 0) < 0) {
      fprintf (stderr, "inject: no system call %s\n", argv[at]);
      return 125;
    }
  if (!filter || at + 1 >= argc) {
    fprintf (stderr, "usage: inject FILE CALL... -- COMMAND [ARGUMENT]...\n");
    return 125;
  }
  volatile int *number =
      mmap (NULL, sizeof *number, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (number == MAP_FAILED)
    return 125;

  pid_t child = fork ();
  if (child == 0)
    run (filter, number, &argv[at + 1]);
  if (child < 0 || waitpid (child, &status, WUNTRACED) < 0 || !WIFSTOPPED (status))
    return 125;
  int process = sys_pidfd_open (child, 0);
  int listener = process < 0 ? -1 : sys_pidfd_getfd (process, *number, 0);
  if (listener < 0 || kill (child, SIGCONT) < 0) {
    fprintf (stderr, "inject: cannot listen: %s\n", strerror (errno));
    kill (child, SIGKILL);
    return 125;
  }

  signal (SIGINT, pass_on);
  struct plan plan = {.count = 0};
  for (;;) {
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    if (poll (&ready, 1, held.count > 0 ? LOOK_MS : -1) < 0 && errno != EINTR)
      return 125;
    if (ready.revents & POLLIN)
      receive (listener, &plan, argv[1]);
    else if (ready.revents & POLLHUP) /* nobody has the filter any more */
      break;
    if (held.count > 0)
      release (listener, &plan, argv[1]);
  }
  waitpid (child, &status, 0);
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}
