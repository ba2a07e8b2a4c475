/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a turn of an agent at once, in the middle of a question or a call: the user, or the clock. */
#pragma once

#include <glib.h>

#include "interfaces/socket/call_backend.h"

struct cancel_token;

enum cancel_reason { CANCEL_REASON_NONE, CANCEL_REASON_CANCELLED, CANCEL_REASON_TIME };

/* TARGET, whose calls it ends, must outlive it. NULL with ERROR. */
struct cancel_token *cancel_token_new (struct call_backend *target, GError **error);
/* NULL is allowed. */
void cancel_token_free (struct cancel_token *token);

/* From now on, until cancel_token_end, time is over at DEADLINE_US. What was cancelled before it began is
 * cancelled still. */
void cancel_token_begin (struct cancel_token *token, gint64 deadline_us);
/* Why it was stopped is forgotten. */
void cancel_token_end (struct cancel_token *token);

/* From any thread. */
void cancel_token_cancel (struct cancel_token *token);

/* It can be read when it is time to stop. */
int cancel_token_fd (const struct cancel_token *token);
enum cancel_reason cancel_token_reason (struct cancel_token *token);
