/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked about approvals on the local socket, or by a command line that has an engine of its own.
 * APPROVAL is an object with the member "op" and what that needs; ANSWER is what the library's function of
 * that name gives:
 *
 *     list                                  {"approvals": [...]}
 *     show          id                      the approval
 *     approve       id, always              the approval, after the deed
 *     deny          id, reason              the same
 *     wait          id, wait_ms             the approval as it is then */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"

/* Answers QUESTION of OWNER, whose socket is WATCH_FD (-1: none). NULL with ERROR, which is for who asks. The
 * caller's. */
char *server_approval_answer (AdderEngine *engine, const char *owner, int watch_fd, const json_t *question,
                              GError **error);
