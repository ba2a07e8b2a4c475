/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of sessions on the local socket, apart from their cells, which are runs. SESSION is an object
 * with the member "op" and what that needs; ANSWER is what the library's function of that name gives:
 *
 *     new           options (as the body of RUN, whose descriptors come along), name     the session
 *     list                                                                            {"sessions": [...]}
 *     show          session                                                              the session
 *     variables     session, names                                                       {"variables": [...]}
 *     history       session                                                              {"cells": [...]}
 *     reset, interrupt, end: session                                                     the session
 *     replay        session, options, name, from, keep_going      what adder_replay_json gives
 *
 * "the session" is what adder_session_show gives, after the deed. After the answer to "replay" the events of
 * each cell follow as those of a run, and then what adder_replay_finish gives, or why nothing has changed,
 * which may also come sooner. */
#pragma once

#include <glib.h>

#include "adder.h"
#include "frontends/protocol.h"

struct session_reply {
  char *text;
  AdderReplay *replay; /* whose runs follow, or NULL */
};

void session_reply_clear (struct session_reply *reply);

/* Answers MESSAGE of OWNER, whose socket is WATCH_FD. FALSE with ERROR, which is for the client. */
gboolean server_session_answer (AdderEngine *engine, const char *owner, int watch_fd,
                                const struct protocol_message *message, struct session_reply *ret_reply,
                                GError **error);
