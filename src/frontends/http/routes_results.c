/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/results: long output of which a result shows only parts. */
#include "common/json.h"
#include "frontends/http/owner.h"
#include "frontends/http/shapes.h"

static void
handle_peek (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner;
  const json_t *query = http_query (request);
  if (!owner_asked_for (request, &owner))
    return;
  char *text = adder_output_peek (http_service (request)->engine, owner, http_parameter (request, "result"),
                                  json_member_text (query, "stream"),
                                  (guint64)json_integer_value (json_object_get (query, "offset")),
                                  (guint64)json_integer_value (json_object_get (query, "limit")),
                                  json_string_value (json_object_get (query, "grep")), &problem);
  http_reply_text (request, 200, text, problem);
}

static const struct field parameters[] = {PATH_ID ("result", "The `result_id` of a result."), {0}};
static const struct field query[] = {
    {.name = "stream",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"stdout\"",
     .pattern = "^(stdout|stderr)$",
     .pattern_words = "stdout or stderr",
     .text = "Which output."},
    {.name = "offset",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "0",
     .maximum = 1LL << 50,
     .unit = "bytes",
     .text = "Where to begin: the `next_offset` of the part before."},
    {.name = "limit",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "16384",
     .minimum = 64,
     .maximum = 1 << 20,
     .unit = "bytes",
     .text = "How much at most."},
    ASK_TEXT ("grep", 1000, "A regular expression: the lines in which it is found, in place of the text."),
    ASK_OWNER,
    {0},
};

/* clang-format off */
#define PART_HEAD \
    TEXT ("result_id", "Whose output it is."), \
    TEXT ("stream", "stdout or stderr."), \
    WHOLE ("offset", "Where the part begins."), \
    WHOLE ("next_offset", "Where to go on."), \
    WHOLE ("total_bytes", "How much there is."), \
    FLAG ("at_end", "Whether this was the last part.")
/* clang-format on */
static const struct field line_fields[] = {
    WHOLE ("line", "Its number, from 1."),
    WHOLE ("offset", "Where its text is."),
    TEXT ("text", "Of a long line what is around the match."),
    {0},
};
static const struct field text_part[] = {PART_HEAD, TEXT ("text", "Whole characters."), {0}};
static const struct field lines_part[] = {
    PART_HEAD,
    LIST ("lines", line_fields, "Those that match."),
    {0},
};
static const struct field *const replies[] = {text_part, lines_part, NULL};

const struct http_route http_routes_results[] = {
    {
        .method = "GET",
        .path = "/v1/results/{result}",
        .operation = "peekResult",
        .tag = "results",
        .title = "Read on in long output",
        .text = "A part of the output that a result shows only parts of, or the lines in which an expression "
                "is found.",
        .role = ROLE_GUEST,
        .parameters = parameters,
        .query = query,
        .replies = replies,
        .status = 200,
        .handle = handle_peek,
    },
    {0},
};
