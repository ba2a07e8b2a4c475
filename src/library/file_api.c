/* SPDX-License-Identifier: Apache-2.0 */
/* Kept files in include/adder.h: filters from JSON, answers to it. */
#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/interrupt.h"
#include "library/library.h"
#include "store/check.h"
#include "store/datasets.h"
#include "store/file_upload.h"
#include "store/files.h"

#define LISTED             100
#define CONVERSATION_BYTES 200 /* as of runs: adder_request_set_owner */

/* Takes VALUE; NULL stays NULL. */
static char *
text_of (json_t *value)
{
  char *text = value ? json_to_text (value) : NULL;
  json_decref (value);
  return text;
}

/* ---- lists ---- */

static gboolean
wrong_filter (const char *name, const char *expected, GError **error)
{
  g_autofree char *shown = text_one_line (name, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the filter of files has \"%s\": %s", shown,
               expected);
  return FALSE;
}

static gboolean
set_text (const char **ret_text, const char *name, const json_t *value, GError **error)
{
  if (!json_is_string (value))
    return wrong_filter (name, "it must be text", error);
  *ret_text = json_string_value (value);
  return TRUE;
}

/* FILTER's texts are those of FILTERS. */
static gboolean
read_filter (json_t *filters, struct file_filter *filter, GError **error)
{
  const struct {
    const char *name, **text;
  } texts[] = {{"conversation", &filter->conversation},
               {"session", &filter->session},
               {"run_id", &filter->run_id},
               {"name", &filter->name},
               {"before", &filter->before}};
  const char *name;
  json_t *value;
  json_object_foreach (filters, name, value)
  {
    gsize i = 0;
    while (i < G_N_ELEMENTS (texts) && strcmp (texts[i].name, name) != 0)
      i++;
    if (json_is_null (value))
      continue;
    if (i < G_N_ELEMENTS (texts)) {
      if (!set_text (texts[i].text, name, value, error))
        return FALSE;
    } else if (strcmp (name, "outputs") == 0 && json_is_boolean (value))
      filter->outputs = json_is_true (value);
    else if (strcmp (name, "limit") == 0 && json_is_integer (value) && json_integer_value (value) > 0 &&
             json_integer_value (value) <= FILES_LISTED_MOST)
      filter->most = (guint64)json_integer_value (value);
    else if (strcmp (name, "limit") == 0)
      return wrong_filter (name, "it must be a number from 1 to " G_STRINGIFY (FILES_LISTED_MOST), error);
    else if (strcmp (name, "outputs") == 0)
      return wrong_filter (name, "it must be true or false", error);
    else
      return wrong_filter (name, "there is no such filter", error);
  }
  return TRUE;
}

char *
adder_file_list (AdderEngine *engine, const char *owner, const char *filters, GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  struct file_filter filter = {.owner = owner, .most = LISTED};
  g_autoptr (json_t) parsed =
      filters ? json_parse_object (filters, strlen (filters), "the filter of files", error) : json_object ();
  if (!parsed || !read_filter (parsed, &filter, error))
    return NULL;
  g_autoptr (GPtrArray) rows = files_list (engine->store, &filter, error);
  if (!rows)
    return NULL;
  json_t *files = json_array ();
  for (guint i = 0; i < rows->len; i++)
    json_array_append_new (files, file_row_to_json (engine->store, rows->pdata[i]));
  const struct file_row *last = rows->len == filter.most ? rows->pdata[rows->len - 1] : NULL;
  return text_of (json_pack ("{s:o, s:s?}", "files", files, "next", last ? last->id : NULL));
}

/* ---- one file ---- */

struct file_row *
library_find_file (AdderEngine *engine, const char *owner, const char *id, GError **error)
{
  const char *named = id[0] == '@' ? id + 1 : NULL;
  if (!named || g_uuid_string_is_valid (named))
    return files_find (engine->store, owner, named ? named : id, error);
  struct dataset *dataset = dataset_find (engine->store, owner ? owner : "", named, error);
  struct file_row *row =
      dataset ? files_find (engine->store, dataset->owner, dataset->table_id, error) : NULL;
  dataset_free (dataset);
  return row;
}

char *
adder_file_show (AdderEngine *engine, const char *owner, const char *file_id, GError **error)
{
  g_return_val_if_fail (engine != NULL && file_id != NULL, NULL);
  struct file_row *row = library_find_file (engine, owner, file_id, error);
  if (!row)
    return NULL;
  char *text = text_of (file_row_to_json (engine->store, row));
  file_row_free (row);
  return text;
}

char *
adder_file_put (AdderEngine *engine, const char *owner, const char *conversation, const char *name, int fd,
                int watch_fd, GError **error)
{
  g_return_val_if_fail (engine != NULL && name != NULL && fd >= 0, NULL);
  const struct file_upload upload = {
      .owner = owner ? owner : "", .conversation = conversation, .name = name, .fd = fd};
  struct interrupt interrupt;
  char id[ID_BYTES];
  if (conversation && strlen (conversation) > CONVERSATION_BYTES) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the conversation has more than %d bytes",
                 CONVERSATION_BYTES);
    return NULL;
  }
  if (!interrupt_init (&interrupt, watch_fd, error))
    return NULL;
  gboolean kept = file_upload (engine->store, &upload, &interrupt, id, error);
  interrupt_clear (&interrupt);
  if (kept)
    news_tell (engine->engine->news, NEWS_FILE, upload.owner, id);
  return kept ? adder_file_show (engine, NULL, id, error) : NULL;
}

int
adder_file_open (AdderEngine *engine, const char *owner, const char *file_id, char **ret_json, GError **error)
{
  g_return_val_if_fail (engine != NULL && file_id != NULL, -1);
  struct file_row *row = library_find_file (engine, owner, file_id, error);
  struct blobs *blobs = row ? store_blobs (engine->store, error) : NULL;
  int fd = blobs ? blobs_get (blobs, row->blob, row->bytes, row->sha256, error) : -1;
  if (fd >= 0 && ret_json)
    *ret_json = text_of (file_row_to_json (engine->store, row));
  file_row_free (row);
  return fd;
}

int
adder_file_open_signed (AdderEngine *engine, const char *file_id, gint64 expires_s, const char *signature,
                        char **ret_json, GError **error)
{
  g_return_val_if_fail (engine != NULL && file_id != NULL && signature != NULL, -1);
  if (files_url_is_good (engine->store, file_id, expires_s, signature))
    return adder_file_open (engine, NULL, file_id, ret_json, error);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "the URL is not right, or has expired");
  return -1;
}

gboolean
adder_file_remove (AdderEngine *engine, const char *owner, const char *file_id, GError **error)
{
  g_return_val_if_fail (engine != NULL && file_id != NULL, FALSE);
  struct file_row *row = files_find (engine->store, owner, file_id, NULL);
  gboolean removed = files_remove (engine->store, owner, file_id, error);
  if (row && removed)
    news_tell (engine->engine->news, NEWS_FILE, row->owner, row->id);
  file_row_free (row);
  return removed;
}

/* ---- the store ---- */

char *
adder_store_show (AdderEngine *engine, GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  (void)error;
  return text_of (store_describe (engine->store));
}

char *
adder_store_check (AdderEngine *engine, gboolean deep, gboolean force, int watch_fd, GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  const struct check_options options = {.deep = deep, .force = force};
  struct interrupt interrupt;
  if (!interrupt_init (&interrupt, watch_fd, error))
    return NULL;
  json_t *found = store_check (engine->store, &options, &interrupt, error);
  interrupt_clear (&interrupt);
  return text_of (found);
}
