/* SPDX-License-Identifier: Apache-2.0 */
/* Records for people, on standard output. Others chose the texts in them: each is shown as plain text. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* The records of a list, one line each, with OWNERS their owners. */
void record_view_list (const json_t *records, gboolean owners);
/* A run that began or ended (event.list), as one line. */
void record_view_event (const json_t *event, gboolean owners);
/* One, with its code. */
void record_view_one (const json_t *record);
void record_view_stats (const json_t *stats);
/* The results of verifying the chains. */
void record_view_verify (const json_t *answer);
