/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about reviews: one table from the word to the library's function. */
#include "frontends/server_review.h"

#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "frontends/submission.h"

struct call {
  AdderEngine *engine;
  const char *owner, *review, *digest;
  int directory_fd;
};

static char *
answer_list (const struct call *call, GError **error)
{
  return adder_review_list (call->engine, call->owner, error);
}

static char *
answer_show (const struct call *call, GError **error)
{
  return adder_review_show (call->engine, call->owner, call->review, error);
}

static char *
answer_commit (const struct call *call, GError **error)
{
  return adder_review_commit (call->engine, call->owner, call->review, call->digest, call->directory_fd,
                              error);
}

static char *
answer_undo (const struct call *call, GError **error)
{
  return adder_review_undo (call->engine, call->owner, call->review, call->directory_fd, error);
}

static char *
answer_drop (const struct call *call, GError **error)
{
  return adder_review_drop (call->engine, call->owner, call->review, error);
}

static const struct row {
  const char *op;
  gboolean all; /* it is not about one review */
  char *(*answer) (const struct call *call, GError **error);
} row_table[] = {
    {"list", TRUE, answer_list},  {"show", FALSE, answer_show}, {"commit", FALSE, answer_commit},
    {"undo", FALSE, answer_undo}, {"drop", FALSE, answer_drop},
};

static const struct row *
find_row (const json_t *question, GError **error)
{
  const char *op = json_string_value (json_object_get (question, "op"));
  for (gsize i = 0; op && i < G_N_ELEMENTS (row_table); i++)
    if (strcmp (row_table[i].op, op) == 0)
      return &row_table[i];
  g_autofree char *shown = op ? text_one_line (op, 40) : NULL;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there is no question \"%s\" about reviews",
               shown ? shown : "");
  return NULL;
}

static gboolean
check_fields (const json_t *question, GError **error)
{
  static const char *const known[] = {"op", "review", "digest"};
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)question, name, value)
  {
    gboolean found = FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
      found |= strcmp (known[i], name) == 0;
    if (!found) {
      g_autofree char *shown = text_one_line (name, 40);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the request has the unknown field \"%s\"",
                   shown);
      return FALSE;
    }
    if (!json_is_string (value) && !json_is_null (value))
      return submission_wrong_type (name, "text", error);
  }
  return TRUE;
}

char *
server_review_ask (AdderEngine *engine, const char *owner, const json_t *question, int directory_fd,
                   GError **error)
{
  const struct row *row = find_row (question, error);
  if (!row || !check_fields (question, error))
    return NULL;
  const struct call call = {
      .engine = engine,
      .owner = owner,
      .review = json_string_value (json_object_get (question, "review")),
      .digest = json_string_value (json_object_get (question, "digest")),
      .directory_fd = directory_fd,
  };
  if (!row->all && !call.review) {
    submission_wrong_type ("review", "text", error);
    return NULL;
  }
  /* cppcheck-suppress returnDanglingLifetime ; the answer is a text of its own */
  return row->answer (&call, error);
}

char *
server_review_answer (AdderEngine *engine, const char *owner, const struct protocol_message *message,
                      GError **error)
{
  g_autoptr (json_t) question = json_parse_object (message->data, message->length, "the request", error);
  if (!question)
    return NULL;
  return server_review_ask (engine, owner, question, message->fd_count > 0 ? message->fds[0] : -1, error);
}
