/* SPDX-License-Identifier: Apache-2.0 */
/* What conversations remember: for exact computation the last value, and named values; for loaded files their
 * ids by name. A state belongs to an owner and a conversation, has bounds ([tools] of the configuration), and
 * is forgotten after a time without use. Values are text. May be used from any number of threads.
 *
 * In a cluster they are rows of the database that its nodes share, since the next call may be another node's:
 * there the bound on all conversations together is that on those of one owner. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "store/store.h"

#define CONVERSATION_STATE_LAST "last_result"

struct conversation_states;

/* CONFIG must outlive it. STORE has the rows, if CONFIG is of a cluster; NULL: they are in memory. NOUN is
 * the word for a value in errors, and tells kinds of states apart: "value". */
struct conversation_states *conversation_states_new (const struct config *config, struct store *store,
                                                     const char *noun);
void conversation_states_free (struct conversation_states *states);

/* {NAME: text} of the conversation; empty if there is none, or CONVERSATION is NULL. The caller's. NULL with
 * ADDER_ERROR_UNAVAILABLE: the database does not answer. */
json_t *conversation_states_get (struct conversation_states *states, const char *owner,
                                 const char *conversation, GError **error);

/* Keeps TEXT as the last value, and under NAME if that is not NULL. Without a conversation nothing is kept.
 * Without room, the conversation loses its last value, the others stay, and ADDER_ERROR_INVALID names the
 * bound; ADDER_ERROR_UNAVAILABLE as above. At the limit of states the least recently used is forgotten, of
 * the same owner if that one has too many. */
gboolean conversation_states_put (struct conversation_states *states, const char *owner,
                                  const char *conversation, const char *name, const char *text,
                                  GError **error);

/* Keeps TEXT under NAME alone. Otherwise as conversation_states_put. */
gboolean conversation_states_set (struct conversation_states *states, const char *owner,
                                  const char *conversation, const char *name, const char *text,
                                  GError **error);

/* Forgets the value under NAME. */
void conversation_states_unset (struct conversation_states *states, const char *owner,
                                const char *conversation, const char *name);

/* Forgets the conversation's state. */
void conversation_states_drop (struct conversation_states *states, const char *owner,
                               const char *conversation);

/* The number of unexpired states that would be lost with this process. */
guint conversation_states_living (struct conversation_states *states);

/* Whether there is none at all, as far as that is known without asking others. */
gboolean conversation_states_are_none (struct conversation_states *states);
