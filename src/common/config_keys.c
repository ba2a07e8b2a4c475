/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of adder.conf, and what holds where nothing is said. */
#include "common/config_private.h"
#include "sandbox/host_memory.h"
#include "sandbox/isolation.h"

#define AT(field) offsetof (struct config, field), FALSE
/* One that is read anew wherever it is used, and whose member is atomic. */
#define LIVE(field)                                                                                          \
  offsetof (struct config, field) +                                                                          \
      0 * _Generic(&((struct config *)NULL)->field, live_number * : 0, live_flag * : 0, live_text * : 0),    \
      TRUE
#define SECOND G_GUINT64_CONSTANT (1000)
#define MIB    (G_GUINT64_CONSTANT (1) << 20)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

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

static char *
half_of_memory (void)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT, CLAMP (host_memory_bytes () / 2, 256 * MIB, 64 * 1024 * MIB));
}

static const char *const levels[] = {"auto", "0", "1", "2", "3", "4", NULL};
static const char *const own_kinds[] = {"auto", "none", "process", "namespaces", NULL};
static const char *const container_engines[] = {"auto", "docker", "podman", "none", NULL};
static const char *const cgroup_kinds[] = {"auto", "v2", "v1", "none", NULL};
const char *const config_roles[] = {"guest", "user", "admin", NULL};
static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL};
static const char *const log_formats[] = {"auto", "text", "json", NULL};

/* The highest id is -1 to the kernel, 0 would be the host's root: neither may be what a sandbox runs as. */
#define ID_MAXIMUM 4294967294u

const struct config_row config_table[] = {
    {"daemon", "socket", CONFIG_PATH, AT (socket), .computed_as = "adder.sock in the runtime directory",
     .text = "The local socket on which `adder serve` answers."},
    {"daemon", "idle_exit_ms", CONFIG_DURATION, AT (idle_exit_ms), "10min", .maximum = 7 * DAY,
     .text = "A daemon that `adder run` started in the background ends after so long without a request. 0: "
             "never."},
    {"environment", "default", CONFIG_TEXT, AT (environment), "science",
     .text = "The environment of a run that names none, and of a profile that names none."},
    {"environment", "own_most", CONFIG_COUNT, AT (own_environments), "8", .minimum = 0, .maximum = 64,
     .text =
         "How many environments of callers' own (`docs/tools.md`) a daemon serves. 0: none, and such calls "
         "have the default one."},
    {"packages", "most", CONFIG_COUNT, AT (packages_most), "16", .maximum = 64,
     .text = "How many packages one run may ask for (`--with`). 0: none."},
    {"packages", "requirement_bytes", CONFIG_SIZE, AT (packages_requirement_bytes), "200", .minimum = 1,
     .maximum = 1000, .text = "The longest requirement, such as `polars==1.9`."},
    {"packages", "environment_bytes", CONFIG_SIZE, AT (packages_environment_bytes), "1GiB", .minimum = MIB,
     .maximum = 100 * 1024 * MIB,
     .text = "The most that the packages of one run may have on disk, with all that they need and the "
             "environment has not."},
    {"packages", "build_bytes", CONFIG_SIZE, AT (packages_build_bytes),
     .computed_as = "twice `environment_bytes`", .minimum = MIB, .maximum = 200 * 1024 * MIB,
     .text = "The most that they may have on disk while pip installs them, with what it downloads. No file "
             "of theirs may be larger."},
    {"packages", "cache_bytes", CONFIG_SIZE, AT (packages_cache_bytes), "4GiB", .minimum = MIB,
     .maximum = 1024 * 1024 * MIB,
     .text = "The most that all environments which were made for runs with packages may have together. Those "
             "that were not used for longest are removed first."},
    {"packages", "cache_bytes_per_owner", CONFIG_SIZE, AT (packages_cache_bytes_owner),
     .computed_as = "half of `cache_bytes`, and at least `environment_bytes`", .minimum = MIB,
     .maximum = 1024 * 1024 * MIB,
     .text =
         "The same of those that were made for one owner: a further one takes the place of that owner's."},
    {"packages", "sets", CONFIG_COUNT, AT (packages_sets), "64", .minimum = 1, .maximum = 256,
     .text = "How many environments with packages of runs are kept on disk, and how many a daemon serves. "
             "One more takes the place of the one that was not used for longest and is not in use."},
    {"packages", "sets_per_owner", CONFIG_COUNT, AT (packages_sets_owner), "16", .minimum = 1, .maximum = 256,
     .text = "The same for one owner, of whose own one makes room."},
    {"packages", "builds", CONFIG_COUNT, AT (packages_builds), "4", .minimum = 1, .maximum = 64,
     .text = "How many sets of packages are installed at once. Further ones wait, as long as one may take "
             "(`install_ms`)."},
    {"packages", "builds_per_owner", CONFIG_COUNT, AT (packages_builds_owner), "2", .minimum = 1,
     .maximum = 64, .text = "How many of them for one owner."},
    {"packages", "builds_waiting_per_owner", CONFIG_COUNT, AT (packages_builds_waiting), "8", .maximum = 64,
     .text = "How many of one owner may wait for that. A further one ends at once as `busy`."},
    {"packages", "install_ms", CONFIG_DURATION, AT (packages_install_ms), "5min", .minimum = SECOND,
     .maximum = HOUR, .text = "The longest that pip may take to install the packages of a run."},
    {"packages", "warm", CONFIG_COUNT, AT (packages_warm), "4", .minimum = 1, .maximum = 64,
     .text = "How many environments with packages of runs a daemon keeps an interpreter ready for. One more "
             "takes the place of the one that was not used for longest."},
    {"packages", "sources", CONFIG_BOOLEAN, AT (packages_sources), "false",
     .text = "Whether packages may be built from their sources, which runs their code on this machine, not "
             "confined. Else only wheels are installed."},
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
    {"pool", "queue_wait_ms", CONFIG_DURATION, LIVE (queue_wait_ms), "30s", .maximum = HOUR,
     .text = "The longest that a run waits for a sandbox before it ends as `busy`."},
    {"pool", "zygote_runs", CONFIG_COUNT, LIVE (zygote_runs), "20000", .minimum = 1,
     .maximum = 100 * 1000 * 1000,
     .text = "A zygote is replaced after so many runs, because its sandboxes share its address layout."},
    {"pool", "zygote_age_ms", CONFIG_DURATION, LIVE (zygote_age_ms), "6h", .minimum = SECOND,
     .maximum = 30 * DAY, .text = "A zygote is replaced when it is so old."},
    {"pool", "zygote_start_ms", CONFIG_DURATION, LIVE (zygote_start_ms), "60s", .minimum = SECOND,
     .maximum = HOUR,
     .text = "The longest that a zygote may take to start and to load its modules; and to answer when it "
             "is asked for a sandbox, up to 10 s."},
    {"pool", "crash_budget", CONFIG_COUNT, LIVE (crash_budget), "50", .minimum = 1, .maximum = 100 * 1000,
     .text = "Crashes of its sandboxes within an hour after which a zygote is replaced; again only when "
             "twenty times as "
             "long as it takes to start one has gone by."},
    {"pool", "touch_ahead", CONFIG_BOOLEAN, AT (touch_ahead), "true",
     .text = "Whether a parked sandbox touches ahead the memory that runs are known to write. It holds some "
             "megabytes more for it, and saves each run hundreds of page faults."},
    {"sessions", "idle_ms", CONFIG_DURATION, LIVE (session_idle_ms), "30min", .minimum = 10,
     .maximum = 7 * DAY, .text = "A session ends when it was not used for so long."},
    {"sessions", "max_sessions", CONFIG_COUNT, LIVE (max_sessions), "64", .minimum = 1, .maximum = 4096,
     .text = "Sessions that live at once. A further one is refused, unless its owner wants the one of theirs "
             "that was idle longest to end for it (`--evict`)."},
    {"sessions", "max_sessions_per_owner", CONFIG_COUNT, LIVE (max_sessions_owner), "10", .minimum = 1,
     .maximum = 4096, .text = "The same for the sessions of one owner."},
    {"sessions", "parked", CONFIG_COUNT, AT (sessions_parked), "1", .minimum = 0, .maximum = 64,
     .text = "Sandboxes that each environment keeps parked for sessions, once somebody made one: theirs have "
             "another spec."},
    {"sessions", "max_checkpoints", CONFIG_COUNT, LIVE (max_checkpoints), "8", .minimum = 0, .maximum = 256,
     .text = "Checkpoints that one session may have at once. Each holds on to the memory that it is "
             "different in."},
    {"sessions", "max_memory", CONFIG_SIZE, LIVE (max_sessions_memory), NULL, half_of_memory,
     "half of the host's memory", 16 * MIB, (guint64)1 << 44,
     .text = "Memory that all sessions may hold together. Above it, the one that was idle longest ends."},
    {"sessions", "history_bytes", CONFIG_SIZE, LIVE (history_bytes), "1MiB", .minimum = 4096,
     .maximum = 64 * MIB,
     .text = "Code that one session remembers of its cells; the oldest is forgotten first."},
    {"sessions", "idle_cpu_ms", CONFIG_DURATION, LIVE (idle_cpu_ms), "1s", .minimum = 1,
     .maximum = 60 * SECOND,
     .text = "Processor time in each minute that threads may use which a session left running between its "
             "cells. Above it the session ends."},
    {"sessions", "interrupt_grace_ms", CONFIG_DURATION, LIVE (interrupt_grace_ms), "2s", .minimum = 1,
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
    {"store", "code", CONFIG_BOOLEAN, LIVE (store_code), "true",
     .text = "Whether a record holds the code itself, or its digest alone. Code can hold secrets."},
    {"store", "timeout_ms", CONFIG_DURATION, AT (store_timeout_ms), "5s", .minimum = 100,
     .maximum = 10 * 60 * SECOND,
     .text = "The longest that a database or a file server may take to answer. What could not be kept is a "
             "warning of the run's result."},
    {"store", "record_age_ms", CONFIG_DURATION, LIVE (store_record_age_ms), "90d", .maximum = 3650 * DAY,
     .text = "Records older than this are removed. 0: age removes none."},
    {"store", "max_records", CONFIG_COUNT, LIVE (store_record_count), "1000000", .minimum = 100,
     .maximum = 1000 * 1000 * 1000, .text = "The oldest records of a node beyond so many are removed."},
    {"store", "max_record_bytes", CONFIG_SIZE, LIVE (store_record_bytes), "2GiB", .minimum = MIB,
     .maximum = 1024 * 1024 * MIB, .text = "The same by what they hold."},
    {"store", "file_age_ms", CONFIG_DURATION, LIVE (store_file_age_ms), "7d", .minimum = SECOND,
     .maximum = 3650 * DAY, .text = "A file of a run, or one that was put in, is removed after so long."},
    {"store", "max_file_bytes", CONFIG_SIZE, LIVE (store_file_bytes), "16GiB", .minimum = MIB,
     .maximum = 1024 * 1024 * MIB, .text = "The largest file that may be put in."},
    {"store", "max_files_per_owner", CONFIG_COUNT, LIVE (store_files_owner), "10000", .minimum = 10,
     .maximum = 100 * 1000 * 1000, .text = "Files of one owner; for a further one, the oldest is removed."},
    {"store", "max_bytes_per_owner", CONFIG_SIZE, AT (store_bytes_owner), "32GiB", .minimum = MIB,
     .maximum = 1024 * 1024 * MIB, .text = "The same by their bytes."},
    {"store", "max_datasets_per_owner", CONFIG_COUNT, LIVE (store_datasets_owner), "1000", .minimum = 1,
     .maximum = 10000,
     .text = "Data sets of one owner, each version counted; a further one is refused. They do not expire."},
    {"store", "max_dataset_bytes_per_owner", CONFIG_SIZE, LIVE (store_dataset_bytes_owner), "16GiB",
     .minimum = MIB, .maximum = 1024 * 1024 * MIB, .text = "The same by their bytes."},
    {"store", "output_age_ms", CONFIG_DURATION, LIVE (store_output_age_ms), "1d", .minimum = SECOND,
     .maximum = 3650 * DAY,
     .text = "Long output, of which a reply has head and tail, can be read whole for so long."},
    {"store", "cache_bytes", CONFIG_SIZE, AT (store_cache_bytes), "4GiB", .maximum = 1024 * 1024 * MIB,
     .text = "Copies of files of an S3 bucket that are kept on this machine, for runs that load them."},
    {"store", "url", CONFIG_TEXT, LIVE (store_url), .computed_as = "none: URLs begin with `/v1/files/`",
     .text = "What URLs of files begin with: `https://adder.example.org`."},
    {"store", "url_age_ms", CONFIG_DURATION, LIVE (store_url_age_ms), "1d", .minimum = SECOND,
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
    {"tools", "max_contexts", CONFIG_COUNT, LIVE (max_contexts), "1024", .minimum = 1, .maximum = 65536,
     .text =
         "Conversations whose values `compute_with_python` remembers. For a further one, the one that was "
         "not used for longest is forgotten."},
    {"tools", "max_contexts_per_owner", CONFIG_COUNT, LIVE (max_contexts_owner), "256", .minimum = 1,
     .maximum = 65536, .text = "The same for the conversations of one owner."},
    {"tools", "context_values", CONFIG_COUNT, LIVE (context_values), "64", .maximum = 255,
     .text = "Values that one conversation may have under names of its own (`store_as`)."},
    {"tools", "context_bytes", CONFIG_SIZE, LIVE (context_bytes), "1MiB", .minimum = 1024,
     .maximum = 64 * MIB,
     .text = "What the names and values of one conversation may take together. A value for which there is no "
             "room is not kept, and the reply says so."},
    {"tools", "context_idle_ms", CONFIG_DURATION, LIVE (context_idle_ms), "1h", .minimum = 10,
     .maximum = 7 * DAY,
     .text = "A conversation's values are forgotten when it did not use them for so long."},
    {"tools", "file_endings", CONFIG_TEXT, LIVE (file_endings), .computed_as = "none",
     .text = "Endings of files, between blanks, that `run_python` of the toolset `code_executor` gives back "
             "beside those that it knows: `docx sqlite`."},
    {"mcp", "message_bytes", CONFIG_SIZE, AT (mcp_message_bytes), "8MiB", .minimum = 4096,
     .maximum = 64 * MIB,
     .text = "The longest message of a client; a longer one is an error, and the connection goes on."},
    {"mcp", "max_requests", CONFIG_COUNT, AT (max_mcp_requests), "64", .minimum = 1, .maximum = 4096,
     .text = "Requests of one connection that may be under way at once, those that wait among them."},
    {"mcp", "threads", CONFIG_COUNT, AT (mcp_threads), "8", .minimum = 1, .maximum = 256,
     .text = "Requests of one connection on standard input that are carried out side by side; more wait."},
    {"mcp", "page_rows", CONFIG_COUNT, LIVE (mcp_page_rows), "250", .minimum = 1, .maximum = 10000,
     .text = "Rows of one page of a list: of tools, resources or prompts."},
    {"mcp", "cache_ms", CONFIG_DURATION, LIVE (mcp_cache_ms), "1min", .maximum = DAY,
     .text = "For how long a client may keep a list (`ttlMs`). 0: it asks each time."},
    {"mcp", "progress_ms", CONFIG_DURATION, LIVE (mcp_progress_ms), "250", .minimum = 10, .maximum = HOUR,
     .text = "The time between two messages about the progress of a call, when code prints all the time."},
    {"mcp", "pulse_ms", CONFIG_DURATION, LIVE (mcp_pulse_ms), "15s", .maximum = HOUR,
     .text = "How often a client that asked for progress hears of a call that prints nothing. 0: never."},
    {"mcp", "reply_bytes", CONFIG_SIZE, LIVE (mcp_reply_bytes), "1000KiB", .minimum = 16384,
     .maximum = 64 * MIB,
     .text =
         "The most bytes of a reply, with all that stands around it: the official SDKs read no event of "
         "more than 1 MiB. Pictures become smaller first, then files; long text is cut; the reply says so."},
    {"mcp", "picture_bytes", CONFIG_SIZE, LIVE (mcp_picture_bytes), "768KiB", .minimum = 4096,
     .maximum = 64 * MIB,
     .text = "The largest picture that stands in a result. A larger one is shown smaller where the "
             "environment has "
             "Pillow, and comes whole as a file; the text says so."},
    {"mcp", "picture_side", CONFIG_COUNT, LIVE (mcp_picture_side), "2000", .minimum = 16, .maximum = 65536,
     .text = "The most pixels that its longer side may have; likewise. Models scale larger ones down, or "
             "refuse them."},
    {"mcp", "max_pictures", CONFIG_COUNT, LIVE (max_mcp_pictures), "20", .maximum = 1000,
     .text = "Pictures that stand in one result."},
    {"mcp", "elicit_approvals", CONFIG_BOOLEAN, LIVE (mcp_elicit_approvals), "true",
     .text =
         "Whether an approval is asked for through a client that can ask a person (elicitation), where the "
         "caller may decide about approvals. Otherwise the reply says how a person says yes."},
    {"mcp", "input_wait_ms", CONFIG_DURATION, LIVE (mcp_input_wait_ms), "10min", .minimum = 100,
     .maximum = DAY, .text = "The longest that a call, or a task, waits for what a client was asked."},
    {"mcp", "state_age_ms", CONFIG_DURATION, LIVE (mcp_state_age_ms), "1h", .minimum = SECOND,
     .maximum = 7 * DAY,
     .text = "How long a client may take to come again with the answers that a call needs (`requestState`)."},
    {"mcp", "state_key", CONFIG_PATH, AT (mcp_state_key), .computed_as = "made by chance at each start",
     .text =
         "A file of 32 bytes or more, readable by its owner alone, that `requestState` is signed with: the "
         "same on all machines that serve the same clients."},
    {"mcp", "task_after_ms", CONFIG_DURATION, LIVE (mcp_task_after_ms), "2s", .maximum = HOUR,
     .text =
         "A call that runs code and takes longer than this becomes a task, where the client declares that it "
         "knows tasks."},
    {"mcp", "task_age_ms", CONFIG_DURATION, LIVE (mcp_task_age_ms), "1h", .minimum = 100, .maximum = 7 * DAY,
     .text =
         "A task is forgotten so long after it was made or, where that is later, after it ended: its result "
         "is kept in memory, and no longer than the daemon lives."},
    {"mcp", "max_tasks", CONFIG_COUNT, LIVE (max_mcp_tasks), "256", .minimum = 1, .maximum = 65536,
     .text =
         "Tasks in all. For a further one, the one that ended first is forgotten, of who has the most; where "
         "none has ended, the call is answered when it is done."},
    {"mcp", "max_tasks_per_owner", CONFIG_COUNT, LIVE (max_mcp_tasks_owner), "64", .minimum = 1,
     .maximum = 65536, .text = "The same for the tasks of one owner."},
    {"mcp", "max_tasks_bytes", CONFIG_SIZE, LIVE (max_mcp_tasks_bytes), "128MiB", .minimum = MIB,
     .maximum = 4096 * MIB,
     .text = "What the results of all tasks may have; those that ended first go, of who has the most."},
    {"mcp", "max_subscriptions", CONFIG_COUNT, LIVE (max_mcp_subscriptions), "1024", .minimum = 1,
     .maximum = 65536, .text = "Clients that may wait for changes at once."},
    {"mcp", "max_subscribed", CONFIG_COUNT, LIVE (max_mcp_subscribed), "256", .minimum = 1, .maximum = 4096,
     .text = "Resources that one of them may wait for."},
    {"mcp", "resource_bytes", CONFIG_SIZE, LIVE (mcp_resource_bytes), "4MiB", .minimum = 4096,
     .maximum = 64 * MIB,
     .text = "The largest file that can be read as a resource, whole; of a longer one its URL is told."},
    {"mcp", "max_sessions", CONFIG_COUNT, LIVE (max_mcp_sessions), "1024", .minimum = 1, .maximum = 65536,
     .text = "Sessions over HTTP, which clients of versions before 2026-07-28 have. For a further one the "
             "one that "
             "was idle longest is ended; where all are at work, the client is told to come again."},
    {"mcp", "max_sessions_per_owner", CONFIG_COUNT, LIVE (max_mcp_sessions_owner), "64", .minimum = 1,
     .maximum = 65536, .text = "The same for the sessions of one owner."},
    {"mcp", "session_idle_ms", CONFIG_DURATION, LIVE (mcp_session_idle_ms), "30min", .minimum = 100,
     .maximum = 7 * DAY,
     .text = "Such a session ends when it has neither a request nor a stream for so long."},
    {"mcp", "replay_bytes", CONFIG_SIZE, AT (mcp_replay_bytes), "1MiB", .minimum = 4096, .maximum = 64 * MIB,
     .text = "What such a session keeps of the messages that it sent, for a client whose stream broke "
             "(`Last-Event-ID`)."},
    {"mcp", "retry_ms", CONFIG_DURATION, AT (mcp_retry_ms), "1s", .maximum = HOUR,
     .text = "How long that client is asked to wait before it comes again."},
    {"mcp", "stream_after_ms", CONFIG_DURATION, LIVE (mcp_stream_after_ms), "10s", .minimum = 10,
     .maximum = HOUR,
     .text = "A request over HTTP that takes longer than this is answered by a stream of events, which is "
             "kept alive, also where nothing is said before the result."},
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
    {"sandbox", "isolation", CONFIG_CHOICE, AT (isolation), "auto", .choices = own_kinds,
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
    {"sandbox", "mitigations", CONFIG_TEXT, AT (mitigations), "none",
     .text = "What is asked of scheduler and processor, for all sandboxes, against learning by timing: "
             "`core_scheduling`, `store_bypass`, `indirect_branch`, `l1d_flush`, between blanks "
             "(`docs/isolation.md`). A profile may ask for more."},
    {"container", "engine", CONFIG_CHOICE, LIVE (container_engine), "auto", .choices = container_engines,
     .text =
         "Whose containers runs of a profile with `backend = container` or `auto` are in. `auto`: Docker's, "
         "where its socket is there, else Podman's; `none`: nobody's."},
    {"container", "socket", CONFIG_PATH, LIVE (container_socket), .computed_as = "the engine's usual place",
     .text = "The socket on which the engine answers."},
    {"container", "runtime", CONFIG_TEXT, LIVE (container_runtime), .computed_as = "the engine's",
     .text = "The OCI runtime that the engine shall use, by the name that it knows it by. gVisor's, for "
             "level 4, has a name that begins with `runsc`."},
    {"container", "image", CONFIG_TEXT, LIVE (container_image), "localhost/adder:latest",
     .text = "The image, as `adder env image build` makes it."},
    {"container", "image_age_ms", CONFIG_DURATION, LIVE (container_image_age_ms), "30d",
     .maximum = 3650 * DAY,
     .text = "An image that is older is told to be built anew, in the log and in the `warnings` of results. "
             "0: never."},
    {"container", "parked", CONFIG_COUNT, AT (container_parked), "2", .maximum = 16,
     .text =
         "Containers that are kept ready once a run asked for one, with packages loaded. Each is used once, "
         "and reserves 128 MiB."},
    {"container", "start_ms", CONFIG_DURATION, LIVE (container_start_ms), "30s", .minimum = SECOND,
     .maximum = HOUR, .text = "The longest that a container may take to start and to load its packages."},
    {"roles", "default", CONFIG_CHOICE, LIVE (role_default), "admin", .choices = config_roles,
     .text = "The role of a caller that names none. A caller of the local socket has the account that the "
             "daemon runs in, and may name any."},
    {"roles", "guest_profiles", CONFIG_TEXT, LIVE (guest_profiles), "*",
     .text = "The profiles that a guest may use, of those whose `role` is `guest`: names with `*` and `?`, "
             "between blanks; `none`: none of them."},
    {"roles", "guest_tools", CONFIG_TEXT, LIVE (guest_tools), "*",
     .text = "The tools that a guest may call, likewise."},
    {"roles", "user_profiles", CONFIG_TEXT, LIVE (user_profiles), "*",
     .text = "The same for the role `user`. An admin may use all."},
    {"roles", "user_tools", CONFIG_TEXT, LIVE (user_tools), "*", .text = "The same for the role `user`."},
    {"network", "parked", CONFIG_COUNT, AT (network_parked), "1", .minimum = 0, .maximum = 64,
     .text =
         "Sandboxes that each environment keeps parked for runs that may reach chosen hosts, once there was "
         "one: theirs have another spec."},
    {"network", "max_connections", CONFIG_COUNT, AT (network_connections), "512", .minimum = 1,
     .maximum = 4096, .text = "Connections of all runs together that the proxy carries at once."},
    {"network", "private_networks", CONFIG_TEXT, AT (private_networks), "none",
     .text = "Private networks that runs may reach where their profile allows a host in them: `10.1.0.0/16`, "
             "`fd00:1::/32`, between blanks. All other private, local and special addresses are refused, "
             "whatever name leads to them."},
    {"http", "listen", CONFIG_TEXT, LIVE (http_listen), "none",
     .text =
         "Where `adder serve` answers HTTP: `127.0.0.1:7117`, `[::1]:7117`, `unix:/run/adder/http.sock`, "
         "between blanks; port 0: any that is free. `none`: nowhere, unless `adder serve --http` says so."},
    {"http", "certificate", CONFIG_PATH, LIVE (http_certificate), .computed_as = "none: no TLS",
     .text = "A file with the server's certificate and those up to the root's, PEM. All TCP addresses then "
             "speak HTTPS, except those that `listen` names as `http://127.0.0.1:7117`."},
    {"http", "key", CONFIG_PATH, LIVE (http_key), .computed_as = "none", .text = "A file with its key, PEM."},
    {"http", "max_connections", CONFIG_COUNT, AT (http_connections), "2048", .minimum = 1, .maximum = 65536,
     .text = "Connections at once; a twelfth of the descriptors that the daemon may have at most. A further "
             "one is answered with 503."},
    {"http", "max_connections_per_client", CONFIG_COUNT, LIVE (http_peer_connections), "1280", .minimum = 1,
     .maximum = 65536, .text = "The same for those of one address, or of one user at a unix socket."},
    {"http", "header_bytes", CONFIG_SIZE, LIVE (http_head_bytes), "32KiB", .minimum = 8192, .maximum = MIB,
     .text = "Memory of a connection for the first line and the headers of a request, of which half is for "
             "what was read and not understood yet. Longer ones are answered with 431."},
    {"http", "body_bytes", CONFIG_SIZE, LIVE (http_body_bytes), "16MiB", .minimum = 4096,
     .maximum = 256 * MIB,
     .text = "The largest body that is held in memory: JSON. A larger one is answered with 413."},
    {"http", "bodies_bytes", CONFIG_SIZE, AT (http_bodies_bytes), "256MiB", .minimum = MIB,
     .maximum = 64 * 1024 * MIB,
     .text =
         "What the bodies of all requests may hold together, of JSON also what its values take, until the "
         "runs that they ask for are over; those of one owner half of it. One more is answered with 503, one "
         "that is too much by itself with 413."},
    {"http", "upload_bytes", CONFIG_SIZE, LIVE (http_upload_bytes), "16GiB", .minimum = 4096,
     .maximum = 1024 * 1024 * MIB,
     .text = "The largest body with files (multipart/form-data), which go to disk as they come."},
    {"http", "uploads_bytes", CONFIG_SIZE, AT (http_uploads_bytes), "32GiB", .minimum = 8192,
     .maximum = 16 * 1024 * 1024 * MIB,
     .text = "What all uploads under way may have on disk together; those of one owner half of it, and no "
             "more than `[store] max_bytes_per_owner`. One more is answered with 503, one that is too much "
             "by itself with 413."},
    {"http", "header_ms", CONFIG_DURATION, LIVE (http_head_ms), "10s", .minimum = 10, .maximum = HOUR,
     .text =
         "The longest that a request's headers may take to be there whole, from the first byte; the first "
         "ones of a connection, from its beginning. However the bytes come, the time is not prolonged."},
    {"http", "body_ms", CONFIG_DURATION, LIVE (http_body_ms), "30s", .minimum = 10, .maximum = HOUR,
     .text = "The same for its body, and a second more for each `body_rate` that came."},
    {"http", "body_rate", CONFIG_SIZE, LIVE (http_body_rate), "64KiB", .minimum = 1, .maximum = 1024 * MIB,
     .text = "Bytes in a second that a large body has to come with."},
    {"http", "stall_ms", CONFIG_DURATION, LIVE (http_stall_ms), "30s", .minimum = 10, .maximum = HOUR,
     .text = "A client that takes nothing of its reply for so long is hung up on."},
    {"http", "keep_ms", CONFIG_DURATION, LIVE (http_keep_ms), "75s", .minimum = 10, .maximum = HOUR,
     .text = "A connection on which nothing more is asked for is closed after so long."},
    {"http", "alive_ms", CONFIG_DURATION, LIVE (http_alive_ms), "15s", .minimum = 10, .maximum = HOUR,
     .text = "A stream of events that has nothing to say sends a comment so often, so that nobody on the way "
             "takes it for dead."},
    {"http", "tokens", CONFIG_PATH, AT (http_tokens), .computed_as = "tokens.json in the state directory",
     .text = "The file of tokens, which `adder token` writes. It has digests of them, no token."},
    {"http", "hosts", CONFIG_TEXT, LIVE (http_hosts), .computed_as = "none",
     .text =
         "Names by which clients call the server, beside `localhost` and the addresses that they reach it "
         "at: what the header Host may say. Between blanks, without ports."},
    {"http", "origins", CONFIG_TEXT, LIVE (http_origins), .computed_as = "none",
     .text = "Whose pages may ask from a browser (CORS), beside the server's own: `https://app.example`, "
             "`http://localhost:3000`, between blanks."},
    {"http", "roots", CONFIG_TEXT, LIVE (http_roots), .computed_as = "none",
     .text = "Directories that callers over HTTP and MCP may name for runs to work in, as `NAME=FOLDER:MODE` "
             "between blanks: `data=/srv/data:read`. MODE is `read`, `overlay` or `rw`, the most that a run "
             "may ask for. A token has none of them unless it names them."},
    {"http", "rate", CONFIG_COUNT, LIVE (http_rate), "60000", .minimum = 1, .maximum = 6000000,
     .text = "Requests in a minute of one token or user; a sixth of them may come at once. More are answered "
             "with 429. A token may have its own number."},
    {"http", "concurrent", CONFIG_COUNT, LIVE (http_concurrent), "256", .minimum = 1, .maximum = 65536,
     .text =
         "Requests of one token or user that may be under way at once, streams of events included; as many "
         "in sessions of MCP, also those that the client left. A token may have its own number."},
    {"http", "users_factor", CONFIG_COUNT, LIVE (http_users_factor), "20", .minimum = 2, .maximum = 65536,
     .text = "All users of a service together (`--acts-for-users`) may have so many times what `rate` and "
             "`concurrent`, or the token's own numbers, allow each of them."},
    {"http", "failures", CONFIG_COUNT, LIVE (http_failures), "30", .minimum = 1, .maximum = 6000,
     .text = "Requests with a wrong token in a minute of one address that are answered with 401; more with "
             "429."},
    {"http", "max_background", CONFIG_COUNT, LIVE (http_background), "16", .minimum = 1, .maximum = 65536,
     .text = "Runs of one owner that may go on in the background at once (`background` of `POST /v1/runs`)."},
    {"http", "result_age_ms", CONFIG_DURATION, LIVE (http_result_age_ms), "10min", .minimum = 1000,
     .maximum = 7 * DAY, .text = "How long the result of such a run is held for `GET /v1/runs/{run}`."},
    {"http", "result_bytes", CONFIG_SIZE, LIVE (http_result_bytes), "64MiB", .maximum = 16 * 1024 * MIB,
     .text = "The most that such results may have in all; the oldest of who has the most go."},
    {"http", "event_bytes", CONFIG_SIZE, AT (http_event_bytes), "1MiB", .minimum = 4096,
     .maximum = 1024 * MIB,
     .text =
         "Events of one such run, or of one with `detach`, that are held for `GET /v1/runs/{run}/events`; "
         "the oldest go. Once it has ended they count as `result_bytes`, and go before results do."},
    {"oauth", "issuer", CONFIG_URL, AT (oauth_issuer), .computed_as = "none: tokens of `adder token` alone",
     .text = "The authorization server whose tokens are taken as well, by its URL."},
    {"oauth", "introspection", CONFIG_URL, AT (oauth_introspection), .computed_as = "none",
     .text = "Where it is asked about a token (RFC 7662): `https://`, or `http://` on this machine."},
    {"oauth", "client", CONFIG_TEXT, AT (oauth_client), .computed_as = "none",
     .text = "As whom Adder asks there."},
    {"oauth", "secret_file", CONFIG_PATH, AT (oauth_secret_file), .computed_as = "none",
     .text = "A file with the secret for that, which nobody else may read."},
    {"oauth", "resource", CONFIG_URL, AT (oauth_resource), .computed_as = "none",
     .text = "This server's own URL, as clients name it to the authorization server; a token whose audience "
             "it is not is refused."},
    {"oauth", "scopes", CONFIG_TEXT, AT (oauth_scopes), "adder=user",
     .text =
         "Which scope of a token makes which role: `adder=user adder:admin=admin`, between blanks. A token "
         "that has none of them is refused, one that has several has the highest role."},
    {"oauth", "may_decide", CONFIG_BOOLEAN, AT (oauth_may_decide), "false",
     .text = "Whether who comes by such a token speaks for a person, and so decides about approvals and "
             "reviews."},
    {"oauth", "cache_ms", CONFIG_DURATION, AT (oauth_cache_ms), "30s", .maximum = HOUR,
     .text = "How long the authorization server's word for a token holds, and so how long one that was "
             "revoked goes on."},
    {"oauth", "timeout_ms", CONFIG_DURATION, AT (oauth_timeout_ms), "5s", .minimum = 100,
     .maximum = 60 * SECOND, .text = "The longest that it may take to answer."},
    {"oauth", "max_cached", CONFIG_COUNT, AT (oauth_max_cached), "10000", .minimum = 1, .maximum = 1000000,
     .text = "Tokens whose answers are remembered."},
    {"models", "for_tools", CONFIG_TEXT, LIVE (models_for_tools), .computed_as = "none",
     .text =
         "The model of `models.conf` that tools ask which need one (`ask_csv`), at the cost of who runs the "
         "daemon. Without it, they say so."},
    {"models", "rate", CONFIG_COUNT, LIVE (models_rate), "60", .minimum = 1, .maximum = 1000000,
     .text = "Questions of one owner to that model in an hour; a sixth of them may come at once. A caller "
             "beyond that learns when to ask again."},
    {"models", "concurrent", CONFIG_COUNT, LIVE (models_concurrent), "2", .minimum = 1, .maximum = 1000,
     .text = "Questions of one owner to that model that may be under way at once."},
    {"models", "tokens", CONFIG_COUNT, LIVE (models_tokens), "200000", .minimum = 1000,
     .maximum = 100 * 1000 * 1000,
     .text = "What one question may have that model read and write, its conversation counted anew each time "
             "that it is sent. A question that has used them up ends; the last answer may go beyond."},
    {"materials", "index", CONFIG_TEXT, AT (materials_index), "https://providers.optimade.org/v1/links",
     .text = "The list of providers of the OPTIMADE federation, beside those of `materials.conf` and those "
             "that Adder comes with. What it names on another host is asked at public addresses alone; a "
             "database of one's own network goes into `materials.conf`. `none`: it is not read."},
    {"materials", "index_age_ms", CONFIG_DURATION, AT (materials_index_age_ms), "7d",
     .maximum = 365 * 24 * HOUR, .text = "How long what it says is kept before it is read again."},
    {"materials", "page_bytes", CONFIG_SIZE, AT (materials_page_bytes), "32MiB", .minimum = 1024,
     .maximum = 1024 * MIB, .text = "The longest page that a provider may answer with."},
    {"materials", "provider_bytes", CONFIG_SIZE, AT (materials_provider_bytes), "256MiB", .minimum = 1024,
     .maximum = 4096 * MIB, .text = "The longest answer of a provider, all of its pages together."},
    {"materials", "pages", CONFIG_COUNT, AT (materials_pages), "1000", .minimum = 1, .maximum = 100000,
     .text = "The most pages of one provider."},
    {"materials", "project_url", CONFIG_TEXT, AT (materials_project_url), "https://api.materialsproject.org",
     .text =
         "The Materials Project's own API, which `query_materials_project` asks. Without TLS only on this "
         "machine."},
    {"materials", "project_key_file", CONFIG_PATH, AT (materials_project_key_file), .computed_as = "none",
     .text = "A file of mode 0600 with the key for it. The variable `MP_API_KEY` of the daemon goes before."},
    {"telegram", "api", CONFIG_URL, AT (telegram_api), "https://api.telegram.org",
     .text = "Where the Bot API is that `adder telegram` asks: Telegram's own, or a server of yours that "
             "speaks it."},
    {"telegram", "token_file", CONFIG_PATH, AT (telegram_token_file), .computed_as = "none",
     .text = "A file of mode 0600 with the bot's token, as @BotFather gives it. The variable "
             "`ADDER_TELEGRAM_TOKEN` comes before it."},
    {"telegram", "users", CONFIG_TEXT, AT (telegram_users), .computed_as = "none",
     .text = "Numbers of the users who are answered in their own chats with the bot, between blanks. Nobody "
             "else is."},
    {"telegram", "chats", CONFIG_TEXT, AT (telegram_chats), .computed_as = "none",
     .text =
         "Numbers of the groups in which everybody is answered, between blanks; they begin with a minus."},
    {"telegram", "model", CONFIG_TEXT, AT (telegram_model), .computed_as = "the default of `models.conf`",
     .text =
         "The model of `models.conf` that answers plain text. Without one, code blocks and commands work."},
    {"telegram", "poll_ms", CONFIG_DURATION, AT (telegram_poll_ms), "50s", .minimum = SECOND,
     .maximum = 600 * SECOND, .text = "How long one question for what is new waits for it."},
    {"log", "level", CONFIG_CHOICE, LIVE (log_level), "info", .choices = log_levels,
     .text = "The least important messages that are still logged."},
    {"log", "format", CONFIG_CHOICE, AT (log_format), "auto", .choices = log_formats,
     .text =
         "`text`, or `json`: one object on each line. `auto`: text, and at the journal with its priorities."},
    {"log", "code", CONFIG_BOOLEAN, AT (log_code), "false",
     .text = "Whether the code of a run may be logged. Code can hold secrets."},
};
const gsize config_rows = G_N_ELEMENTS (config_table);
