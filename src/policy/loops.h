/* SPDX-License-Identifier: Apache-2.0 */
/* Loops: a model that runs the same failing code again and again. Failures since the last success are
 * remembered for each conversation of an owner; the sandbox gets them with the next code and refuses what has
 * failed often enough (runner/python/attempts.py), since only the sandbox has the code's syntax tree. A
 * sandbox that lies about its code deceives its own conversation alone.
 *
 * The same code in another setting (limits, files, profile, session ...) is different. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "engine/request/request.h"

struct loops;
struct loops *loops_new (const struct config *config);
struct loops *loops_ref (struct loops *loops);
void loops_unref (struct loops *loops);

/* {"most": n, "failed": [{"digest", "near", "error"}]}: the failures of CONVERSATION of OWNER in SETTING, for
 * the sandbox. The caller's; NULL when nobody keeps count. */
json_t *loops_attempts (struct loops *loops, const char *owner, const char *conversation, guint64 setting);

/* A run in CONVERSATION ended as END. */
void loops_ended (struct loops *loops, const char *owner, const char *conversation, guint64 setting,
                  const struct request_end *end);

/* A number for an error: equal for messages that differ only in numbers and white space. */
guint32 loops_error_key (const char *type, const char *message);
