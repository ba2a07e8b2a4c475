/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about records:
 *
 *     record.list      filters                   {"records": [...], "next"}
 *     record.show      run                       the record
 *     record.stats     filters                   how many, by what
 *     record.export    filters, form; a pipe     {"records", "bytes", "damaged"}, once all is written
 *     record.verify    head                      {"ok", "nodes": [...]} */
#include "common/json.h"
#include "frontends/server_store_private.h"
#include "frontends/submission.h"

/* What the library wants of them: text. NULL stays NULL; the caller's. */
static char *
filters_of (const struct store_call *call)
{
  const json_t *filters = json_object_get (call->question, "filters");
  return json_is_object (filters) ? json_to_text (filters) : NULL;
}

static char *
answer_list (const struct store_call *call, GError **error)
{
  g_autofree char *filters = filters_of (call);
  return adder_record_list (call->engine, call->owner, filters, error);
}

static char *
answer_show (const struct store_call *call, GError **error)
{
  return adder_record_show (call->engine, call->owner, store_call_text (call, "run"), error);
}

static char *
answer_stats (const struct store_call *call, GError **error)
{
  g_autofree char *filters = filters_of (call);
  return adder_record_stats (call->engine, call->owner, filters, error);
}

static char *
answer_export (const struct store_call *call, GError **error)
{
  if (call->fd_count == 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "a descriptor to write the records to must come with the question");
    return NULL;
  }
  g_autofree char *filters = filters_of (call);
  return adder_record_export (call->engine, call->owner, filters, store_call_text (call, "form"),
                              call->fds[0], error);
}

static char *
answer_verify (const struct store_call *call, GError **error)
{
  return adder_record_verify (call->engine, store_call_text (call, "head"), error);
}

const struct store_op server_store_records[] = {
    {"record.list", {{"filters", STORE_OBJECT, FALSE}}, 0, answer_list},
    {"record.show", {{"run", STORE_TEXT, TRUE}}, 0, answer_show},
    {"record.stats", {{"filters", STORE_OBJECT, FALSE}}, 0, answer_stats},
    {"record.export", {{"filters", STORE_OBJECT, FALSE}, {"form", STORE_TEXT, TRUE}}, 1, answer_export},
    {"record.verify", {{"head", STORE_TEXT, FALSE}}, 0, answer_verify},
    {0},
};
