/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of a run's events on this machine: a daemon, or an engine in this very process (--no-daemon).
 */
#pragma once

#include <glib.h>

#include "adder.h"
#include "interfaces/service/events.h"
#include "interfaces/service/submission.h"

/* REQUEST must live as long as the source. */
struct event_source *event_source_daemon (const char *socket, const struct submission *request,
                                          GError **error);
struct event_source *event_source_local (const struct submission *request, GError **error);
/* The second for several runs, with an engine of the caller's, which must live as long as the source. */
struct event_source *event_source_engine (AdderEngine *engine, const struct submission *request,
                                          GError **error);

/* The one that is meant: another machine's (interfaces/remote/), the daemon on the usual socket, or none. */
struct event_source *event_source_open (gboolean daemon, const struct submission *request, GError **error);

/* The cells of a replay, one after the other: a result is followed by the events of the next cell, as many as
 * *RET_ANSWER, the caller's, says in "cells", unless the daemon says why nothing changes. QUESTION and
 * OPTIONS' descriptors are what is asked. */
struct event_source *event_source_replay (const json_t *question, const struct submission *options,
                                          json_t **ret_answer, GError **error);
