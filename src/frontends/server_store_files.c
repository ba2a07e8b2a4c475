/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about kept files, and about all that is kept:
 *
 *     file.list      filters                       {"files": [...], "next"}
 *     file.put       name, conversation; the file  the file
 *     file.show      file                          the file
 *     file.open      file                          the file, and a descriptor to read it from
 *     file.remove    file                          {}
 *     store.show                                   where it is, and how full
 *     store.check    deep, force                   {"healthy", ...} */
#include "common/json.h"
#include "frontends/server_store_private.h"

static char *
answer_list (const struct store_call *call, GError **error)
{
  const json_t *filters = json_object_get (call->question, "filters");
  g_autofree char *text = json_is_object (filters) ? json_to_text (filters) : NULL;
  return adder_file_list (call->engine, call->owner, text, error);
}

/* What is put in for "all" is the caller's own. */
static char *
answer_put (const struct store_call *call, GError **error)
{
  if (call->fd_count == 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "a descriptor of the file must come with it");
    return NULL;
  }
  return adder_file_put (call->engine, call->owner ? call->owner : call->caller,
                         store_call_text (call, "conversation"), store_call_text (call, "name"), call->fds[0],
                         call->watch_fd, error);
}

static char *
answer_show (const struct store_call *call, GError **error)
{
  return adder_file_show (call->engine, call->owner, store_call_text (call, "file"), error);
}

static char *
answer_open (const struct store_call *call, GError **error)
{
  char *text = NULL;
  *call->ret_fd = adder_file_open (call->engine, call->owner, store_call_text (call, "file"), &text, error);
  return text;
}

static char *
answer_remove (const struct store_call *call, GError **error)
{
  return adder_file_remove (call->engine, call->owner, store_call_text (call, "file"), error)
             ? g_strdup ("{}")
             : NULL;
}

static char *
answer_store (const struct store_call *call, GError **error)
{
  return adder_store_show (call->engine, error);
}

static char *
answer_check (const struct store_call *call, GError **error)
{
  return adder_store_check (call->engine, store_call_is_set (call, "deep"), store_call_is_set (call, "force"),
                            call->watch_fd, error);
}

const struct store_op server_store_files[] = {
    {"file.list", {{"filters", STORE_OBJECT, FALSE}}, 0, answer_list},
    {"file.put", {{"name", STORE_TEXT, TRUE}, {"conversation", STORE_TEXT, FALSE}}, 1, answer_put},
    {"file.show", {{"file", STORE_TEXT, TRUE}}, 0, answer_show},
    {"file.open", {{"file", STORE_TEXT, TRUE}}, 0, answer_open},
    {"file.remove", {{"file", STORE_TEXT, TRUE}}, 0, answer_remove},
    {"store.show", {{NULL}}, 0, answer_store},
    {"store.check", {{"deep", STORE_FLAG, FALSE}, {"force", STORE_FLAG, FALSE}}, 0, answer_check},
    {0},
};
