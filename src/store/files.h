/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are kept: those that runs made, uploads, and long output. A row in the database and a blob, in
 * this order, so that neither is without the other for long:
 *
 *     row `pending`  ->  blob  ->  row `kept`  ->  row `removing`  ->  no blob  ->  no row
 *
 * Only `kept` rows are visible. A row names its writer (store.h); what a dead one left is finished by
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
  FILE_UPLOADED,  /* uploaded: blob uploaded/{id}_{name} */
  FILE_STDOUT,    /* long output of a run: blob output/{id} */
  FILE_STDERR,
  /* The table and the facts of a data set (datasets.h): blob datasets/{id}_{name}. They neither expire nor
   * make room for others, and are removed only with their data set. */
  FILE_DATASET,
  FILE_DATASET_FACTS,
  FILE_GIVEN, /* to a session, for its replays: blob given/{id}_{name} */
};

/* A file to keep. Texts are the caller's. */
struct file_new {
  enum file_kind kind;
  int fd;           /* regular; the caller's */
  const char *name; /* as displayed; only its last part is used, sanitized */
  const char *mime, *sha256;
  guint64 bytes;
  const char *owner, *conversation, *session, *run_id; /* all but owner may be NULL */
  char id[ID_BYTES];                                   /* filled by files_write */
  gboolean written;                                    /* by files_write: whether its blob is complete */
  int code;                                            /* and if not, an AdderError */
};

/* Writes rows (`pending`) and blobs for COUNT files. A file that cannot be kept has `written` FALSE and a
 * line in WARNINGS (of char *), which names the file and the reason; the others go on. Within each owner's
 * limits: the oldest of OWNER's files make room. */
void files_write (struct store *store, struct file_new *files, gsize count, GPtrArray *warnings);

/* Within TRANSACTION: the written ones are `kept` from its commit on. */
gboolean files_keep (struct store *store, struct transaction *transaction, const struct file_new *files,
                     gsize count, GError **error);

/* If files_keep did not happen: removes their rows and blobs, now or when the database is back. */
void files_abandon (struct store *store, const struct file_new *files, gsize count);

/* Writes and keeps one FILE; ERROR if that failed. */
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

/* Selects files for a list. NULL: any. */
struct file_filter {
  const char *owner, *conversation, *session, *run_id;
  const char *name;   /* exactly so */
  const char *before; /* an id: those that are older than it, for the next page */
  gboolean outputs;   /* long output, and files of data sets, as well */
  guint64 most;       /* the maximum number, and at most FILES_LISTED_MAX */
};
#define FILES_LISTED_MAX 10000

/* Newest first: an array of struct file_row, freed with it. NULL with ERROR. */
GPtrArray *files_list (struct store *store, const struct file_filter *filter, GError **error);

/* Removes a file that OWNER (NULL: anybody) may see, for everybody. ADDER_ERROR_NOT_FOUND;
 * ADDER_ERROR_INVALID for one of a data set. */
gboolean files_remove (struct store *store, const char *owner, const char *id, GError **error);

/* The description of a file for callers, with a new URL: an object, the caller's. */
json_t *file_row_to_json (struct store *store, const struct file_row *row);
/* "generated", "table", "uploaded", "stdout", "stderr", "dataset", "dataset-facts", "given". */
const char *file_kind_name (enum file_kind kind);

/* The signed path of a file, good for [store] url_age_ms:
 * "{url}/v1/files/{id}/{name}?expires=..&signature=..", with the last part of NAME, sanitized. The caller's;
 * NULL when the database, which holds the key, cannot be read. */
char *files_url (struct store *store, const char *id, const char *name);
/* Whether the parts of such a path are valid now. */
gboolean files_url_is_good (struct store *store, const char *id, gint64 expires_s, const char *signature);

/* Finishes what dead writers of this node left; removes expired files. Called at the start, by the store's
 * thread, and by store_check. */
gboolean files_recover (struct store *store, GError **error);
