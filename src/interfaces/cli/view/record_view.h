/* SPDX-License-Identifier: Apache-2.0 */
/* Records as people read them, on standard output. Texts in them were chosen by others: each is shown as
 * plain text. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* The records of a list, one line each, with OWNERS whose each is. */
void record_view_list (const json_t *records, gboolean owners);
/* One, with its code. */
void record_view_one (const json_t *record);
void record_view_stats (const json_t *stats);
/* What verifying the chains found. */
void record_view_verify (const json_t *answer);
