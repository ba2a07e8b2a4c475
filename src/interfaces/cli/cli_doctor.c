/* SPDX-License-Identifier: Apache-2.0 */
/* `adder doctor`: what this host offers, what is lost without the rest, how to get it, and one run that shows
 * whether everything works together. */
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "common/config.h"
#include "common/json.h"
#include "common/paths.h"
#include "engine/engine.h"
#include "engine/host/environment.h"
#include "engine/host/host.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/doctor_containers.h"
#include "interfaces/cli/doctor_surroundings.h"
#include "interfaces/cli/view/doctor_rows.h"
#include "interfaces/cli/view/policy_view.h"
#include "interfaces/socket/client.h"
#include "interfaces/socket/scope.h"
#include "library/library.h"
#include "operations/operation.h"
#include "sandbox/probe.h"

/* What a host without it loses. */
static const char *const costs[PROBE_FACTS] = {
    [PROBE_KERNEL] = "older kernels lack mechanisms that sandboxes are made of",
    [PROBE_USER_NAMESPACES] = "without them there is no sandbox of level 2 or 3, and runs are refused",
    [PROBE_PROC] = "without it code finds no /proc: multiprocessing, psutil and the like work in part",
    [PROBE_SECCOMP] = "without it code can reach every system call of the kernel",
    [PROBE_LANDLOCK] = "without it there is one layer less around files; the read-only tree still holds",
    [PROBE_CGROUP] =
        "without one, memory and processor time are held by rlimits and a watchdog: level 2, not 3",
    [PROBE_HUGE_PAGES] = "without them it takes longer to prepare a sandbox",
};

/* What each level includes. A host by itself provides at most 3; 4 is a container with gVisor's kernel. */
#define LEVELS_MAX 4
#define IN_SCOPE   "ADDER_DOCTOR_IN_SCOPE" /* set for itself, once it is in one */
#define LEVEL_WELL 2                       /* the lowest level that runs by default */
static const char *const levels[] = {
    "plain processes: nothing is confined",
    "no namespaces: landlock, seccomp and rlimits only",
    "namespaces, mount tree, seccomp and landlock; limits by rlimits and a watchdog",
    "namespaces, mount tree, seccomp, landlock and control groups",
};

struct checkup {
  struct probe probe;
  json_t *environments; /* as a list of objects */
  json_t *problems;     /* texts: problems apart from the host */
  json_t *trial;
  json_t *store; /* as in store.show */
  json_t *daemon;
  json_t *containers;   /* from doctor_look_at_containers */
  json_t *surroundings; /* from doctor_look_around */
  gboolean trial_ok;
};

/* ---- checking ---- */

static void
cli_doctor_add_problem (struct checkup *checkup, const GError *problem)
{
  json_array_append_new (checkup->problems, json_text_or_null (problem->message));
}

static void
check_path (struct checkup *checkup, char *(*find) (GError **))
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *path = find (&problem);
  if (!path)
    cli_doctor_add_problem (checkup, problem);
}

static void
look_at_environments (struct checkup *checkup)
{
  g_autoptr (GPtrArray) environments = environment_list ();
  for (guint i = 0; i < environments->len; i++) {
    const struct environment *environment = g_ptr_array_index (environments, i);
    json_array_append_new (checkup->environments,
                           json_pack ("{s:s, s:o, s:o}", "name", environment->name, "version",
                                      json_text_or_null (environment->version), "python",
                                      json_text_or_null (environment->python)));
  }
}

static void
look_at_daemon (struct checkup *checkup, const struct config *config)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *socket = config_socket (config, NULL);
  struct client client;
  if (socket && client_connect (socket, &client, &problem)) {
    checkup->daemon = json_pack ("{s:s, s:I, s:s}", "version", client.daemon.version, "pid",
                                 (json_int_t)client.daemon.pid, "socket", socket);
    client_close (&client);
    return;
  }
  checkup->daemon = json_null ();
  if (problem && !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
    cli_doctor_add_problem (checkup, problem);
}

/* The default environment if it exists, else the system's Python. */
static const char *
trial_environment (struct checkup *checkup, const struct config *config)
{
  g_autoptr (GError) problem = NULL;
  const char *name = environment_default (config);
  struct environment *environment = environment_find (name, &problem);
  if (!environment) {
    cli_doctor_add_problem (checkup, problem);
    return "system";
  }
  environment_free (environment);
  return name;
}

static void
cli_doctor_try_run (struct checkup *checkup, const struct config *config)
{
  g_autoptr (GError) problem = NULL;
  const char *environment = trial_environment (checkup, config);
  g_autoptr (AdderEngine) engine = adder_engine_new (NULL, &problem);
  if (!engine) {
    cli_doctor_add_problem (checkup, problem);
    return;
  }
  g_autoptr (AdderRequest) request = adder_request_new ("6 * 7", -1);
  adder_request_set_environment (request, environment);
  g_autoptr (AdderResult) result = adder_run (engine, request);
  g_autoptr (json_t) object = library_result (result);
  const struct operation_caller caller = OPERATION_CALLER (engine, NULL, ROLE_ADMIN);
  checkup->store = operation_call (&caller, "store.show", json_object (), NULL);
  const json_t *isolation = json_object_get (object, "isolation");
  const json_t *message = json_object_get (json_object_get (object, "error"), "message");
  json_t *missing = json_object_get (isolation, "missing");
  checkup->trial_ok = adder_result_outcome (result) == ADDER_OUTCOME_OK;
  checkup->trial = json_pack ("{s:s, s:s, s:O?, s:O?, s:O?}", "environment", environment, "outcome",
                              adder_outcome_name (adder_result_outcome (result)), "level",
                              json_object_get (isolation, "level"), "missing", missing, "message", message);
}

static void
cli_doctor_look (struct checkup *checkup, gboolean containers)
{
  g_autoptr (GError) problem = NULL;
  checkup->environments = json_array ();
  checkup->problems = json_array ();
  /* As the daemon would: what it may do with its own process counts. */
  host_own_process (FALSE);
  probe_host (&checkup->probe, CGROUP_MOVE_SELF);
  check_path (checkup, paths_libexec_dir);
  check_path (checkup, paths_data_dir);
  check_path (checkup, paths_runtime_dir);
  look_at_environments (checkup);
  struct config *config = config_load_anyway (&problem);
  checkup->surroundings = doctor_look_around (config, &checkup->probe);
  look_at_daemon (checkup, config);
  /* With an error in the configuration nothing runs. */
  if (problem)
    cli_doctor_add_problem (checkup, problem);
  else
    cli_doctor_try_run (checkup, config);
  if (containers)
    checkup->containers = doctor_look_at_containers (config);
  config_free (config);
}

/* ---- reporting ---- */

static json_t *
list_mechanisms (const struct probe *probe)
{
  json_t *mechanisms = json_array ();
  for (int i = 0; i < PROBE_FACTS; i++) {
    const struct probe_line *line = &probe->line[i];
    json_array_append_new (mechanisms,
                           json_pack ("{s:s, s:s, s:b, s:o, s:o, s:o}", "name", line->name, "state",
                                      line->state, "good", line->good, "text", json_text_or_null (line->text),
                                      "cost", json_text_or_null (costs[i]), "remedy",
                                      json_text_or_null (line->remedy[0] ? line->remedy : NULL)));
  }
  return mechanisms;
}

static void
cli_doctor_print_json (const struct checkup *checkup)
{
  const struct probe *probe = &checkup->probe;
  g_autoptr (json_t) all =
      json_pack ("{s:s, s:i, s:s, s:b, s:o, s:O, s:O, s:O?, s:O?, s:O?, s:O?, s:O}", "version",
                 adder_version (), "level", (int)probe->level, "kernel", probe->release, "root", probe->root,
                 "mechanisms", list_mechanisms (probe), "surroundings", checkup->surroundings, "environments",
                 checkup->environments, "daemon", checkup->daemon, "trial", checkup->trial, "store",
                 checkup->store, "containers", checkup->containers, "problems", checkup->problems);
  cli_print_json (all);
}

static void
print_trial (const struct checkup *checkup)
{
  if (!checkup->trial)
    return;
  const char *environment = json_string_value (json_object_get (checkup->trial, "environment"));
  const char *message = json_string_value (json_object_get (checkup->trial, "message"));
  json_int_t level = json_integer_value (json_object_get (checkup->trial, "level"));
  doctor_print_mark (checkup->trial_ok);
  if (checkup->trial_ok)
    printf ("%-16s a run in %s reached isolation level %" JSON_INTEGER_FORMAT "%s\n", "trial run",
            environment, level,
            level < checkup->probe.level ? ", less than the host gives: see [sandbox] in adder config show"
                                         : "");
  else
    printf ("%-16s a run in %s: %s\n", "trial run", environment,
            message ? message : json_string_value (json_object_get (checkup->trial, "outcome")));
}

/* Where NAME is kept, and its problem. */
static void
cli_doctor_print_place (const char *name, const json_t *place)
{
  const char *where = json_string_value (json_object_get (place, "where"));
  const char *problem = json_string_value (json_object_get (place, "problem"));
  doctor_print_mark (!problem);
  printf ("%-16s %s%s%s\n", name, where, problem ? ": " : "", problem ? problem : "");
}

static void
print_store (const struct checkup *checkup)
{
  if (!checkup->store)
    return;
  cli_doctor_print_place ("records", json_object_get (checkup->store, "records_at"));
  cli_doctor_print_place ("files", json_object_get (checkup->store, "files_at"));
}

static void
cli_doctor_print_text (const struct checkup *checkup)
{
  gsize i;
  json_t *item;
  /* First, since with an error in the configuration nothing runs. */
  json_array_foreach (checkup->problems, i, item)
      printf ("%s%s%s\n%s", cli_colour (stdout, CLI_YELLOW), json_string_value (item),
              cli_colour (stdout, CLI_PLAIN), i + 1 == json_array_size (checkup->problems) ? "\n" : "");
  printf ("isolation level %u of %d: %s\n(level 4 is a container with gVisor's kernel)\n\n",
          checkup->probe.level, LEVELS_MAX, levels[checkup->probe.level]);
  g_autoptr (json_t) mechanisms = list_mechanisms (&checkup->probe);
  doctor_print_rows (mechanisms, "to get it");
  doctor_print_rows (checkup->surroundings, "to change it");
  print_trial (checkup);
  print_store (checkup);
  doctor_print_containers (checkup->containers);
  printf ("\nenvironments\n");
  json_array_foreach (checkup->environments, i, item)
      printf ("    %-21s %-8s %s\n", json_string_value (json_object_get (item, "name")),
              json_string_value (json_object_get (item, "version")),
              json_string_value (json_object_get (item, "python")));
  if (json_is_object (checkup->daemon))
    printf ("daemon\n    adder %s, process %" JSON_INTEGER_FORMAT "\n",
            json_string_value (json_object_get (checkup->daemon, "version")),
            json_integer_value (json_object_get (checkup->daemon, "pid")));
}

static void
cli_doctor_add_lacking (GString *names, const json_t *rows)
{
  gsize i;
  json_t *row;
  json_array_foreach (rows, i, row) if (!json_is_true (json_object_get (row, "good")))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", json_member_text (row, "name"));
}

/* Three lines: the level, problems and missing features, and whether a run works. */
static void
cli_doctor_print_short (const struct checkup *checkup)
{
  g_autoptr (GString) lacking = g_string_new (NULL);
  g_autoptr (json_t) mechanisms = list_mechanisms (&checkup->probe);
  cli_doctor_add_lacking (lacking, mechanisms);
  cli_doctor_add_lacking (lacking, checkup->surroundings);
  const char *problem = json_string_value (json_array_get (checkup->problems, 0));
  doctor_print_mark (checkup->probe.level >= LEVEL_WELL);
  printf ("%-16s level %u of %d: %s\n", "isolation", checkup->probe.level, LEVELS_MAX,
          levels[checkup->probe.level]);
  doctor_print_mark (!problem && lacking->len == 0);
  if (problem)
    printf ("%-16s %s\n", "host", problem);
  else if (lacking->len > 0)
    printf ("%-16s to improve: %s (adder doctor says how)\n", "host", lacking->str);
  else
    printf ("%-16s has every mechanism that sandboxes use\n", "host");
  if (checkup->trial)
    print_trial (checkup);
  else {
    doctor_print_mark (FALSE);
    printf ("%-16s none, because of the problem above\n", "trial run");
  }
}

/* The policy for this host and the configuration; the engine decides the same in host.c. */
static int
show_policy (gboolean json)
{
  g_autoptr (GError) problem = NULL;
  struct config *config = config_load (NULL, &problem);
  if (!config)
    return cli_fail (problem);
  struct probe probe;
  host_own_process (FALSE);
  probe_host (&probe, CGROUP_MOVE_SELF);
  const struct seccomp_host host = {
      .landlock_abi = probe.landlock_abi,
      .memory_counted = probe.cgroup_mode != CGROUP_NONE && strcmp (config->cgroup, "none") != 0,
      .shared = probe.userns != PROBE_USERNS_OK,
  };
  config_free (config);
  return policy_print (&host, json, stdout, &problem) ? 0 : cli_fail (problem);
}

/* Checks the host from where a command's daemon would be: in a scope of its own, if systemd makes one. */
static void
enter_scope (int argc, char **argv)
{
  struct fault obstacle = {0};
  if (g_getenv (IN_SCOPE) || cgroup_mode_check (CGROUP_V2, CGROUP_MOVE_SELF, &obstacle) == 0)
    return;
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_ptr_array_add (arguments, (char *)"doctor");
  for (int i = 1; i < argc; i++)
    g_ptr_array_add (arguments, argv[i]);
  g_ptr_array_add (arguments, NULL);
  g_auto (GStrv) scoped = program ? scope_command (program, (const char *const *)arguments->pdata) : NULL;
  if (scoped && g_setenv (IN_SCOPE, "1", TRUE))
    execv (scoped[0], scoped);
}

static int
check_host (int argc, char **argv)
{
  gboolean json = FALSE, policy = FALSE, brief = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {"short", 0, 0, G_OPTION_ARG_NONE, &brief,
       "Print three lines: the level, what the host lacks, a trial run", NULL},
      {"policy", 0, 0, G_OPTION_ARG_NONE, &policy, "Print the system calls that a sandbox may make, and why",
       NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  struct checkup checkup = {0};
  enter_scope (argc, argv);
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (policy)
    return show_policy (json);
  cli_doctor_look (&checkup, json || !brief);
  if (json)
    cli_doctor_print_json (&checkup);
  else if (brief)
    cli_doctor_print_short (&checkup);
  else
    cli_doctor_print_text (&checkup);
  gboolean well = checkup.probe.level >= LEVEL_WELL && checkup.trial_ok;
  json_decref (checkup.environments);
  json_decref (checkup.problems);
  json_decref (checkup.trial);
  json_decref (checkup.store);
  json_decref (checkup.daemon);
  json_decref (checkup.surroundings);
  json_decref (checkup.containers);
  return well ? 0 : 1;
}

static const struct cli_command commands[] = {
    {"store", "[--check]", "show where records and files are kept, and how full that is; or check it",
     cli_doctor_store, .examples = "adder doctor store\nadder doctor store --check"},
    {0},
};

int
cli_doctor (int argc, char **argv)
{
  int code = CLI_FAILED;
  if (cli_dispatch_optional ("adder doctor", "Checks this host.", commands, argc, argv, &code))
    return code;
  return cli_stays_here () ? check_host (argc, argv) : code;
}
