/* SPDX-License-Identifier: Apache-2.0 */
/* `adder ask`: what its parts share. The command itself is cli_ask.c. */
#pragma once

#include "adder.h"
#include "analysis/state.h"
#include "analysis/steps.h"
#include "interfaces/cli/run_options.h"
#include "interfaces/cli/signal_handler.h"

/* ---- files (files.c) ---- */

struct ask_file {
  int fd; /* regular; its position is the beginning whenever somebody is handed it */
  int head_fd;
  char *path; /* as it is found again; NULL: standard input */
};

struct ask_files {
  GArray *files;      /* struct ask_file, in the order of the state's tables */
  gboolean no_daemon; /* what is stored is found by an engine of this process */
};

void ask_files_init (struct ask_files *files);
void ask_files_clear (struct ask_files *files);

/* Opens PATH ("-": standard input; "@NAME": a data set, or "@ID": a stored file, which the daemon has), and
 * adds it to ANALYSIS as the table NAME (NULL: the file's name without its ending). What is no regular file
 * is copied to a temporary one. */
gboolean ask_files_add (struct ask_files *files, struct analysis *analysis, const char *name,
                        const char *path, const json_t *options, GError **error);

/* Puts the digest of each file into ANALYSIS. */
gboolean ask_files_digest (struct ask_files *files, struct analysis *analysis, GError **error);

/* All of the text file PATH ("-": standard input), at most MOST bytes of UTF-8, as WHAT in the error. The
 * caller's. */
char *ask_read_text (const char *path, gsize most, const char *what, GError **error);
/* The same of a regular file that Adder wrote: what else stands there is not waited for. */
char *ask_read_file (const char *path, gsize most, const char *what, GError **error);

/* ---- runs (host.c) ---- */

struct ask_view;

struct ask_host {
  const struct run_options *options; /* environment and limits */
  const struct ask_files *files;
  struct signal_handler *signals;
  const char *folder;  /* where files of the run of the code are saved, those of the last; NULL: nowhere */
  AdderEngine *engine; /* with --no-daemon, once it is needed */
  gboolean said;       /* what there is to say of the daemon */
  const struct ask_view *view;
};

json_t *ask_host_run (gpointer data, const struct analysis_run *run, GError **error);
void ask_host_clear (struct ask_host *host);

/* ---- what a person sees (view.c) ---- */

struct ask_view {
  gboolean json, explain;
  const char *code_name; /* where the code is from, for violations; NULL: a model */
};

void ask_view_begins (gpointer data, const struct analysis *analysis, enum analysis_step step);
void ask_view_saw (gpointer data, const struct analysis *analysis, enum analysis_step step);
/* DONE of OF bytes of a table were read. */
void ask_view_read (const struct ask_view *view, guint64 done, guint64 of);
/* The progress is no longer shown. */
void ask_view_rest (const struct ask_view *view);

/* The answer, or why there is none. PICTURES are names of files, or NULL. */
void ask_view_answer (const struct ask_view *view, const struct analysis *analysis,
                      const char *const *pictures);

/* ---- what is kept (keep.c) ---- */

/* A question, and how its runs were asked for, so that they can be again. */
struct ask_kept {
  struct analysis *analysis;
  char *environment;
  json_t *limits; /* {name: value} of those that were asked for */
};
void ask_kept_clear (struct ask_kept *kept);

/* Whether DIRECTORY can be made: it is not there, or empty. */
gboolean ask_keep_check (const char *directory, GError **error);

/* Writes answer.md, code.py, table.csv, pictures and state.json to DIRECTORY, all of them or none. The whole
 * table, where there is a file of it, is in FOLDER. Has pictures and table of its analysis name their files
 * in DIRECTORY. */
gboolean ask_keep (const char *directory, const char *folder, const struct ask_kept *kept, GError **error);

/* A new directory beside PATH: what is in it can be renamed to be there. The caller's. */
char *ask_make_beside (const char *path, GError **error);

/* With all that is in it. */
void ask_remove_directory (const char *path);

/* What DIRECTORY has of an earlier question. */
gboolean ask_kept_load (const char *directory, struct ask_kept *ret_kept, GError **error);
