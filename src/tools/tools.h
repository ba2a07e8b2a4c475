/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of one engine, for interfaces. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"
#include "policy/roles.h"
#include "tools/table.h"

struct tools;

/* ENGINE must outlive it. May be used from any number of threads. */
struct tools *tools_new (AdderEngine *engine);
void tools_free (struct tools *tools);

/* The progress of a call. */
struct tool_progress {
  const char *text;   /* one line of UTF-8, for people */
  gint64 done, of;    /* steps done, of so many; of 0: unknown total */
  const json_t *step; /* for programs: {"name", "ended", ...}, with what an ended step found; NULL: none */
};

/* To and from {"text", "done", "of"} and, where there is one, "step", as every interface sends it; the object
 * is the caller's, text and step are VALUE's. */
json_t *tool_progress_to_json (const struct tool_progress *progress);
struct tool_progress tool_progress_from_json (const json_t *value);

/* A file that a caller opened for one call. */
struct tool_file {
  char *path; /* as the call names it */
  char *name; /* in the run: relative, without ".." */
  int fd;
};

struct tool_caller {
  const char *owner;        /* never NULL */
  const char *front_end;    /* their interface, a word for the record; NULL: a library */
  gboolean at_terminal;     /* they read the reply at a command line, by whatever interface they came */
  const char *conversation; /* NULL: each call has its own */
  const char *role;         /* NULL: the configuration's */
  const char *approval;     /* the approval granted to the call, or NULL */
  gboolean accept_all;      /* approves everything; the log says so */
  gboolean read_only;       /* a read-only agent */
  gboolean makes_sessions;  /* has no tool that makes sessions: they are made when first named */
  int directory_fd;         /* where they work (O_PATH will do), for tools that work there too; -1: nowhere */
  const char *directory;    /* its path, for people */
  const json_t *variables;  /* {NAME: text} of their environment, for the same tools; NULL: none */
  const char *python;       /* the interpreter of their own environment, for the same tools; NULL: none */
  const struct tool_file *files; /* of the call */
  gsize file_count;
  int watch_fd; /* its run is cancelled when the peer of this socket hangs up; -1: none */
  /* Receives the events of its runs, except results, in the thread of the call; NULL: none. */
  void (*saw) (gpointer data, AdderRun *run, const AdderEvent *event);
  /* Receives the progress of calls that work outside runs, in the same thread; NULL: none. */
  void (*progressed) (gpointer data, const struct tool_progress *progress);
  gpointer saw_data;     /* of both */
  guint64 picture_bytes; /* the maximum of a picture in a reply, as for adder_request_set_pictures; 0: any */
  guint64 picture_side;
  guint64 pictures_bytes; /* the maximum of all of them together; 0: any */
  const char *const
      *profiles;       /* patterns of the profiles they may use, within what their role allows; NULL: any */
  const char *toolset; /* the only toolset they may call; NULL: any */
};

struct tool_reply {
  json_t *value; /* an object of the tool's reply schema, or error_reply; the caller's */
  gboolean is_error;
  gboolean is_of_code; /* the tool worked, and the code that it ran failed */
  gboolean is_fault;   /* the call is valid: Adder or its host could not carry it out */
  guint again_s;       /* seconds until a retry may succeed; 0: unknown */
  int exit_code;       /* 0; 1 for code that failed; otherwise as in docs/results.md for what never ran */
};
void tool_reply_clear (struct tool_reply *reply);

/* Calls the tool that NAME means in the toolset (both as for tool_find). Never fails: errors are the
 * reply. */
void tools_call (struct tools *tools, const char *toolset, const char *name, const json_t *arguments,
                 const struct tool_caller *caller, struct tool_reply *ret_reply);

/* Unexpired states of conversations, which would be lost with the process. */
guint tools_living_conversation_states (struct tools *tools);

/* The file of enabled tools has changed: reread it, however recent its last reading. */
void tools_reread_enablement (struct tools *tools);

/* ---- without an engine ---- */

struct config;
struct tool_enablement;

/* Whether the tool is on, and CALLER may call it: used for lists, prompts and calls alike. */
gboolean tool_is_available (const struct config *config, struct tool_enablement *enablement,
                            const struct role_caller *caller, const struct toolset *toolset,
                            const struct tool *tool, GError **error);
