/* SPDX-License-Identifier: Apache-2.0 */
/* What conversations remember: of exact computation the last value, and values under names; of files that
 * were loaded their ids under names. A context belongs to an owner and a conversation, has bounds ([tools] of
 * the configuration), and is forgotten when it was not used for a while. Values are text. May be used from
 * any number of threads. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"

#define CONTEXT_LAST "last_result"

struct contexts;

/* CONFIG must outlive it. NOUN is what a value is called in errors: "value". */
struct contexts *contexts_new (const struct config *config, const char *noun);
void contexts_free (struct contexts *contexts);

/* {NAME: text} of the conversation; empty where there is none, or CONVERSATION is NULL. The caller's. */
json_t *contexts_get (struct contexts *contexts, const char *owner, const char *conversation);

/* Keeps TEXT as the last value, and under NAME where that is not NULL. Without a conversation nothing is
 * kept. Where there is no room, the conversation has no last value any more, the others stay, and
 * ADDER_ERROR_INVALID names the bound. Too many contexts: the one that was not used for longest is forgotten,
 * of the same owner where that one has too many. */
gboolean contexts_put (struct contexts *contexts, const char *owner, const char *conversation,
                       const char *name, const char *text, GError **error);

/* Keeps TEXT under NAME alone. Otherwise as contexts_put. */
gboolean contexts_set (struct contexts *contexts, const char *owner, const char *conversation,
                       const char *name, const char *text, GError **error);

/* Forgets what is under NAME. */
void contexts_unset (struct contexts *contexts, const char *owner, const char *conversation,
                     const char *name);

/* Forgets the conversation's. */
void contexts_drop (struct contexts *contexts, const char *owner, const char *conversation);

/* How many have not expired. */
guint contexts_living (struct contexts *contexts);
