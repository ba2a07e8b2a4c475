/* SPDX-License-Identifier: Apache-2.0 */
/* An answer out of its bytes, be it a stream of events or one JSON object, whichever was asked for. No I/O.
 */
#pragma once

#include "models/dialect.h"

struct reading;

/* Of an answer to QUESTION, which lives as long and whose `saw` is told of it. */
struct reading *reading_new (enum dialect dialect, const struct model_question *question);
/* NULL is allowed. */
void reading_free (struct reading *reading);

/* Goes on with LENGTH bytes. FALSE: it is known already that this is no answer, or that all of it that counts
 * is there. */
gboolean reading_take (struct reading *reading, const char *bytes, gsize length);
/* Whether the answer has ended, so that it does not matter how its connection does. */
gboolean reading_is_over (const struct reading *reading);
/* And whether nothing more is sent, so that nothing needs to be waited for. */
gboolean reading_is_done (const struct reading *reading);

enum reading_end {
  READING_WHOLE,
  READING_CUT,       /* it broke off */
  READING_ERROR,     /* the server says what went wrong: reading_error() */
  READING_MALFORMED, /* reading_error() says how */
};
/* There is no more. READING_WHOLE alone sets message, stop and tokens of *RET_ANSWER, and nothing else of it.
 */
enum reading_end reading_end (struct reading *reading, struct model_answer *ret_answer);
/* An object or a string of the server's; or, of READING_MALFORMED, a string of ours. The reading's. */
const json_t *reading_error (const struct reading *reading);
