/* SPDX-License-Identifier: Apache-2.0 */
/* How the command line gets an approval that a run needs: by asking the person at the terminal, or by waiting
 * for a decision elsewhere. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/cli/signal_handler.h"

struct approval_way {
  /* Calls OPERATION, on approvals; PARAMS are taken. The value is the caller's. */
  json_t *(*call) (gpointer data, const char *operation, json_t *params, GError **error);
  gpointer data;
  struct signal_handler *signals; /* receives signals meanwhile; left without a source */
  gboolean prompt;                /* somebody may be asked, if there is a terminal */
  gboolean quiet;                 /* prints nothing for people */
  gboolean waits;
  guint64 wait_ms;
};

enum approval_end {
  APPROVAL_END_DECIDED,   /* the repeated request will run, or be refused with the reason */
  APPROVAL_END_UNDECIDED, /* nobody was there, or in time */
  APPROVAL_END_CANCELLED,
};

/* Seeks a decision about the approval ID. With ERROR it is APPROVAL_END_UNDECIDED. */
enum approval_end approval_seek (const struct approval_way *way, const char *id, GError **error);
