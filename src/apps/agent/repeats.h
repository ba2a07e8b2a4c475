/* SPDX-License-Identifier: Apache-2.0 */
/* A model that does the same thing again and again: the same function with the same arguments, running. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define REPEATS_REFUSED 3 /* the third time running is refused ... */
#define REPEATS_END     5 /* ... and the fifth ends the turn */

struct repeats {
  char *last; /* name and arguments */
  guint times;
};
void repeats_clear (struct repeats *repeats);

enum repeats_verdict { REPEATS_RUN, REPEATS_REFUSE, REPEATS_OVER };

/* Takes note of a call that is about to be made. ARGUMENTS may be NULL: there were none that can be read. */
enum repeats_verdict repeats_see (struct repeats *repeats, const char *name, const json_t *arguments);
