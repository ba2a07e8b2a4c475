/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of reviews on the local socket. REVIEW is an object with the member "op" and what that needs;
 * ANSWER is what the library's function of that name gives:
 *
 *     list                                 {"reviews": [...]}
 *     show            review               the review with its changes
 *     commit, undo    review, digest       the review, after the deed; the directory may come as a descriptor
 *     drop            review               the same */
#pragma once

#include <glib.h>

#include "adder.h"
#include "frontends/protocol.h"

/* Answers MESSAGE of OWNER: a text, the caller's, or NULL with ERROR, which is for the client. */
char *server_review_answer (AdderEngine *engine, const char *owner, const struct protocol_message *message,
                            GError **error);

/* The same for QUESTION, with a directory or -1. */
char *server_review_ask (AdderEngine *engine, const char *owner, const json_t *question, int directory_fd,
                         GError **error);
