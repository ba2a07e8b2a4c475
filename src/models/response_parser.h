/* SPDX-License-Identifier: Apache-2.0 */
/* An answer out of its bytes, be it a stream of events or one JSON object, as was asked for. No I/O. */
#pragma once

#include "models/dialect.h"

struct response_parser;

/* Of an answer to QUESTION, which lives as long and whose `saw` is told of it. */
struct response_parser *response_parser_new (enum dialect dialect, const struct model_question *question);
/* NULL is allowed. */
void response_parser_free (struct response_parser *parser);

/* Goes on with LENGTH bytes. FALSE: it is known already that this is no answer, or that all of it that counts
 * is there. */
gboolean response_parser_feed (struct response_parser *parser, const char *bytes, gsize length);
/* Whether the answer has ended, so that it does not matter how its connection does. */
gboolean response_parser_is_over (const struct response_parser *parser);
/* And whether nothing more is sent, so that nothing needs to be waited for. */
gboolean response_parser_is_done (const struct response_parser *parser);

enum response_end {
  RESPONSE_WHOLE,
  RESPONSE_CUT,       /* it broke off */
  RESPONSE_ERROR,     /* the server says what went wrong: response_parser_error() */
  RESPONSE_MALFORMED, /* response_parser_error() says how */
};
/* The bytes have ended. RESPONSE_WHOLE sets message, stop and tokens of *RET_ANSWER, all others nothing. */
enum response_end response_parser_end (struct response_parser *parser, struct model_answer *ret_answer);
/* An object or a string of the server's; or, of RESPONSE_MALFORMED, a string of ours. The parser's. */
const json_t *response_parser_error (const struct response_parser *parser);
