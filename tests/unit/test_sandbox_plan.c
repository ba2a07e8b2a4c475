/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as arguments and back; the table of limits; what the host's probe says of refusals. */
#include <errno.h>
#include <glib.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/limits.h"
#include "sandbox/plan.h"
#include "sandbox/probe.h"
#include "sandbox/rlimits.h"
#include "suite.h"

static int
count_arguments (char **arguments)
{
  return (int)g_strv_length (arguments);
}

static void
test_plan_there_and_back (void)
{
  struct plan_step steps[] = {
      {PLAN_BIND, "/usr", "/usr"},
      {PLAN_BIND_MAYBE, "/opt/x y", "/opt/x y"},
      {PLAN_COPY, "/etc/hosts", "/etc/hosts"},
      {PLAN_TREE, "/etc/fonts", "/etc/fonts"},
      {PLAN_LINK, "usr/bin", "/bin"},
      {PLAN_DIRECTORY, "", "/empty"},
      {PLAN_TEXT, "a\nb -- --step\n", "/text"},
      {PLAN_TEXT, "", "/nothing"},
      {PLAN_DEVICE, "/dev/null", "/dev/null"},
  };
  const char *environment[] = {"A=1", "B=", NULL};
  const char *program[] = {"/usr/bin/python3", "--", "--map", NULL};
  struct plan plan = {
      .isolation = ISOLATION_PROCESS,
      .host_uid = 100000,
      .host_gid = 4294967294u,
      .steps = steps,
      .step_count = G_N_ELEMENTS (steps),
      .environment = environment,
      .program = program,
  };
  struct plan back;
  struct fault fault = {0};
  char **arguments = plan_to_arguments (&plan);
  g_assert_cmpstr (arguments[0], ==, "adder-zygote");
  g_assert_cmpint (plan_from_arguments (&back, count_arguments (arguments), arguments, &fault), ==, 0);
  g_assert_cmpint (back.isolation, ==, ISOLATION_PROCESS);
  g_assert_cmpuint (back.host_uid, ==, 100000);
  g_assert_cmpuint (back.host_gid, ==, 4294967294u);
  g_assert_cmpuint (back.step_count, ==, G_N_ELEMENTS (steps));
  for (size_t i = 0; i < back.step_count; i++) {
    g_assert_cmpint (back.steps[i].kind, ==, steps[i].kind);
    g_assert_cmpstr (back.steps[i].source, ==, steps[i].source);
    g_assert_cmpstr (back.steps[i].target, ==, steps[i].target);
  }
  g_assert_true (g_strv_equal (back.environment, environment));
  g_assert_true (g_strv_equal (back.program, program));
  plan_clear (&back);
  free (arguments);
}

static void
test_plan_refused (void)
{
  static const struct {
    const char *arguments; /* words with a space between them */
    const char *step;
  } cases[] = {
      {"z", "--map is missing"},
      {"z -- /bin/true", "--map is missing"},
      {"z --map 1 2", "after -- comes the absolute path of a program"},
      {"z --map 1 2 --", "after -- comes the absolute path of a program"},
      {"z --map 1 2 -- true", "after -- comes the absolute path of a program"},
      {"z --map 1", "cannot understand argument 1: --map"},
      {"z --map -1 2 -- /x", "--map takes two ids, not -1 2"},
      {"z --map 1 4294967295 -- /x", "--map takes two ids, not 1 4294967295"},
      {"z --map 1 2 --step bind /usr -- /x", "a step's target must be absolute and without dots: --"},
      {"z --map 1 2 --step bind /usr usr -- /x", "a step's target must be absolute and without dots: usr"},
      {"z --map 1 2 --step bind /usr /a/../b -- /x",
       "a step's target must be absolute and without dots: /a/../b"},
      {"z --map 1 2 --step bind /usr / -- /x", "a step's target must be absolute and without dots: /"},
      {"z --map 1 2 --step steal /usr /usr -- /x", "no such kind of step: steal"},
      {"z --map 1 2 --step bind", "cannot understand argument 4: --step"},
      {"z --map 1 2 --env A -- /x", "--env takes NAME=VALUE, not A"},
      {"z --map 1 2 --env =A -- /x", "--env takes NAME=VALUE, not =A"},
      {"z --isolation full --map 1 2 -- /x", "--isolation takes a kind, not full"},
      {"z --isolation auto --map 1 2 -- /x", "--isolation takes a kind, not auto"},
      {"z --map 1 2 --verbose -- /x", "cannot understand argument 4: --verbose"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (GStrv) arguments = g_strsplit (cases[i].arguments, " ", -1);
    struct plan plan;
    struct fault fault = {0};
    g_assert_cmpint (plan_from_arguments (&plan, count_arguments (arguments), arguments, &fault), <, 0);
    g_assert_cmpstr (fault.step, ==, cases[i].step);
  }
}

static void
test_limits (void)
{
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    g_assert_nonnull (row->name);
    g_assert_nonnull (row->text);
    g_assert_cmpuint (row->minimum, <=, row->standard);
    g_assert_cmpuint (row->standard, <=, row->maximum);
    g_assert_cmpint (limit_find (row->name), ==, i);
  }
  g_assert_cmpint (limit_find ("wall"), ==, -1);
  g_assert_cmpuint (limits_default ().value[LIMIT_PIDS], ==, limit_table[LIMIT_PIDS].standard);
  g_assert_cmpuint (limits_maximum ().value[LIMIT_PIDS], ==, limit_table[LIMIT_PIDS].maximum);
}

/* Runs CHECK in a child, which it may change as it likes. Returns what it returns. */
static int
in_child (int (*check) (void))
{
  int status;
  pid_t pid = fork ();
  if (pid == 0)
    _exit (check ());
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

static int
check_rlimits (void)
{
  struct rlimit low = {100, 100}, now;
  struct limits limits = limits_maximum ();
  limits.value[LIMIT_CPU] = 1500;
  limits.value[LIMIT_FILE_SIZE] = 4096;
  if (setrlimit (RLIMIT_NOFILE, &low) < 0 || rlimits_apply (&limits, NULL) < 0)
    return 1;
  if (getrlimit (RLIMIT_CPU, &now) < 0 || now.rlim_cur != 3 || now.rlim_max != 3)
    return 2;
  if (getrlimit (RLIMIT_FSIZE, &now) < 0 || now.rlim_max != 4096)
    return 3;
  /* The host's own hard limit is lower than what was asked for. */
  if (getrlimit (RLIMIT_NOFILE, &now) < 0 || now.rlim_cur != 100 || now.rlim_max != 100)
    return 4;
  if (getrlimit (RLIMIT_CORE, &now) < 0 || now.rlim_max != 1)
    return 5;
  return 0;
}

static void
test_rlimits (void)
{
  g_assert_cmpint (in_child (check_rlimits), ==, 0);
}

static int
probe_reason (void)
{
  struct probe probe;
  probe_host (&probe, 0);
  return (int)probe.userns;
}

/* As a container's filter does it. */
static int
check_filtered (void)
{
  scmp_filter_ctx context = seccomp_init (SCMP_ACT_ALLOW);
  if (seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (unshare), 0) < 0 ||
      seccomp_rule_add (context, SCMP_ACT_ERRNO (ENOSYS), SCMP_SYS (clone3), 0) < 0 ||
      seccomp_load (context) < 0)
    return 99;
  seccomp_release (context);
  return probe_reason ();
}

static int
check_masked (void)
{
  struct probe probe;
  if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
      mount ("/dev/null", "/proc/version", NULL, MS_BIND, NULL) < 0)
    return 99;
  probe_host (&probe, 0);
  return probe.userns == PROBE_USERNS_OK && !probe.fresh_proc && probe.line[PROBE_PROC].remedy[0] ? 0 : 1;
}

static void
test_probe (void)
{
  struct probe probe;
  probe_host (&probe, 0);
  g_assert_cmpuint (probe.major, >=, 4);
  g_assert_cmpuint (probe.level, <=, 3);
  for (int i = 0; i < PROBE_FACTS; i++) {
    g_test_message ("%s: %s. %s", probe.line[i].name, probe.line[i].text, probe.line[i].remedy);
    g_assert_cmpstr (probe.line[i].text, !=, "");
    g_assert_true (!probe.line[i].good || !probe.line[i].remedy[0]);
  }
  /* Nothing of it is left: no child, no descriptor. */
  g_assert_cmpint (waitpid (-1, NULL, __WALL | WNOHANG), ==, -1);
  g_assert_cmpint (errno, ==, ECHILD);

  if (probe.userns != PROBE_USERNS_OK) {
    g_test_skip (probe.line[PROBE_USER_NAMESPACES].text);
    return;
  }
  g_assert_cmpint (in_child (check_filtered), ==, PROBE_USERNS_SECCOMP);
  if (geteuid () == 0 && probe.fresh_proc)
    g_assert_cmpint (in_child (check_masked), ==, 0);
}

UNIT_SUITE (sandbox_plan)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/there-and-back", test_plan_there_and_back);
  g_test_add_func ("/plan/refused", test_plan_refused);
  g_test_add_func ("/limits/table", test_limits);
  g_test_add_func ("/rlimits", test_rlimits);
  g_test_add_func ("/probe", test_probe);
  return g_test_run ();
}
