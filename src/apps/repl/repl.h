/* SPDX-License-Identifier: Apache-2.0 */
/* A prompt in a live session: what is typed is a cell of it, or a command. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "apps/lines/lines.h"
#include "interfaces/cli/signal_handler.h"

struct repl {
  char *session; /* its id */
  gboolean own;  /* it ends with the prompt */
  struct lines *lines;
  struct signal_handler *signals;
  struct event_source typing; /* what signals do while somebody types */
  gboolean leaving;
  int code; /* that the program ends with */
};

/* A prompt in SESSION (session.show), which ends with it where it is its OWN, until the person leaves. The
 * exit code. */
int repl_go_on (const json_t *session, gboolean own, struct signal_handler *signals);

/* Does OPERATION on the session; PARAMS (NULL: none) are taken, and get the session. The value is the
 * caller's. */
json_t *repl_call (const struct repl *repl, const char *operation, json_t *params, GError **error);
