/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is asked to do: complete, with every limit resolved. Made by the library from the public
 * request. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder_types.h"
#include "common/field.h"
#include "engine/host/backend.h"
#include "engine/network/network_rules.h"
#include "engine/request/inputs.h"
#include "engine/request/workdir.h"
#include "sandbox/isolation.h"
#include "sandbox/limits.h"

/* Names that the user's own code may not ask for (src/runner/python/blocked.py); NULL: none. */
struct request_blocked {
  GStrv calls;   /* "os.system", "os.exec*" */
  GStrv modules; /* "subprocess" */
};

/* Whether tables that the code shows are written to files as well, whole (src/runner/python/exports.py). */
enum request_tables { TABLES_NONE, TABLES_CSV, TABLES_PARQUET, TABLES_JSON };
extern const char *const request_tables_names[]; /* ends with NULL */

struct run_request;
struct change_set;
struct run_summary;

/* Where what is to outlive a run is kept: the library's. */
struct request_recorder {
  /* A file without a name for long output: the caller's, or -1 with ERROR. NULL: nothing is kept. */
  int (*create) (gpointer data, GError **error);
  /* Notes that the run RUN_ID, asked for at ASKED_MS (since 1970), in the session SESSION (its id, or NULL),
   * is under way: what is returned stands in `slot`. NULL: nothing is noted. */
  int (*begin) (gpointer data, const struct run_request *request, const char *run_id, gint64 asked_ms,
                const char *session);
  int slot; /* -1: none */
  /* Told once of each run, before its result is made: engine/request/run_summary.h. */
  void (*persist) (gpointer data, const struct run_request *request, struct run_summary *summary);
  /* Keeps what FD holds for a replay of the session that GIVEN is put into: fills its bytes, digest and key.
   * NULL where it is no session, or nothing is kept. */
  void (*give) (gpointer data, const struct run_request *request, struct input *given, int fd);
  /* SLOT, which begin returned, is needed no more either. */
  void (*release) (gpointer data, int slot);
  gpointer data;
};

/* Whence the request came, for the record. */
struct request_origin {
  char *front_end; /* such as "cli"; NULL: a program that uses the library */
  char *tool;      /* "TOOLSET.NAME", or NULL */
  char *role;
  json_t *arguments;    /* of the tool, an object; or NULL */
  gboolean at_terminal; /* the command line of another machine asks, which no front end tells */
};

/* Where the changes of a run that are to be reviewed are kept: the library's. */
struct request_review {
  /* Keeps CHANGES, whose files are below UPPER_FD; *RET_ID, the caller's, names what a yes is waited for, or
   * is NULL: they were made at once. */
  gboolean (*submit) (gpointer data, const struct run_request *request, const struct change_set *changes,
                      int upper_fd, char **ret_id, GError **error);
  void (*release) (gpointer data);
  gpointer data;
};

/* How a run ended, for who keeps count of that. */
struct request_end {
  AdderOutcome outcome;
  const json_t *error;   /* of the result, or NULL */
  const json_t *attempt; /* what the sandbox said of the code (message_read_attempt), or NULL */
};

/* Told once, before the result is. */
struct request_observer {
  void (*ended) (gpointer data, const struct request_end *end); /* NULL: nobody is told */
  gpointer data;
  GDestroyNotify free;
};

/* In whose words a result gives advice: options of the command line, members of a body of HTTP, or what a
 * model's tool has. */
enum request_voice { VOICE_COMMAND, VOICE_BODY, VOICE_TOOL };

/* How a caller asks for packages, where they may. */
enum packages_way { PACKAGES_NONE, PACKAGES_OPTION, PACKAGES_MEMBER };

struct run_request {
  char *code;
  gsize code_length;
  char *name;            /* of the program, for tracebacks */
  GStrv arguments;       /* may be NULL */
  GHashTable *variables; /* name -> value */
  char *environment;
  GStrv with;         /* packages that it is to have more (engine/host/environment_with.h); NULL: none */
  guint packages_way; /* enum packages_way: what its caller is told of that */
  char *profile;
  struct limits limits;
  guint32 limits_set;   /* 1 << enum limit: asked for by name, not the profile's */
  struct limits maxima; /* the most that may be asked for: the profile's */
  struct request_blocked blocked;
  struct network_rules *network; /* NULL: none */
  guint role_needed;             /* who may use the profile (policy/roles.h): for the cells of a session */
  gboolean session_allowed;      /* whether it may make a session */
  guint64 session_idle_ms; /* which then ends when it was not used for so long; 0: the configuration's */
  guint min_isolation;
  uint32_t mitigations; /* bits: 1 << enum mitigation */
  enum isolation isolation;
  gboolean falls_back; /* with ISOLATION_CONTAINER: what cannot be in a container is as with ISOLATION_AUTO */
  GArray *files;       /* struct input */
  struct input_links links;
  int stdin_fd;        /* -1: empty */
  gboolean stdin_lazy; /* a pipe or file that is read as the code reads it, else whole before it starts */
  int watch_fd;        /* -1: none */
  char *owner, *conversation;
  char *session;         /* name or id of the session whose next cell this is, or NULL */
  gboolean session_wait; /* for its turn there */
  gboolean svg;          /* figures come as SVG as well */
  gboolean evict;        /* of a new session: where its owner has too many, another one ends */
  guint64 picture_bytes; /* the most of a picture that is shown, and pixels on a side; 0: as they are */
  guint64 picture_side;
  guint64 pictures_bytes; /* the most of all of them; 0: any */
  guint tables;           /* enum request_tables */
  gboolean keeps_files;   /* what the code leaves may be kept: files, and long output */
  struct workdir workdir; /* /work, where it is not the sandbox's own */
  char *guard;            /* its profile's rules, one JSON object; NULL: there are none */
  gboolean check;         /* the code is held against them and does not run */
  json_t *values;         /* variables of the code: an object; NULL: there are none */
  json_t *analysis;       /* what is wanted of tables: an object (docs/analysis.md); NULL: nothing is */
  guint approval;         /* enum approval_mode of policy/, the profile's */
  gboolean accept_all;    /* whatever needs an approval has it */
  char *approved;         /* the approval that it had, such as its id; NULL: it needed none */
  char *approval_id; /* what somebody must say yes to: INVALID is for want of it, or changes wait for it */
  char *description; /* for people, or NULL */
  struct request_review review;
  struct request_recorder recorder;
  struct request_origin origin;
  guint64 keep_over; /* output of more bytes is kept whole also where the reply has all of it; 0: is not */
  json_t *attempts;  /* what failed in the conversation, for the sandbox; NULL: nobody keeps count */
  struct request_observer observer;
  GError *invalid; /* why it cannot be run at all, found out before it came here */
};

/* Where a member of a request comes from, and goes to: marks of request_fields. */
enum request_mark {
  REQUEST_ASKED = 1 << 0,    /* its caller says it */
  REQUEST_POLICY = 1 << 1,   /* its profile does */
  REQUEST_RESOLVED = 1 << 2, /* both have a say in it, and the configuration: library/ decides */
  REQUEST_SETTLED = 1 << 3,  /* a session settles it for its cells, and others made like it have it */
};

/* The members that can be copied; the descriptors, and what is the library's, are not among them. A new one
 * is a row here, and is read, freed and copied by that. */
extern const struct field request_fields[];

struct run_request *request_new (void);
void request_free (struct run_request *request);

/* The same for one that is part of another struct. */
void request_init (struct run_request *request);
void request_clear (struct run_request *request);

/* What the caller of REQUEST said, with duplicates of its descriptors; what went wrong with them is its
 * `invalid`. All else is as request_new has it. The caller's. */
struct run_request *request_copy_asked (const struct run_request *request);

/* Gives REQUEST copies of those of VARIABLES whose names it does not have. */
void request_add_variables (struct run_request *request, GHashTable *variables);

/* What REQUEST settles for a session, by which another may be made: neither code nor descriptors. The
 * caller's. */
struct run_request *request_settled (const struct run_request *request);

/* Whether its code is a command line (ENVIRONMENT_SHELL). */
gboolean request_is_shell (const struct run_request *request);

/* By its origin. A program that uses the library is its user's, as the command line is. */
/* Whether it came by this machine's command line, or from a program with the library in it. */
gboolean request_origin_is_local (const struct request_origin *origin);

/* Whether who reads the result can be told of commands. */
gboolean request_at_terminal (const struct run_request *request);
enum request_voice request_voice (const struct run_request *request);

/* Whether all texts are UTF-8 and all values within their limits: ADDER_ERROR_INVALID says what is not. */
gboolean request_check (const struct run_request *request, GError **error);
