/* SPDX-License-Identifier: Apache-2.0 */
/* What the system call filter costs: hot calls with and without it, and installing it. Two children, one of
 * them under the filter, take turns, so that both see the same machine; each figure is a median, each ratio
 * from one run.
 *
 *   build/bench/filter_cost
 *
 * docs/isolation.md shows what it printed. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp_build.h"

#define ROUNDS   301
#define CALLS    2000
#define INSTALLS 201

static int zero_fd, null_fd;
static uint32_t word;

static void
call_getpid (void)
{
  syscall (SYS_getpid);
}

static void
call_read (void)
{
  char byte;
  if (read (zero_fd, &byte, 1) != 1)
    _exit (1);
}

static void
call_write (void)
{
  if (write (null_fd, "x", 1) != 1)
    _exit (1);
}

static void
call_futex (void)
{
  syscall (SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void
call_mmap (void)
{
  void *page = mmap (NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    _exit (1);
  munmap (page, 4096);
}

static void
call_open (void)
{
  int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    _exit (1);
  close (fd);
}

static void
call_ioctl (void)
{
  int bytes;
  ioctl (zero_fd, FIONREAD, &bytes);
}

static void
call_prctl (void)
{
  prctl (PR_GET_TIMERSLACK);
}

static const struct {
  const char *name;
  void (*call) (void);
} measures[] = {
    {"getpid", call_getpid},
    {"read of one byte", call_read},
    {"write of one byte", call_write},
    {"futex, nobody waits", call_futex},
    {"mmap and munmap of a page", call_mmap},
    {"open and close", call_open},
    {"ioctl, judged by its argument", call_ioctl},
    {"prctl, judged by its argument", call_prctl},
};

static int64_t
now_ns (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int
compare (const void *left, const void *right)
{
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double
median (double *values, size_t count)
{
  qsort (values, count, sizeof *values, compare);
  return values[count / 2];
}

static void
install (const struct filter_program *program)
{
  struct fault fault;
  if (filter_install (program, &fault) < 0) {
    fprintf (stderr, "filter_cost: %s: %s\n", fault.step, strerror (fault.err));
    _exit (1);
  }
}

/* ---- hot calls ---- */

/* Measures whichever call is asked for by its number, one round at a time. */
static void
serve (int socket, const struct filter_program *program)
{
  if (program)
    install (program);
  uint32_t which;
  while (fd_read_all (socket, &which, sizeof which) == 0) {
    int64_t start = now_ns ();
    for (int i = 0; i < CALLS; i++)
      measures[which].call ();
    double each = (double)(now_ns () - start) / CALLS;
    if (fd_write_all (socket, &each, sizeof each) < 0)
      break;
  }
  _exit (0);
}

/* Returns the socket of a new child. */
static int
start_child (const struct filter_program *program)
{
  int ends[2];
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    g_error ("cannot make a socket pair: %s", strerror (errno));
  pid_t pid = fork ();
  if (pid < 0)
    g_error ("cannot fork: %s", strerror (errno));
  if (pid == 0) {
    close (ends[0]);
    serve (ends[1], program);
  }
  close (ends[1]);
  return ends[0];
}

static double
ask (int socket, uint32_t which)
{
  double each;
  if (fd_write_all (socket, &which, sizeof which) < 0 || fd_read_all (socket, &each, sizeof each) < 0)
    g_error ("a child ended while it measured");
  return each;
}

static void
measure_calls (const struct filter_program *program)
{
  static double without[ROUNDS], with[ROUNDS], ratio[ROUNDS];
  int plain = start_child (NULL), filtered = start_child (program);
  printf ("%-30s %12s %12s %8s\n", "call", "without, ns", "with, ns", "ratio");
  for (uint32_t which = 0; which < G_N_ELEMENTS (measures); which++) {
    for (int round = 0; round < ROUNDS; round++) {
      without[round] = ask (plain, which);
      with[round] = ask (filtered, which);
      ratio[round] = with[round] / without[round];
    }
    printf ("%-30s %12.0f %12.0f %8.2f\n", measures[which].name, median (without, ROUNDS),
            median (with, ROUNDS), median (ratio, ROUNDS));
  }
  close (plain);
  close (filtered);
}

/* ---- installing ---- */

static double
install_once (const struct filter_program *program)
{
  double took = 0;
  int ends[2];
  if (pipe2 (ends, O_CLOEXEC) < 0)
    g_error ("cannot make a pipe: %s", strerror (errno));
  pid_t pid = fork ();
  if (pid == 0) {
    int64_t start = now_ns ();
    install (program);
    took = (double)(now_ns () - start) / 1000;
    _exit (fd_write_all (ends[1], &took, sizeof took) < 0);
  }
  close (ends[1]);
  if (pid < 0 || fd_read_all (ends[0], &took, sizeof took) < 0)
    g_error ("a child could not install the filter");
  close (ends[0]);
  waitpid (pid, NULL, 0);
  return took;
}

static void
measure_installing (const struct filter_program *program)
{
  static double took[INSTALLS];
  for (int i = 0; i < INSTALLS; i++)
    took[i] = install_once (program);
  printf ("installing %u instructions takes %.0f us\n", program->length, median (took, INSTALLS));
}

int
main (void)
{
  const struct seccomp_host host = {.landlock_abi = landlock_abi (), .memory_counted = true};
  struct fault fault;
  struct filter_program program;
  autoclose int fd = -1;
  zero_fd = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  null_fd = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  /* Without privileges a filter needs it, and a child inherits it. */
  if (zero_fd < 0 || null_fd < 0 || prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    g_error ("cannot begin: %s", strerror (errno));
  int64_t start = now_ns ();
  if (seccomp_build (&host, &fd, &fault) < 0 || filter_load (fd, &program, &fault) < 0)
    g_error ("%s: %s", fault.step, strerror (fault.err));
  double built = (double)(now_ns () - start) / 1000;
  measure_calls (&program);
  measure_installing (&program);
  printf ("building it, once for a daemon, took %.0f us\n", built);
  free (program.filter);
  return 0;
}
