/* SPDX-License-Identifier: Apache-2.0 */
/* A line on standard error that says what is waited for, and for how long: after a second in which nothing
 * else was shown, where that is a terminal whose lines can be written over; elsewhere nothing. */
#pragma once

#include <glib.h>

struct activity;

/* Shows LABEL, a constant, in a thread of its own. NULL, which all others take: there is no such terminal. */
struct activity *activity_start (const char *label);

/* Takes the line away: something else is written. */
void activity_pause (struct activity *activity);
/* May show it again, with another LABEL unless that is NULL. The cursor is at the beginning of a line. */
void activity_resume (struct activity *activity, const char *label);

void activity_end (struct activity *activity);
