/* SPDX-License-Identifier: Apache-2.0 */
/* Kept files by the names that callers use. */
#include "common/json.h"
#include "library/library.h"
#include "store/datasets.h"
#include "store/files.h"

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

int
library_open_file (AdderEngine *engine, const char *owner, const char *id, json_t **ret_file, GError **error)
{
  struct file_row *row = library_find_file (engine, owner, id, error);
  struct blobs *blobs = row ? store_blobs (engine->store, error) : NULL;
  int fd = blobs ? blobs_get (blobs, row->blob, row->bytes, row->sha256, error) : -1;
  if (fd >= 0)
    *ret_file = file_row_to_json (engine->store, row);
  file_row_free (row);
  return fd;
}
