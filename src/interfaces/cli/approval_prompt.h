/* SPDX-License-Identifier: Apache-2.0 */
/* How the command line comes by an approval that a run needs: by asking who sits at the terminal, or by
 * waiting for somebody to decide elsewhere. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/cli/signal_handler.h"

struct approval_way {
  /* Does OPERATION, on approvals; PARAMS are taken. The value is the caller's. */
  json_t *(*call) (gpointer data, const char *operation, json_t *params, GError **error);
  gpointer data;
  struct signal_handler *signals; /* what signals are for meanwhile; left without a source */
  gboolean prompt;                /* somebody may be asked, if there is a terminal */
  gboolean quiet;                 /* nothing is said to people */
  gboolean waits;
  guint64 wait_ms;
};

enum approval_end {
  APPROVAL_END_DECIDED,   /* asked for again it has its way, or is refused with the reason */
  APPROVAL_END_UNDECIDED, /* nobody was there, or took too long */
  APPROVAL_END_CANCELLED,
};

/* Seeks a decision about the approval ID. With ERROR it is APPROVAL_END_UNDECIDED. */
enum approval_end approval_seek (const struct approval_way *way, const char *id, GError **error);
