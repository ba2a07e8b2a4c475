/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked about sessions and needs the options of a run, which no operation has yet. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"

/* Who asks, and what came along; all of it is the caller's. */
struct session_caller {
  AdderEngine *engine;
  const char *owner;
  int watch_fd; /* the peer's socket */
  const int *fds;
  gsize fd_count;
};

/* Answers BODY: a value, the caller's, or NULL with ERROR, which is for who asks. *RET_REPLAY is the
 * caller's: its runs follow the answer; NULL: none do. */
json_t *server_session_answer (const struct session_caller *caller, const json_t *body,
                               AdderReplay **ret_replay, GError **error);
