/* SPDX-License-Identifier: Apache-2.0 */
/* adder.conf: one table of keys. Reading, showing and documenting are three loops over it; a default is text
 * that goes through the same parser as a file's value, so it cannot be out of its own bounds. */
#include "common/config.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "build-config.h"
#include "common/error.h"
#include "common/json.h"
#include "common/paths.h"
#include "common/size.h"
#include "common/text.h"
#include "sandbox/host_memory.h"
#include "sandbox/isolation.h"

enum config_type {
  CONFIG_TEXT,
  CONFIG_URL, /* its password is not shown */
  CONFIG_PATH,
  CONFIG_CHOICE,
  CONFIG_BOOLEAN,
  CONFIG_COUNT,
  CONFIG_DURATION,
  CONFIG_SIZE
};

struct config_row {
  const char *group, *key;
  enum config_type type;
  size_t offset;
  const char *standard;     /* NULL: what computed() says, or nothing */
  char *(*computed) (void); /* a default that depends on the host */
  const char *computed_as;  /* what the documentation says of it */
  guint64 minimum, maximum; /* of counts, durations and sizes */
  const char *const *choices;
  const char *text;
};

#define AT(field) offsetof (struct config, field)
#define SECOND    G_GUINT64_CONSTANT (1000)
#define MIB       (G_GUINT64_CONSTANT (1) << 20)
#define HOUR      (3600 * SECOND)
#define DAY       (24 * HOUR)

static char *
cores_and_two (void)
{
  return g_strdup_printf ("%u", g_get_num_processors () + 2);
}

static char *
four_a_core (void)
{
  return g_strdup_printf ("%u", MAX (8, 4 * g_get_num_processors ()));
}

/* Two runs with the usual limit should fit, however small the host: few come near it. */
#define MEMORY_LEAST (2048 * MIB)
static char *
half_of_memory (void)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT, CLAMP (host_memory_bytes () / 2, 256 * MIB, 64 * 1024 * MIB));
}

static const char *const levels[] = {"auto", "0", "1", "2", "3", NULL};
static const char *const cgroup_kinds[] = {"auto", "v2", "v1", "none", NULL};
const char *const config_roles[] = {"guest", "user", "admin", NULL};
static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL};
static const char *const log_formats[] = {"auto", "text", "json", NULL};

/* The highest id is -1 to the kernel, 0 would be the host's root: neither may be what a sandbox runs as. */
#define ID_MAXIMUM 4294967294u

static const struct config_row config_table[] = {
    {"daemon", "socket", CONFIG_PATH, AT (socket), .computed_as = "adder.sock in the runtime directory",
     .text = "The local socket on which `adder serve` answers."},
    {"daemon", "idle_exit_ms", CONFIG_DURATION, AT (idle_exit_ms), "10min", .maximum = 7 * DAY,
     .text = "A daemon that `adder run` started in the background ends after so long without a request. 0: "
             "never."},
    {"environment", "default", CONFIG_TEXT, AT (environment), "science",
     .text = "The environment of a run that names none, and of a profile that names none."},
    {"pool", "parked", CONFIG_COUNT, AT (parked), NULL, cores_and_two, "cores + 2", 1, 1024,
     .text =
         "Sandboxes of each environment that are kept ready, waiting for code. Each reserves 6 MiB; together "
         "they have a quarter of `max_memory` at most."},
    {"pool", "max_running", CONFIG_COUNT, AT (max_running), NULL, four_a_core, "4 for each core, at least 8",
     1, 4096, .text = "Sandboxes that may run at once. Further runs wait."},
    {"pool", "max_memory", CONFIG_SIZE, AT (max_memory),
     .computed_as =
         "three quarters of the memory of the host, or of the daemon's control group where that has "
         "less; at least 2 GiB",
     .minimum = 64 * MIB, .maximum = 64 * MIB * MIB,
     .text =
         "Memory that sandboxes may use in all. A run reserves its `memory_bytes`; where too little is free "
         "it "
         "waits, and where there could never be enough it is refused. Most runs need a small part of their "
         "limit: set this above what there is, and more of them run at once."},
    {"pool", "max_queued", CONFIG_COUNT, AT (max_queued), "1024", .maximum = 65536,
     .text = "Runs that may wait. A further one ends at once as `busy`, or takes the place of the newest of "
             "an owner who "
             "has at least two more."},
    {"pool", "queue_wait_ms", CONFIG_DURATION, AT (queue_wait_ms), "30s", .maximum = HOUR,
     .text = "The longest that a run waits for a sandbox before it ends as `busy`."},
    {"pool", "zygote_runs", CONFIG_COUNT, AT (zygote_runs), "20000", .minimum = 1,
     .maximum = 100 * 1000 * 1000,
     .text = "A zygote is replaced after so many runs, because its sandboxes share its address layout."},
    {"pool", "zygote_age_ms", CONFIG_DURATION, AT (zygote_age_ms), "6h", .minimum = SECOND,
     .maximum = 30 * DAY, .text = "A zygote is replaced when it is so old."},
    {"pool", "zygote_start_ms", CONFIG_DURATION, AT (zygote_start_ms), "60s", .minimum = SECOND,
     .maximum = HOUR,
     .text = "The longest that a zygote may take to start and to load its modules; and to answer when it "
             "is asked for a sandbox, up to 10 s."},
    {"pool", "crash_budget", CONFIG_COUNT, AT (crash_budget), "50", .minimum = 1, .maximum = 100 * 1000,
     .text = "Crashes of its sandboxes within an hour after which a zygote is replaced; again only when "
             "twenty times as "
             "long as it takes to start one has gone by."},
    {"pool", "touch_ahead", CONFIG_BOOLEAN, AT (touch_ahead), "true",
     .text = "Whether a parked sandbox touches ahead the memory that runs are known to write. It holds some "
             "megabytes more for it, and saves each run hundreds of page faults."},
    {"sessions", "idle_ms", CONFIG_DURATION, AT (session_idle_ms), "30min", .minimum = 10, .maximum = 7 * DAY,
     .text = "A session ends when it was not used for so long."},
    {"sessions", "max_sessions", CONFIG_COUNT, AT (max_sessions), "64", .minimum = 1, .maximum = 4096,
     .text = "Sessions that live at once. For a further one, the one that was idle longest ends."},
    {"sessions", "max_sessions_per_owner", CONFIG_COUNT, AT (max_sessions_owner), "10", .minimum = 1,
     .maximum = 4096, .text = "The same for the sessions of one owner."},
    {"sessions", "parked", CONFIG_COUNT, AT (sessions_parked), "1", .minimum = 0, .maximum = 64,
     .text = "Sandboxes that each environment keeps parked for sessions, once somebody made one: theirs have "
             "another shape."},
    {"sessions", "max_checkpoints", CONFIG_COUNT, AT (max_checkpoints), "8", .minimum = 0, .maximum = 256,
     .text = "Checkpoints that one session may have at once. Each holds on to the memory that it is "
             "different in."},
    {"sessions", "max_memory", CONFIG_SIZE, AT (max_sessions_memory), NULL, half_of_memory,
     "half of the host's memory", 16 * MIB, (guint64)1 << 44,
     .text = "Memory that all sessions may hold together. Above it, the one that was idle longest ends."},
    {"sessions", "history_bytes", CONFIG_SIZE, AT (history_bytes), "1MiB", .minimum = 4096,
     .maximum = 64 * MIB,
     .text = "Code that one session remembers of its cells; the oldest is forgotten first."},
    {"sessions", "idle_cpu_ms", CONFIG_DURATION, AT (idle_cpu_ms), "1s", .minimum = 1, .maximum = 60 * SECOND,
     .text = "Processor time in each minute that threads may use which a session left running between its "
             "cells. Above it the session ends."},
    {"sessions", "interrupt_grace_ms", CONFIG_DURATION, AT (interrupt_grace_ms), "2s", .minimum = 1,
     .maximum = 60 * SECOND,
     .text = "How long the code of a session may take to end when it is interrupted. After that the session "
             "ends."},
    {"review", "expire_ms", CONFIG_DURATION, AT (review_expire_ms), "1d", .minimum = SECOND,
     .maximum = 30 * DAY,
     .text = "Changes of a run with `--review` that nobody decides on are dropped after so long."},
    {"review", "max_waiting", CONFIG_COUNT, AT (max_reviews), "32", .minimum = 1, .maximum = 4096,
     .text = "Runs of one owner whose changes may wait at once. Those of a further one cannot be kept."},
    {"review", "max_bytes", CONFIG_SIZE, AT (max_reviews_bytes), "1GiB", .minimum = MIB,
     .maximum = 1024 * 1024 * MIB,
     .text = "What the files of all of them may have, on disk, until they are made real or dropped."},
    {"store", "records", CONFIG_URL, AT (store_records), "sqlite",
     .text =
         "Where records of runs and the rows of files are: `sqlite` (`store/records.db` in the state "
         "directory), `sqlite:/path`, `postgresql://user@host/database` (for many nodes), `none`: nothing "
         "is kept."},
    {"store", "blobs", CONFIG_URL, AT (store_blobs), "directory",
     .text =
         "Where files of runs and long output are: `directory` (`store/` in the state directory), "
         "`directory:/path`, `s3://bucket?endpoint=https://host:port&region=us-east-1` (for many nodes), "
         "`none`: none are kept. Keys for S3 stand in `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` of "
         "the daemon's environment, or in the file that `credentials=/path` names; `docs/store.md` has the "
         "rest."},
    {"store", "node", CONFIG_TEXT, AT (store_node), .computed_as = "the host's name",
     .text = "The name of this machine in records, whose chain of digests is its own."},
    {"store", "code", CONFIG_BOOLEAN, AT (store_code), "true",
     .text = "Whether a record holds the code itself, or its digest alone. Code can hold secrets."},
    {"store", "timeout_ms", CONFIG_DURATION, AT (store_timeout_ms), "5s", .minimum = 100,
     .maximum = 10 * 60 * SECOND,
     .text = "The longest that a database or a file server may take to answer. What could not be kept is a "
             "warning of the run's result."},
    {"store", "record_age_ms", CONFIG_DURATION, AT (store_record_age_ms), "90d", .maximum = 3650 * DAY,
     .text = "Records older than this are removed. 0: age removes none."},
    {"store", "max_records", CONFIG_COUNT, AT (store_record_count), "1000000", .minimum = 100,
     .maximum = 1000 * 1000 * 1000, .text = "The oldest records of a node beyond so many are removed."},
    {"store", "max_record_bytes", CONFIG_SIZE, AT (store_record_bytes), "2GiB", .minimum = MIB,
     .maximum = 1024 * 1024 * MIB, .text = "The same by what they hold."},
    {"store", "file_age_ms", CONFIG_DURATION, AT (store_file_age_ms), "7d", .minimum = SECOND,
     .maximum = 3650 * DAY, .text = "A file of a run, or one that was put in, is removed after so long."},
    {"store", "max_file_bytes", CONFIG_SIZE, AT (store_file_bytes), "16GiB", .minimum = MIB,
     .maximum = 1024 * 1024 * MIB, .text = "The largest file that may be put in."},
    {"store", "max_files_per_owner", CONFIG_COUNT, AT (store_files_owner), "10000", .minimum = 10,
     .maximum = 100 * 1000 * 1000, .text = "Files of one owner; for a further one, the oldest is removed."},
    {"store", "max_bytes_per_owner", CONFIG_SIZE, AT (store_bytes_owner), "32GiB", .minimum = MIB,
     .maximum = 1024 * 1024 * MIB, .text = "The same by their bytes."},
    {"store", "output_age_ms", CONFIG_DURATION, AT (store_output_age_ms), "1d", .minimum = SECOND,
     .maximum = 3650 * DAY,
     .text = "Long output, of which a reply has head and tail, can be read whole for so long."},
    {"store", "cache_bytes", CONFIG_SIZE, AT (store_cache_bytes), "4GiB", .maximum = 1024 * 1024 * MIB,
     .text = "Copies of files of an S3 bucket that are kept on this machine, for runs that load them."},
    {"store", "url", CONFIG_TEXT, AT (store_url), .computed_as = "none: URLs begin with `/v1/files/`",
     .text = "What URLs of files begin with: `https://adder.example.org`."},
    {"store", "url_age_ms", CONFIG_DURATION, AT (store_url_age_ms), "1d", .minimum = SECOND,
     .maximum = 365 * DAY, .text = "How long a signed URL of a file holds."},
    {"approval", "expire_ms", CONFIG_DURATION, AT (approval_expire_ms), "1h", .minimum = SECOND,
     .maximum = 7 * DAY,
     .text =
         "An approval that nobody decides is forgotten after so long; so is a yes that nobody used, and a "
         "no."},
    {"approval", "always_ms", CONFIG_DURATION, AT (approval_always_ms), "12h", .minimum = SECOND,
     .maximum = 30 * DAY,
     .text = "An \"always\" for a conversation ends when nothing made use of it for so long."},
    {"approval", "max_pending", CONFIG_COUNT, AT (max_approvals), "128", .minimum = 1, .maximum = 4096,
     .text = "Approvals that may wait at once. What would need a further one ends as `busy`."},
    {"approval", "max_pending_per_owner", CONFIG_COUNT, AT (max_approvals_owner), "32", .minimum = 1,
     .maximum = 4096, .text = "The same for the approvals of one owner."},
    {"approval", "max_bytes", CONFIG_SIZE, AT (max_approvals_bytes), "64MiB", .minimum = MIB,
     .maximum = 4096 * MIB, .text = "Code, arguments and variables that all of them may hold to be shown."},
    {"tools", "max_contexts", CONFIG_COUNT, AT (max_contexts), "1024", .minimum = 1, .maximum = 65536,
     .text =
         "Conversations whose values `compute_with_python` remembers. For a further one, the one that was "
         "not used for longest is forgotten."},
    {"tools", "max_contexts_per_owner", CONFIG_COUNT, AT (max_contexts_owner), "256", .minimum = 1,
     .maximum = 65536, .text = "The same for the conversations of one owner."},
    {"tools", "context_values", CONFIG_COUNT, AT (context_values), "64", .maximum = 255,
     .text = "Values that one conversation may have under names of its own (`store_as`)."},
    {"tools", "context_bytes", CONFIG_SIZE, AT (context_bytes), "1MiB", .minimum = 1024, .maximum = 64 * MIB,
     .text = "What the names and values of one conversation may take together. A value for which there is no "
             "room is not kept, and the reply says so."},
    {"tools", "context_idle_ms", CONFIG_DURATION, AT (context_idle_ms), "1h", .minimum = 10,
     .maximum = 7 * DAY,
     .text = "A conversation's values are forgotten when it did not use them for so long."},
    {"tools", "file_endings", CONFIG_TEXT, AT (file_endings), .computed_as = "none",
     .text = "Endings of files, between blanks, that `run_python` of the toolset `code_executor` gives back "
             "beside those that it knows: `docx sqlite`."},
    {"loops", "failures", CONFIG_COUNT, AT (loop_failures), "3", .maximum = 16,
     .text =
         "Code that failed so often in its conversation since something last succeeded there is refused, and "
         "so is nearly the same code when the error was always the same. 0: never."},
    {"loops", "forget_ms", CONFIG_DURATION, AT (loop_forget_ms), "30min", .minimum = SECOND,
     .maximum = 7 * DAY, .text = "What failed is forgotten when its conversation ran nothing for so long."},
    {"loops", "max_conversations", CONFIG_COUNT, AT (max_loops), "1024", .minimum = 1, .maximum = 16384,
     .text =
         "Conversations whose failures are remembered; those that ran nothing for longest are forgotten."},
    {"loops", "max_conversations_per_owner", CONFIG_COUNT, AT (max_loops_owner), "256", .minimum = 1,
     .maximum = 16384, .text = "The same for the conversations of one owner."},
    {"sandbox", "isolation", CONFIG_CHOICE, AT (isolation), "auto", .choices = isolation_names,
     .text =
         "The best kind of sandbox that is used: `namespaces` (level 2, with control groups 3), `process` "
         "(level 1), `none` (level 0: nothing is confined). `auto`: what the host allows, but never `none`."},
    {"sandbox", "min_isolation", CONFIG_CHOICE, AT (min_isolation), "auto", .choices = levels,
     .text =
         "A run is refused on a host that does not reach this level. A profile may ask for more. `auto`: 2, "
         "unless `isolation` here or `--isolation` of the run names a kind that cannot come to that."},
    {"sandbox", "cgroup", CONFIG_CHOICE, AT (cgroup), "auto", .choices = cgroup_kinds,
     .text =
         "Which control groups hold a run's memory and processes. `auto`: the best that the host allows."},
    {"sandbox", "root_uid", CONFIG_COUNT, AT (root_uid), "65530", .minimum = 1, .maximum = ID_MAXIMUM,
     .text = "The user id of the host that a root daemon's sandboxes run as. Nothing else should use it."},
    {"sandbox", "root_gid", CONFIG_COUNT, AT (root_gid), "65530", .minimum = 1, .maximum = ID_MAXIMUM,
     .text = "The same for the group id."},
    {"roles", "default", CONFIG_CHOICE, AT (role_default), "admin", .choices = config_roles,
     .text = "The role of a caller that names none. Who asks at the local socket has the account that the "
             "daemon runs in, and may name any."},
    {"roles", "guest_profiles", CONFIG_TEXT, AT (guest_profiles), "*",
     .text = "The profiles that a guest may use, of those whose `role` is `guest`: names with `*` and `?`, "
             "between blanks; `none`: none of them."},
    {"roles", "guest_tools", CONFIG_TEXT, AT (guest_tools), "*",
     .text = "The tools that a guest may call, likewise."},
    {"roles", "user_profiles", CONFIG_TEXT, AT (user_profiles), "*",
     .text = "The same for the role `user`. An admin may use all."},
    {"roles", "user_tools", CONFIG_TEXT, AT (user_tools), "*", .text = "The same for the role `user`."},
    {"network", "parked", CONFIG_COUNT, AT (network_parked), "1", .minimum = 0, .maximum = 64,
     .text =
         "Sandboxes that each environment keeps parked for runs that may reach chosen hosts, once there was "
         "one: theirs have another shape."},
    {"network", "max_connections", CONFIG_COUNT, AT (network_connections), "512", .minimum = 1,
     .maximum = 4096, .text = "Connections of all runs together that the proxy carries at once."},
    {"network", "private_networks", CONFIG_TEXT, AT (private_networks), "none",
     .text = "Private networks that runs may reach where their profile allows a host in them: `10.1.0.0/16`, "
             "`fd00:1::/32`, between blanks. All other private, local and special addresses are refused, "
             "whatever name leads to them."},
    {"log", "level", CONFIG_CHOICE, AT (log_level), "info", .choices = log_levels,
     .text = "The least important messages that are still logged."},
    {"log", "format", CONFIG_CHOICE, AT (log_format), "auto", .choices = log_formats,
     .text =
         "`text`, or `json`: one object on each line. `auto`: text, and at the journal with its priorities."},
    {"log", "code", CONFIG_BOOLEAN, AT (log_code), "false",
     .text = "Whether the code of a run may be logged. Code can hold secrets."},
};

#define FIELD(config, row, type) ((type *)(void *)((char *)(config) + (row)->offset))

static gboolean
is_text (const struct config_row *row)
{
  return row->type == CONFIG_TEXT || row->type == CONFIG_URL || row->type == CONFIG_PATH ||
         row->type == CONFIG_CHOICE;
}

/* ---- reading ---- */

static gboolean
set_text (const struct config_row *row, struct config *config, const char *value, GError **error)
{
  if (row->type == CONFIG_PATH && !g_path_is_absolute (value)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not an absolute path", value);
    return FALSE;
  }
  if (row->type == CONFIG_CHOICE && !g_strv_contains (row->choices, value)) {
    g_autofree char *known = g_strjoinv (", ", (GStrv)row->choices);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is none of: %s", value, known);
    return FALSE;
  }
  if (value[0] == '\0') {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the value is empty");
    return FALSE;
  }
  char **field = FIELD (config, row, char *);
  g_free (*field);
  *field = g_strdup (value);
  return TRUE;
}

static gboolean
set_boolean (const struct config_row *row, struct config *config, const char *value, GError **error)
{
  gboolean yes = strcmp (value, "true") == 0;
  if (!yes && strcmp (value, "false") != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is neither true nor false", value);
    return FALSE;
  }
  *FIELD (config, row, gboolean) = yes;
  return TRUE;
}

static enum limit_unit
unit_of (const struct config_row *row)
{
  if (row->type == CONFIG_SIZE)
    return UNIT_BYTES;
  return row->type == CONFIG_DURATION ? UNIT_MS : UNIT_COUNT;
}

static gboolean
set_number (const struct config_row *row, struct config *config, const char *value, GError **error)
{
  guint64 number;
  if (!quantity_parse (value, unit_of (row), &number, error))
    return FALSE;
  if (number < row->minimum || number > row->maximum) {
    g_autofree char *least = quantity_format (row->minimum, unit_of (row));
    g_autofree char *most = quantity_format (row->maximum, unit_of (row));
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is not between %s and %s", value, least, most);
    return FALSE;
  }
  *FIELD (config, row, guint64) = number;
  return TRUE;
}

static gboolean
set_value (const struct config_row *row, struct config *config, const char *value, GError **error)
{
  if (is_text (row))
    return set_text (row, config, value, error);
  if (row->type == CONFIG_BOOLEAN)
    return set_boolean (row, config, value, error);
  return set_number (row, config, value, error);
}

static const struct config_row *
find_row (const char *group, const char *key)
{
  for (gsize i = 0; i < G_N_ELEMENTS (config_table); i++)
    if (strcmp (config_table[i].group, group) == 0 && strcmp (config_table[i].key, key) == 0)
      return &config_table[i];
  return NULL;
}

static gboolean
read_key (struct config *config, GKeyFile *keys, const char *file, const char *group, const char *key,
          GError **error)
{
  const struct config_row *row = find_row (group, key);
  if (!row) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s: [%s] %s: there is no such key (see adder config show)", file, group, key);
    return FALSE;
  }
  g_autoptr (GError) problem = NULL;
  g_autofree char *value = g_key_file_get_string (keys, group, key, &problem);
  if (problem || !set_value (row, config, g_strstrip (value), &problem)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s: [%s] %s: %s", file, group, key,
                 problem->message);
    return FALSE;
  }
  char **source = &config->sources[row - config_table];
  g_free (*source);
  *source = g_strdup (file);
  return TRUE;
}

static gboolean
read_file (struct config *config, const char *file, gboolean required, GError **error)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_autoptr (GError) problem = NULL;
  if (!g_key_file_load_from_file (keys, file, G_KEY_FILE_NONE, &problem)) {
    gboolean missing = g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
                       g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOTDIR);
    if (missing && !required)
      return TRUE;
    g_set_error (error, ADDER_ERROR, missing ? ADDER_ERROR_NOT_FOUND : ADDER_ERROR_INVALID,
                 "cannot read the configuration %s: %s", file, problem->message);
    return FALSE;
  }
  g_auto (GStrv) groups = g_key_file_get_groups (keys, NULL);
  for (gsize i = 0; groups[i]; i++) {
    g_auto (GStrv) names = g_key_file_get_keys (keys, groups[i], NULL, NULL);
    for (gsize j = 0; names && names[j]; j++)
      if (!read_key (config, keys, file, groups[i], names[j], error))
        return FALSE;
  }
  return TRUE;
}

static void
set_defaults (struct config *config)
{
  config->sources = g_new0 (char *, G_N_ELEMENTS (config_table) + 1);
  for (gsize i = 0; i < G_N_ELEMENTS (config_table); i++) {
    const struct config_row *row = &config_table[i];
    config->sources[i] = g_strdup ("default");
    g_autofree char *value = row->computed ? row->computed () : g_strdup (row->standard);
    g_autoptr (GError) problem = NULL;
    if (value && !set_value (row, config, value, &problem))
      g_error ("the default of [%s] %s is wrong: %s", row->group, row->key, problem->message);
  }
}

struct config *
config_load (const char *file, GError **error)
{
  struct config *config = g_new0 (struct config, 1);
  set_defaults (config);

  g_autofree char *directory = paths_config_dir ();
  g_autofree char *user = g_build_filename (directory, "adder.conf", NULL);
  const char *system = ADDER_SYSCONFDIR "/adder.conf";
  const char *given = g_getenv ("ADDER_CONFIG_DIR");
  gboolean alone = (given && given[0] != '\0') || strcmp (user, system) == 0;

  gboolean ok =
      file ? read_file (config, file, TRUE, error)
           : (alone || read_file (config, system, FALSE, error)) && read_file (config, user, FALSE, error);
  if (!ok) {
    error_make_printable (error);
    g_clear_pointer (&config, config_free);
  }
  return config;
}

void
config_free (struct config *config)
{
  if (!config)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (config_table); i++)
    if (is_text (&config_table[i]))
      g_free (*FIELD (config, &config_table[i], char *));
  g_strfreev (config->sources);
  g_free (config);
}

char *
config_socket (const struct config *config, GError **error)
{
  if (config->socket)
    return g_strdup (config->socket);
  g_autofree char *directory = paths_runtime_dir (error);
  return directory ? g_build_filename (directory, "adder.sock", NULL) : NULL;
}

guint64
config_max_memory (const struct config *config)
{
  return config->max_memory ? config->max_memory : MAX (host_memory_bytes () / 4 * 3, MEMORY_LEAST);
}

/* ---- showing ---- */

/* What is found out when it is needed. */
static gboolean
is_left_open (const struct config *config, const struct config_row *row)
{
  if (is_text (row))
    return *FIELD (config, row, char *) == NULL;
  return row->computed_as && !row->computed && *FIELD (config, row, guint64) == 0;
}

/* As people may see it, or NULL. The caller's. */
static char *
shown_text (const struct config *config, const struct config_row *row)
{
  const char *value = *FIELD (config, row, char *);
  return value && row->type == CONFIG_URL ? text_without_password (value) : g_strdup (value);
}

static json_t *
value_json (const struct config *config, const struct config_row *row)
{
  if (is_text (row)) {
    g_autofree char *value = shown_text (config, row);
    return json_text_or_null (value);
  }
  if (is_left_open (config, row))
    return json_null ();
  if (row->type == CONFIG_BOOLEAN)
    return json_boolean (*FIELD (config, row, gboolean));
  return json_integer ((json_int_t)*FIELD (config, row, guint64));
}

/* As it may stand in adder.conf, but for passwords. */
static char *
value_text (const struct config *config, const struct config_row *row)
{
  if (is_text (row))
    return shown_text (config, row);
  if (is_left_open (config, row))
    return NULL;
  if (row->type == CONFIG_BOOLEAN)
    return g_strdup (*FIELD (config, row, gboolean) ? "true" : "false");
  return g_strdup_printf ("%" G_GUINT64_FORMAT, *FIELD (config, row, guint64));
}

static void
show_json (const struct config *config, FILE *stream)
{
  g_autoptr (json_t) all = json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (config_table); i++) {
    const struct config_row *row = &config_table[i];
    json_t *group = json_object_get (all, row->group);
    if (!group) {
      group = json_object ();
      json_object_set_new (all, row->group, group);
    }
    json_object_set_new (group, row->key,
                         json_pack ("{s:o, s:o}", "value", value_json (config, row), "source",
                                    json_text_or_null (config->sources[i])));
  }
  g_autofree char *text = json_to_text (all);
  fprintf (stream, "%s\n", text);
}

void
config_show (const struct config *config, gboolean json, FILE *stream)
{
  if (json) {
    show_json (config, stream);
    return;
  }
  const char *group = "";
  for (gsize i = 0; i < G_N_ELEMENTS (config_table); i++) {
    const struct config_row *row = &config_table[i];
    if (strcmp (group, row->group) != 0)
      fprintf (stream, "%s[%s]\n", group[0] ? "\n" : "", row->group);
    group = row->group;
    g_autofree char *value = value_text (config, row);
    if (!value)
      fprintf (stream, "# %s is %s\n", row->key, row->computed_as);
    else
      fprintf (stream, "%s = %s\n", row->key, value);
    if (strcmp (config->sources[i], "default") != 0)
      fprintf (stream, "#   from %s\n", config->sources[i]);
  }
}

/* ---- documenting ---- */

static char *
kind_text (const struct config_row *row)
{
  switch (row->type) {
  case CONFIG_PATH:
    return g_strdup ("absolute path");
  case CONFIG_CHOICE: {
    g_autofree char *known = g_strjoinv ("`, `", (GStrv)row->choices);
    return g_strdup_printf ("`%s`", known);
  }
  case CONFIG_BOOLEAN:
    return g_strdup ("`true`, `false`");
  case CONFIG_COUNT:
  case CONFIG_DURATION:
  case CONFIG_SIZE: {
    g_autofree char *least = quantity_format (row->minimum, unit_of (row));
    g_autofree char *most = quantity_format (row->maximum, unit_of (row));
    return g_strdup_printf ("%s to %s", least, most);
  }
  case CONFIG_TEXT:
  case CONFIG_URL:
  default:
    return g_strdup ("text");
  }
}

static void
write_keys (FILE *stream)
{
  const char *group = "";
  for (gsize i = 0; i < G_N_ELEMENTS (config_table); i++) {
    const struct config_row *row = &config_table[i];
    if (strcmp (group, row->group) != 0)
      fprintf (stream, "\n### [%s]\n\n| key | default | values | what it is |\n|---|---|---|---|\n",
               row->group);
    group = row->group;
    g_autofree char *kind = kind_text (row);
    if (row->computed_as)
      fprintf (stream, "| `%s` | %s | %s | %s |\n", row->key, row->computed_as, kind, row->text);
    else
      fprintf (stream, "| `%s` | `%s` | %s | %s |\n", row->key, row->standard, kind, row->text);
  }
}

static void
write_limits (FILE *stream)
{
  fputs ("\n| limit | default | least | most | what is bounded |\n|---|---|---|---|---|\n", stream);
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    g_autofree char *standard = quantity_format (row->standard, row->unit);
    g_autofree char *least = quantity_format (row->minimum, row->unit);
    g_autofree char *most = quantity_format (row->maximum, row->unit);
    fprintf (stream, "| `%s` | %s | %s | %s | %s%s |\n", row->name, standard, least, most, row->text,
             row->shape ? " *" : "");
  }
}

void
config_write_documentation (FILE *stream)
{
  fputs ("<!-- Made by `adder config document`; a test compares the two. Change src/common/config.c instead. "
         "-->\n"
         "# Configuration\n"
         "\n"
         "Adder needs no configuration. What a host or a user wants otherwise stands in `adder.conf`, a file "
         "of groups and\n"
         "keys. The system's (`/etc/adder/adder.conf` for a package, below the prefix of the build "
         "otherwise) is read first,\n"
         "then the user's (`$XDG_CONFIG_HOME/adder/adder.conf`, so `~/.config/adder/adder.conf`); a key in "
         "the later one wins.\n"
         "Where `$ADDER_CONFIG_DIR` is set, only `adder.conf` in that folder is read. An unknown key or a "
         "value out of bounds\n"
         "is an error that names file, group and key. `adder config show` prints what is in force and where "
         "it came from.\n"
         "\n"
         "A duration is a number with `ms`, `s`, `min`, `h` or `d`, a size one with `K`, `M`, `G` or `T` (or "
         "`KiB` ..., powers of\n"
         "1024; `kB`, `MB` ..., powers of 1000). Without a unit, a number is in what the key's name ends in: "
         "`_ms`, `_bytes`; `max_memory` is in bytes.\n"
         "\n"
         "## adder.conf\n",
         stream);
  write_keys (stream);
  fputs (
      "\n"
      "## Profiles\n"
      "\n"
      "A profile is a named set of limits and rules, one file `NAME.conf`: [profiles.md](profiles.md) and, "
      "key "
      "for key,\n"
      "[profile-keys.md](profile-keys.md). Adder brings some (`adder profile list`); a user's own lie in "
      "`profiles/` beside\n"
      "`adder.conf`, and one of the same name wins.\n"
      "\n"
      "## Limits\n"
      "\n"
      "Set for one run with `adder run --limit NAME=VALUE`, or `adder_request_set_limit`. A value above the "
      "most is an error, never\n"
      "a silent cut. A limit that is not the default's and is marked * needs a sandbox of its own making, so "
      "the run starts\n"
      "some milliseconds later.\n",
      stream);
  write_limits (stream);
  fputs ("\n"
         "## Environment variables\n"
         "\n"
         "| variable | what it is |\n"
         "|---|---|\n"
         "| `ADDER_CONFIG_DIR` | Folder with `adder.conf` and `profiles/`, in place of the usual ones. |\n"
         "| `ADDER_RUNTIME_DIR` | Folder for socket, lock and log of the daemon: else `/run/adder` for root, "
         "`$XDG_RUNTIME_DIR/adder`, or `/tmp/adder-UID`. |\n"
         "| `ADDER_STATE_DIR` | Folder for what outlives the daemon, such as changes that wait for a yes: "
         "else `/var/lib/adder` for root, `$XDG_STATE_HOME/adder`. |\n"
         "| `ADDER_ENVIRONMENTS_DIR` | Folder with environments, in place of the usual ones. |\n"
         "| `ADDER_LIBEXECDIR` | Folder with the runner's programs, when Adder was moved. |\n"
         "| `ADDER_DATADIR` | Folder with the profiles and environments that Adder brings. |\n"
         "| `NO_COLOR` | Set to anything: no colours at a terminal. |\n",
         stream);
}
