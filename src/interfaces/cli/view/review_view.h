/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a review for people: on standard error, since standard output is the code's. */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

/* Shows CHANGES (of a result or a review) on STREAM: each file with its size, and what differs in text. Names
 * and text are made safe to show. */
void review_view_changes (FILE *stream, const json_t *changes);

/* One line for each of REVIEWS. */
void review_view_list (const json_t *reviews);

/* Asks whether to make the changes; only yes is yes. FALSE also when there is nobody to ask. */
gboolean review_view_ask (gsize count);
/* Whether there is: both standard input and standard error are a terminal. */
gboolean review_view_can_ask (void);
