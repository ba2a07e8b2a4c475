/* SPDX-License-Identifier: Apache-2.0 */
/* What interfaces call: the tools of one engine. */
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

/* How far a call is. */
struct tool_progress {
  const char *text; /* one line of UTF-8, for people */
  gint64 done, of;  /* of so many; of 0: nobody knows how many */
};

/* {"text", "done", "of"}, as every interface sends it: the caller's; and from it. The text is VALUE's. */
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
  const char *front_end;    /* by which they came, a word for the record; NULL: a library */
  gboolean at_terminal;     /* they read the reply at a command line, whatever they came by */
  const char *conversation; /* NULL: each call is its own */
  const char *role;         /* NULL: the configuration's */
  const char *approval;     /* the approval that the call was given, or NULL */
  gboolean accept_all;      /* says yes to all that would need one; the log says so */
  gboolean read_only;       /* an agent that may look but not act */
  gboolean makes_sessions;  /* has no tool that makes a session: one is made when it is first named */
  int directory_fd;         /* where they work (O_PATH will do), for tools that work there too; -1: nowhere */
  const char *directory;    /* its path, for people */
  const json_t *variables;  /* {NAME: text} of their environment, for the same tools; NULL: none */
  const char *python;       /* the interpreter of their own environment, for the same tools; NULL: none */
  const struct tool_file *files; /* of the call */
  gsize file_count;
  int watch_fd; /* its run is cancelled when the peer of this socket hangs up; -1: none */
  /* Told of the events of its runs as they come, but not of results, in the thread of the call; NULL: nobody.
   */
  void (*saw) (gpointer data, AdderRun *run, const AdderEvent *event);
  /* Told how far a call is whose work is no run, in the same thread; NULL: nobody. */
  void (*progressed) (gpointer data, const struct tool_progress *progress);
  gpointer saw_data;     /* of both */
  guint64 picture_bytes; /* the most of a picture in a reply, as adder_request_set_pictures has it; 0: any */
  guint64 picture_side;
  guint64 pictures_bytes; /* the most of all of them together; 0: any */
  const char *const
      *profiles;       /* patterns of those that they may use, beside what their role says; NULL: any */
  const char *toolset; /* the only one whose tools they may call; NULL: any */
};

struct tool_reply {
  json_t *value; /* an object of the tool's reply schema, or error_reply; the caller's */
  gboolean is_error;
  gboolean is_of_code; /* the tool did its job, and what went wrong is the code that it ran */
  gboolean is_fault;   /* nothing is wrong with the call: Adder or its host could not carry it out */
  guint again_s;       /* after so many seconds it may be otherwise; 0: nobody knows */
  int exit_code;       /* 0; 1 of code that failed; otherwise as docs/results.md says of what was never run */
};
void tool_reply_clear (struct tool_reply *reply);

/* Calls the tool that NAME means in the toolset (both as tool_find has them). Never fails: what is wrong is
 * the reply. */
void tools_call (struct tools *tools, const char *toolset, const char *name, const json_t *arguments,
                 const struct tool_caller *caller, struct tool_reply *ret_reply);

/* Contexts of conversations that have not expired: they would be lost with the process. */
guint tools_living_conversation_states (struct tools *tools);

/* The file of enabled tools is another now: it is read again, whatever its age. */
void tools_reread_enablement (struct tools *tools);

/* ---- without an engine ---- */

struct config;
struct tool_enablement;

/* Whether the tool is on, and CALLER may call it: the same question for lists, prompts and calls. */
gboolean tool_is_available (const struct config *config, struct tool_enablement *enablement,
                            const struct role_caller *caller, const struct toolset *toolset,
                            const struct tool *tool, GError **error);
