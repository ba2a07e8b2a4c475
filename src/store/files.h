/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are kept: those that runs made, those that somebody put in, and long output. A row in the
 * database and a blob, in this order, so that nothing is ever without the other for long:
 *
 *     row `pending`  ->  blob  ->  row `kept`  ->  row `removing`  ->  no blob  ->  no row
 *
 * Only rows that are `kept` are seen. A row names its writer (store.h); what a dead one left is finished by
 * files_recover. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/host/id.h"
#include "store/blobs.h"
#include "store/database.h"
#include "store/store.h"

enum file_kind {
  FILE_GENERATED, /* of a run: blob generated/{id}_{name} */
  FILE_TABLE,     /* a table that a run showed, whole; likewise */
  FILE_UPLOADED,  /* put in: blob uploaded/{id}_{name} */
  FILE_STDOUT,    /* long output of a run: blob output/{id} */
  FILE_STDERR,
  /* The table and the facts of a data set (datasets.h): blob datasets/{id}_{name}. They neither expire nor
   * make room for others, and go with their data set alone. */
  FILE_DATASET,
  FILE_DATASET_FACTS,
  FILE_GIVEN, /* to a session, for its replays: blob given/{id}_{name} */
};

/* A file that is to be kept. Texts are the caller's. */
struct file_new {
  enum file_kind kind;
  int fd;           /* regular; the caller's */
  const char *name; /* as shown; only its last part is used, cleaned */
  const char *mime, *sha256;
  guint64 bytes;
  const char *owner, *conversation, *session, *run_id; /* all but owner may be NULL */
  char id[ID_BYTES];                                   /* filled by files_write */
  gboolean written;                                    /* by files_write: whether its blob is whole */
  int code;                                            /* and where it is not, an AdderError */
};

/* Writes rows (`pending`) and blobs for COUNT files. What cannot be kept has `written` FALSE and a line in
 * WARNINGS (of char *), which names the file and why; the others go on. Rooms of owners are minded: the
 * oldest of OWNER's files make room. */
void files_write (struct store *store, struct file_new *files, gsize count, GPtrArray *warnings);

/* Within TRANSACTION: those that were written are `kept` from its commit on. */
gboolean files_keep (struct store *store, struct transaction *transaction, const struct file_new *files,
                     gsize count, GError **error);

/* After files_keep did not come about: their rows and blobs go, now or when the database is back. */
void files_abandon (struct store *store, const struct file_new *files, gsize count);

/* Writes and keeps one FILE; that it could not be is ERROR. */
gboolean files_put (struct store *store, struct file_new *file, GError **error);

/* One file, found by its id, that OWNER (NULL: anybody) may see. ADDER_ERROR_NOT_FOUND. */
struct file_row {
  char id[ID_BYTES];
  enum file_kind kind;
  char *name, *mime, *sha256, *blob, *owner, *conversation, *session, *run_id;
  guint64 bytes;
  gint64 created_ms, expires_ms;
};
struct file_row *files_find (struct store *store, const char *owner, const char *id, GError **error);
void file_row_free (struct file_row *row);

/* The long output STREAM (FILE_STDOUT or FILE_STDERR) of a run. */
struct file_row *files_find_output (struct store *store, const char *owner, const char *run_id,
                                    enum file_kind stream, GError **error);

/* Which files are listed. NULL: any. */
struct file_filter {
  const char *owner, *conversation, *session, *run_id;
  const char *name;   /* exactly so */
  const char *before; /* an id: those that are older than it, for the next page */
  gboolean outputs;   /* long output, and files of data sets, as well */
  guint64 most;       /* at most so many, and at most FILES_LISTED_MAX */
};
#define FILES_LISTED_MAX 10000

/* The newest first: an array of struct file_row, freed with it. NULL with ERROR. */
GPtrArray *files_list (struct store *store, const struct file_filter *filter, GError **error);

/* A file that OWNER (NULL: anybody) may see is gone for everybody once this returns. ADDER_ERROR_NOT_FOUND;
 * ADDER_ERROR_INVALID for one of a data set. */
gboolean files_remove (struct store *store, const char *owner, const char *id, GError **error);

/* What callers are told of a file, with a new URL: an object, the caller's. */
json_t *file_row_to_json (struct store *store, const struct file_row *row);
/* "generated", "table", "uploaded", "stdout", "stderr", "dataset", "dataset-facts", "given". */
const char *file_kind_name (enum file_kind kind);

/* The signed path of a file, good for [store] url_age_ms:
 * "{url}/v1/files/{id}/{name}?expires=..&signature=..", of NAME the last part, cleaned. The caller's; NULL
 * when the database, which holds the key, cannot be read. */
char *files_url (struct store *store, const char *id, const char *name);
/* Whether such a path's parts are right at this time. */
gboolean files_url_is_good (struct store *store, const char *id, gint64 expires_s, const char *signature);

/* Finishes what dead writers of this node left; removes what expired. Called at the start, by the store's
 * thread, and by store_check. */
gboolean files_recover (struct store *store, GError **error);
