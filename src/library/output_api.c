/* SPDX-License-Identifier: Apache-2.0 */
/* Long output in include/adder.h. */
#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "library/library.h"
#include "store/files.h"
#include "store/output_read.h"

static gboolean
parse_stream (const char *stream, enum file_kind *ret_kind, GError **error)
{
  static const struct {
    const char *name;
    enum file_kind kind;
  } rows[] = {{"stdout", FILE_STDOUT}, {"stderr", FILE_STDERR}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (!stream || strcmp (rows[i].name, stream) == 0) {
      *ret_kind = rows[i].kind;
      return TRUE;
    }
  g_autofree char *shown = text_one_line (stream, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is none of: stdout, stderr", shown);
  return FALSE;
}

static void
say_there_is_none (const char *result_id, const char *stream, GError **error)
{
  g_autofree char *shown = text_one_line (result_id, 60);
  g_clear_error (error);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
               "no long %s of %s is kept: what is short is whole in its result, and long output is removed "
               "after [store] output_age_ms",
               stream ? stream : "stdout", shown);
}

char *
adder_output_peek (AdderEngine *engine, const char *owner, const char *result_id, const char *stream,
                   guint64 offset, guint64 limit, const char *grep, GError **error)
{
  enum file_kind kind;
  g_autoptr (GError) problem = NULL;
  g_return_val_if_fail (engine != NULL && result_id != NULL, NULL);
  struct blobs *blobs = parse_stream (stream, &kind, error) ? store_blobs (engine->store, error) : NULL;
  if (!blobs)
    return NULL;
  struct file_row *row = files_find_output (engine->store, owner, result_id, kind, &problem);
  if (!row) {
    if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
      say_there_is_none (result_id, stream, &problem);
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  g_autoptr (json_t) part = grep ? output_grep (blobs, row, offset, limit, grep, error)
                                 : output_read (blobs, row, offset, limit, error);
  file_row_free (row);
  if (!part)
    return NULL;
  json_object_set_new (part, "result_id", json_string (result_id));
  json_object_set_new (part, "stream", json_string (kind == FILE_STDOUT ? "stdout" : "stderr"));
  return json_to_text (part);
}
