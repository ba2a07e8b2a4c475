/* SPDX-License-Identifier: Apache-2.0 */
/* `adder bench load`: what its parts share.
 *
 * A closed loop: each client asks, waits for its result, and asks again, so the number of requests under way
 * is the number of clients. What the machine can do at best is measured with as many clients as cores,
 * before, between and after parts of the load, because speeds drift; the load then has to come to most of
 * that. */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

#include "adder.h"
#include "interfaces/socket/client.h"

#define LOAD_OUTCOMES (ADDER_OUTCOME_FAILED + 1)

/* ---- who is asked (load_target.c) ---- */

/* A daemon, or an engine in this process: only there can owners be chosen. */
struct load_target {
  AdderEngine *engine; /* NULL: the daemon at SOCKET */
  char *socket;
  pid_t pid;             /* of the process with the engine in it */
  guint64 queue_wait_ms; /* the configured deadline of who waits */
  guint64 parked;
  char *environment, *profile, *code; /* PROFILE may be NULL */
  gboolean echoes;                    /* CODE prints its argument, so the result can be told from another's */
};

/* The target is cleared by the caller in any case. Starts the daemon where there is none. */
gboolean load_target_open (struct load_target *target, gboolean in_process, GError **error);
void load_target_clear (struct load_target *target);

/* Waits until nothing runs or waits, the pool is full and its zygote is the whole one; SECONDS at most. FALSE
 * when it did not come to that. */
gboolean load_target_rest (struct load_target *target, guint seconds);

/* One caller's way to it. */
struct load_line {
  struct load_target *target;
  const char *owner;    /* in this process only */
  struct client client; /* fd -1: not connected */
};

void load_line_close (struct load_line *line);

/* One request, TOKEN its argument, and its one result. FALSE: it is lost, there was none, or more than one,
 * or another's. */
gboolean load_line_ask (struct load_line *line, const char *token, AdderOutcome *ret_outcome, GError **error);

/* ---- asking (load_client.c) ---- */

struct load_group {
  const char *owner;
  guint clients;
  double per_second; /* what all of them ask for together; 0: as much as they get */
};

struct load_tally {
  guint64 sent, lost, outcomes[LOAD_OUTCOMES];
  GArray *latencies; /* double, ms, of those that ended `ok` */
  double longest_ms; /* to any result */
  double busy_ms;    /* the longest until `busy` */
  double seconds;    /* until the last result */
  char *reason;      /* why the first was lost, or NULL */
};

void load_tally_init (struct load_tally *tally);
void load_tally_clear (struct load_tally *tally);
/* Adds MORE, which came after it. */
void load_tally_add (struct load_tally *tally, const struct load_tally *more);
double load_tally_rate (const struct load_tally *tally); /* of `ok` */

/* Counts as they grow, for who watches. */
struct load_progress {
  gint done, ok;
};

/* COUNT groups of clients for SECONDS; TALLIES is one for each, initialised. WATCH is called about ten times
 * a second meanwhile. */
void load_run (struct load_target *target, const struct load_group *groups, guint count, double seconds,
               struct load_tally *tallies, void (*watch) (const struct load_progress *, gpointer),
               gpointer data);

/* ---- what came of it (load_report.c) ---- */

#define LOAD_PARTS   6  /* of the load, at most */
#define LOAD_SAMPLES 12 /* of memory: begin, each tenth, end */
#define LOAD_GROUPS  2

struct load_sample {
  guint64 daemon_bytes, zygote_bytes; /* of the largest zygote */
};

/* At rest. */
struct load_held {
  guint processes, groups;
  guint64 parked_bytes; /* private memory of all parked sandboxes */
};

struct load_report {
  const struct load_target *target;
  double seconds;
  guint clients, group_count;
  struct load_group groups[LOAD_GROUPS];
  struct load_tally tallies[LOAD_GROUPS];
  guint parts;                 /* of equal length */
  double best[LOAD_PARTS + 1]; /* the best rate before, between and after them */
  guint best_lost;
  struct load_sample samples[LOAD_SAMPLES];
  guint sample_count;
  struct load_held before, after;
};

double load_best_rate (const struct load_report *report);

/* "checks" says what was to hold and whether it did, "holds" whether all of it. The caller's. */
json_t *load_report_json (const struct load_report *report);
void load_report_print (FILE *stream, const struct load_report *report, const json_t *told);
