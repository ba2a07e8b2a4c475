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
  ADDER_ERROR_FAILED,    /* an error of Adder or the host: the message names the step */
  ADDER_ERROR_INVALID,   /* an invalid request: a limit over its maximum, code not in UTF-8, an unsafe name */
  ADDER_ERROR_NOT_FOUND, /* no such environment, profile, file or session */
  ADDER_ERROR_BUSY,      /* no sandbox in time, or the session is in use */
  ADDER_ERROR_TIMEOUT,   /* Adder's own deadline expired, not the run's */
  ADDER_ERROR_UNSUPPORTED, /* the host or the session cannot do it: the message says why */
  ADDER_ERROR_CANCELLED,
  ADDER_ERROR_ENDED,       /* the session has ended: the message says why */
  ADDER_ERROR_REFUSED,     /* the policy refuses: the role or the profile does not allow it */
  ADDER_ERROR_APPROVAL,    /* somebody must approve it first */
  ADDER_ERROR_UNAVAILABLE, /* the store of records and files is unavailable: try again later */
  ADDER_ERROR_EXISTS,      /* the name is taken, or somebody else was first */
} AdderError;
ADDER_PUBLIC GQuark adder_error_quark (void);

/* How a run ended. Results have the names in lower case: "ok", "cpu_limit". */
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
  ADDER_EVENT_PROGRESS, /* DONE, OF: bytes of a large table read so far and in all; or DATA, LENGTH: a line
                           about packages being installed before the run starts */
} AdderEventKind;

typedef struct {
  AdderEventKind kind;
  const char *data; /* the run's; valid until the next call */
  gsize length;
  AdderResult *result;    /* the caller's; free with adder_result_free */
  const char *display_id; /* DISPLAY: its id, by which later displays may replace it; NULL: none */
  gboolean update;        /* DISPLAY: it replaces the earlier display with its id */
  guint64 done, of;       /* PROGRESS */
} AdderEvent;

G_END_DECLS
