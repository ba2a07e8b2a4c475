/* SPDX-License-Identifier: Apache-2.0 */
/* What libadder's functions take and return: opaque types, error codes, outcomes and events. Programs include
 * adder.h. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ADDER_PUBLIC __attribute__ ((visibility ("default")))

typedef struct adder_engine AdderEngine;
typedef struct adder_request AdderRequest;
typedef struct adder_run AdderRun;
typedef struct adder_result AdderResult;
typedef struct adder_replay AdderReplay;

#define ADDER_CONVERSATION_BYTES 200 /* the longest id of a conversation */

#define ADDER_ERROR              (adder_error_quark ())
typedef enum {
  ADDER_ERROR_FAILED,    /* Adder's own fault or the host's: the message names the step */
  ADDER_ERROR_INVALID,   /* the request: a limit over its maximum, code that is not UTF-8, an unclean name */
  ADDER_ERROR_NOT_FOUND, /* no such environment, profile, file or session */
  ADDER_ERROR_BUSY,      /* no sandbox in time, or a session that is at work */
  ADDER_ERROR_TIMEOUT,   /* a deadline of ours, not of the run */
  ADDER_ERROR_UNSUPPORTED, /* the host or the session cannot do it: the message says why */
  ADDER_ERROR_CANCELLED,
  ADDER_ERROR_ENDED,       /* the session has ended: the message says why */
  ADDER_ERROR_REFUSED,     /* the policy says no: a role that may not, a profile that does not allow it */
  ADDER_ERROR_APPROVAL,    /* somebody must say yes first */
  ADDER_ERROR_UNAVAILABLE, /* where records and files are kept is away: the same may do later */
  ADDER_ERROR_EXISTS,      /* the name is taken */
} AdderError;
ADDER_PUBLIC GQuark adder_error_quark (void);

/* How a run ended. The names in results are the words in lower case: "ok", "cpu_limit". */
typedef enum {
  ADDER_OUTCOME_OK,
  ADDER_OUTCOME_ERROR,
  ADDER_OUTCOME_REFUSED,
  ADDER_OUTCOME_APPROVAL_REQUIRED,
  ADDER_OUTCOME_TIMEOUT,
  ADDER_OUTCOME_CPU_LIMIT,
  ADDER_OUTCOME_MEMORY_LIMIT,
  ADDER_OUTCOME_OUTPUT_LIMIT,
  ADDER_OUTCOME_CRASHED,
  ADDER_OUTCOME_CANCELLED,
  ADDER_OUTCOME_BUSY,
  ADDER_OUTCOME_FAILED,
} AdderOutcome;
ADDER_PUBLIC const char *adder_outcome_name (AdderOutcome outcome);

typedef enum {
  ADDER_EVENT_STARTED, /* a sandbox was leased for the run */
  ADDER_EVENT_STDOUT,  /* DATA, LENGTH: bytes as the code wrote them */
  ADDER_EVENT_STDERR,
  ADDER_EVENT_DISPLAY,  /* DATA, LENGTH: one JSON object, a MIME bundle */
  ADDER_EVENT_RESULT,   /* RESULT; the last event */
  ADDER_EVENT_PROGRESS, /* DONE, OF: bytes of a large table that were read; or DATA, LENGTH: a line about
                           packages that are installed for the run, before it starts */
} AdderEventKind;

typedef struct {
  AdderEventKind kind;
  const char *data; /* the run's; good until the next call */
  gsize length;
  AdderResult *result;    /* the caller's; free with adder_result_free */
  const char *display_id; /* DISPLAY: its id, by which later ones may replace it; NULL: it has none */
  gboolean update;        /* DISPLAY: it replaces what was shown before under its id */
  guint64 done, of;       /* PROGRESS */
} AdderEvent;

G_END_DECLS
