/* SPDX-License-Identifier: Apache-2.0 */
/* adder.conf: one table of keys (config_table in config.c) that reads the file, prints `adder config show`
 * and makes docs/configuration.md. Files are read in order, later ones win: the system's
 * (ADDER_SYSCONFDIR/adder.conf), the user's ($XDG_CONFIG_HOME/adder/adder.conf); or only
 * $ADDER_CONFIG_DIR/adder.conf where that is set; or only the one that was named. An unknown key or a value
 * out of bounds is an error that names file, group and key. */
#pragma once

#include <glib.h>
#include <stdio.h>

struct config {
  /* [daemon] */
  char *socket;         /* local socket; NULL: config_socket() finds it in the runtime directory */
  guint64 idle_exit_ms; /* a daemon in the background ends after so long without a request; 0: never */
  /* [environment] */
  char *environment; /* default environment of a run: "science" */
  /* [pool] */
  guint64 parked;          /* parked sandboxes of each environment; default: cores + 2 */
  guint64 max_running;     /* sandboxes running at once */
  guint64 max_memory;      /* bytes that they may use in all; 0: config_max_memory() finds it */
  guint64 max_queued;      /* callers waiting for one */
  guint64 queue_wait_ms;   /* the longest wait */
  guint64 zygote_runs;     /* a zygote is replaced after so many runs */
  guint64 zygote_age_ms;   /* or after so long */
  guint64 zygote_start_ms; /* the longest that starting and importing may take */
  guint64 crash_budget;    /* crashes of sandboxes in an hour after which the zygote is replaced */
  gboolean touch_ahead;    /* whether parked sandboxes touch the memory that runs will write */
  /* [sessions] */
  guint64 session_idle_ms;     /* a session that nobody used for so long ends */
  guint64 max_sessions;        /* that live at once, in all */
  guint64 max_sessions_owner;  /* and of one owner */
  guint64 sessions_parked;     /* sandboxes kept parked for sessions, once there was one */
  guint64 max_checkpoints;     /* of one session */
  guint64 max_sessions_memory; /* bytes that all of them may hold together */
  guint64 history_bytes;       /* code of its cells that one session remembers */
  guint64 idle_cpu_ms;         /* processor time in a minute that a session may use between cells */
  guint64 interrupt_grace_ms;  /* how long code may take to end when it is interrupted */
  /* [review] */
  guint64 review_expire_ms;  /* how long changes wait that nobody decides on */
  guint64 max_reviews;       /* of one owner, that wait */
  guint64 max_reviews_bytes; /* and what their files may have in all */

  /* [store] */
  char *store_records;         /* "sqlite", "sqlite:PATH", "postgresql://...", "none" */
  char *store_blobs;           /* "directory", "directory:PATH", "s3://BUCKET?...", "none" */
  char *store_node;            /* this machine's name in records; NULL: the host's */
  gboolean store_code;         /* whether records hold the code itself, beside its digest */
  guint64 store_timeout_ms;    /* the longest that one step of keeping may take */
  guint64 store_record_age_ms; /* records that are older go; 0: none do */
  guint64 store_record_count;  /* and the oldest beyond so many */
  guint64 store_record_bytes;  /* and beyond so many bytes */
  guint64 store_file_age_ms;   /* a file expires after so long */
  guint64 store_file_bytes;    /* of one file that is put in */
  guint64 store_files_owner;   /* files of one owner; the oldest make room */
  guint64 store_bytes_owner;   /* and their bytes */
  guint64 store_output_age_ms; /* spilled output expires after so long */
  guint64 store_cache_bytes;   /* of copies of files whose home is not this machine */
  char *store_url;             /* before the paths of files' URLs; NULL: nothing */
  guint64 store_url_age_ms;    /* how long a signed URL holds */
  /* [approval] */
  guint64 approval_expire_ms;  /* how long one that nobody decides waits */
  guint64 approval_always_ms;  /* how long an "always" that nothing uses holds */
  guint64 max_approvals;       /* that wait at once, in all */
  guint64 max_approvals_owner; /* and of one owner */
  guint64 max_approvals_bytes; /* of what they show */
  /* [tools] */
  guint64 max_contexts;       /* conversations whose values are remembered, in all */
  guint64 max_contexts_owner; /* and of one owner */
  guint64 context_values;     /* named values of one conversation */
  guint64 context_bytes;      /* of all its names and values */
  guint64 context_idle_ms;    /* forgotten when nobody used it for so long */
  char *file_endings; /* of files that code_executor gives back, beside those that it knows; or NULL */
  /* [loops] */
  guint64 loop_failures;   /* in a row after which the same is refused; 0: never */
  guint64 loop_forget_ms;  /* a conversation that ran nothing for so long is forgotten */
  guint64 max_loops;       /* conversations that are kept count of */
  guint64 max_loops_owner; /* and of one owner */
  /* [sandbox] */
  char *isolation;            /* "auto" or another kind of sandbox/isolation.h: the best that is used */
  char *min_isolation;        /* "auto", or "0" to "3": a run is refused below this level */
  char *cgroup;               /* "auto", "v1", "v2", "none" */
  guint64 root_uid, root_gid; /* host ids that a root daemon's sandboxes run as */
  /* [roles] */
  char *role_default;                 /* "guest", "user", "admin": of a caller that names none */
  char *guest_profiles, *guest_tools; /* patterns of names */
  char *user_profiles, *user_tools;
  /* [network] */
  guint64 network_parked;      /* parked sandboxes of each environment that can reach chosen hosts */
  guint64 network_connections; /* of all runs together */
  char *private_networks;      /* that may be reached although they are private; "none" */
  /* [log] */
  char *log_level;   /* "error", "warning", "info", "debug" */
  char *log_format;  /* "text", "json"; "auto": text at a terminal */
  gboolean log_code; /* whether code may be logged; off */

  char **sources; /* of each row of the table in turn: the file it was read from, or "default" */
};

/* The roles from the least to the most, and then NULL: the words of `enum role` in policy/roles.h. */
extern const char *const config_roles[];

/* FILE NULL: the usual places; a missing file there is fine, a missing FILE is an error. */
struct config *config_load (const char *file, GError **error);
void config_free (struct config *config);
/* The local socket's path: the configured one, else adder.sock in paths_runtime_dir(). The caller's. */
char *config_socket (const struct config *config, GError **error);
/* How many bytes of memory sandboxes may use in all: as configured, else three quarters of what this process
 * may have, so that a quarter is left for zygotes, the daemon and everybody else. */
guint64 config_max_memory (const struct config *config);
/* All keys with value and where it came from, as text for people or (JSON true) one object. */
void config_show (const struct config *config, gboolean json, FILE *stream);
/* docs/configuration.md: the keys of adder.conf, then those of profiles with sandbox/limits.h's limits. */
void config_write_documentation (FILE *stream);
