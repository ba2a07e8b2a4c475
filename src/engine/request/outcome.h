/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ended: a pure function from observations to an outcome, an exit code and a signal. Only facts
 * decide: the kernel's counts and reports, the daemon's own actions, and the result message; never the text
 * of an output. */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "adder_types.h"
#include "runner/wire.h"

/* Why the daemon itself ended the run; the first reason stays. */
enum stop {
  STOP_NONE,
  STOP_CANCELLED, /* the caller cancelled, or hung up */
  STOP_DEADLINE,
  STOP_CPU,
  STOP_MEMORY, /* the watchdog, or the kernel if it would kill only one process */
  STOP_OUTPUT,
  STOP_INPUT,     /* the code reads on, but standard input exceeds its limit */
  STOP_DISPLAYS,  /* more displays, or bytes of them, than allowed */
  STOP_PROTOCOL,  /* the sandbox broke the protocol */
  STOP_INTERRUPT, /* a cell that did not end when the caller interrupted it */
};

struct facts {
  enum stop stop;
  gboolean has_result;  /* a well-formed result message came before any STOP, */
  gboolean interrupted; /* or after it, because the code of a cell was asked to end */
  int result_exit_code;
  gboolean result_has_error;
  gboolean result_refused;       /* the guard did not let the code run */
  gboolean result_out_of_memory; /* the error is a MemoryError */
  gboolean has_exit;             /* the zygote reported how the worker ended */
  struct wire_exit exit;
  gboolean zygote_ended; /* the exit pipe ended without a report */
  gboolean contained;    /* the container had nothing else in it */
  guint64 oom_kills;     /* by the kernel, for this run's control group */
  gboolean memory_full;  /* without such a group, nearly all the permitted memory was used */
  guint64 cpu_us, cpu_limit_us;
};

/* What a verdict rests on, which selects the message to people, so that nothing is decided twice. */
enum cause {
  CAUSE_RESULT, /* the result message says everything */
  CAUSE_GUARD,  /* the same, for code that did not run */
  CAUSE_EXITED, /* the process exited by itself, without a result */
  CAUSE_SIGNAL,
  CAUSE_STOP, /* facts.stop */
  CAUSE_OOM_KILL,
  CAUSE_MEMORY_ERROR,
  CAUSE_CPU,
  CAUSE_ZYGOTE,
  CAUSE_NO_END, /* neither a result nor an end was observed */
};

struct verdict {
  AdderOutcome outcome;
  enum cause cause;
  int exit_code;
  int signal; /* 0: none */
};

struct verdict outcome_decide (const struct facts *facts);

/* The exit code of an outcome without one of its own (docs/results.md). */
int outcome_exit_code (AdderOutcome outcome);
/* The outcome called NAME; ADDER_OUTCOME_FAILED for an unknown one. */
AdderOutcome outcome_find (const char *name);
/* Whether an outcome is called NAME; and the names of all, with ", " between them, the caller's. */
gboolean outcome_is_known (const char *name);
char *outcome_list (void);
