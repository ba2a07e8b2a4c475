/* SPDX-License-Identifier: Apache-2.0 */
/* adder-shell: the zygote of shells. It is to `sh` what zygote.py is to Python, in a few kilobytes:
 * adder-zygote makes it a tree in which there are the programs of sandbox/programs.h and nothing else that
 * could be run, and it forks sandboxes that are confined and parked until a command comes (shell_answer.c).
 *
 * A program of its own rather than a zygote of Python's: there is no interpreter in its tree, what is forked
 * is small, and it is ready in milliseconds, so that it is started when it is first asked for.
 *
 *     adder-shell --isolation KIND --shell PATH [--readable PATH]... [--runnable PATH]... */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/frame.h"
#include "runner/serve.h"
#include "runner/shell_answer.h"
#include "runner/wire.h"
#include "sandbox/memory.h"

#define EXIT_FAULT 125

/* What WIRE_SERVING tells: there is no version that anybody would ask for. */
static const char information[] = "{\"version\": \"sh\", \"failed\": []}";

struct options {
  int isolation;
  const char *shell;
  const char **readable, **runnable;
};

static bool
shell_read_options (struct options *options, int argc, char **argv)
{
  size_t readable = 0, runnable = 0;
  options->readable = calloc ((size_t)argc + 1, sizeof *options->readable);
  options->runnable = calloc ((size_t)argc + 1, sizeof *options->runnable);
  if (!options->readable || !options->runnable)
    return false;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp (argv[i], "--isolation") == 0)
      options->isolation = isolation_find (argv[i + 1]);
    else if (strcmp (argv[i], "--shell") == 0)
      options->shell = argv[i + 1];
    else if (strcmp (argv[i], "--readable") == 0)
      options->readable[readable++] = argv[i + 1];
    else if (strcmp (argv[i], "--runnable") == 0)
      options->runnable[runnable++] = argv[i + 1];
    else
      return false;
  }
  return options->shell && options->isolation > ISOLATION_AUTO;
}

static void
nothing (void)
{
}

/* Where the sandbox has no /tmp of its own: it is beside the current directory. */
static void
settle_places (void)
{
  char path[4096];
  char *slash = getcwd (path, sizeof path - 4) ? strrchr (path, '/') : NULL;
  if (!slash)
    return;
  memcpy (slash, "/tmp", 5);
  setenv ("HOME", path, 1);
  setenv ("TMPDIR", path, 1);
}

static int
shell_say_ready (const struct sandbox_self *sandbox)
{
  struct wire_ready ready = {
      .version = WIRE_VERSION,
      .mechanisms = sandbox->mechanisms,
      .landlock_abi = sandbox->landlock_abi,
      .flags = sandbox->ready_flags,
      .data_bytes = memory_data_bytes (),
  };
  return frame_send (WIRE_SOCKET_FD, WIRE_READY, &ready, sizeof ready, NULL, 0);
}

int
main (int argc, char **argv)
{
  static struct zygote zygote;
  static struct sandbox_self sandbox;
  struct options options = {.isolation = -1};
  struct fault fault = {0};
  if (!shell_read_options (&options, argc, argv)) {
    fault_set (&fault, EINVAL, "adder-shell does not understand its arguments");
    serve_refuse (&fault);
    return EXIT_FAULT;
  }
  zygote.isolation = (enum isolation)options.isolation;
  zygote.readable = options.readable;
  zygote.runnable = options.runnable;
  zygote.before_fork = zygote.after_fork = nothing;
  if (serve_prepare (&zygote, &fault) < 0 ||
      serve (&zygote, information, sizeof information - 1, &sandbox, &fault) < 0) {
    serve_refuse (&fault);
    return EXIT_FAULT;
  }
  if (zygote.isolation != ISOLATION_NAMESPACES)
    settle_places ();
  if (shell_say_ready (&sandbox) < 0)
    return EXIT_FAULT;
  shell_answer (options.shell);
  return 0;
}
