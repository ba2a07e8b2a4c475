/* SPDX-License-Identifier: Apache-2.0 */
/* A line on standard error that says what the command waits for, and for how long: after a second without
 * other output, if that is a terminal that can rewrite lines; elsewhere nothing. */
#pragma once

#include <glib.h>

struct activity;

/* Shows LABEL, a constant, in a thread of its own. NULL, which the other functions accept: there is no such
 * terminal. */
struct activity *activity_start (const char *label);

/* Removes the line before other output. */
void activity_pause (struct activity *activity);
/* May show it again, with another LABEL unless that is NULL. The cursor is at the beginning of a line. */
void activity_resume (struct activity *activity, const char *label);

void activity_end (struct activity *activity);
