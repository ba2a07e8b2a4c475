/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on kept files: files that runs made, and input files. Contents are passed by descriptors. */
#include <string.h>

#include "common/json.h"
#include "common/notifications.h"
#include "engine/host/interrupt.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/file_fields.h"
#include "operations/operation.h"
#include "store/file_upload.h"
#include "store/files.h"

#define NAME_LENGTH_MAX 8192 /* the limit of a part's headers over HTTP */

/* ---- the functions ---- */

static json_t *
file_list (const struct operation_call *call, GError **error)
{
  struct store *store = call->caller->engine->store;
  const struct file_filter filter = {
      .owner = call->owner,
      .conversation = operation_text (call, "conversation"),
      .session = operation_text (call, "session"),
      .run_id = operation_text (call, "run_id"),
      .name = operation_text (call, "name"),
      .before = operation_text (call, "before"),
      .outputs = operation_flag (call, "outputs"),
      .most = operation_number (call, "limit"),
  };
  g_autoptr (GPtrArray) rows = files_list (store, &filter, error);
  if (!rows)
    return NULL;
  json_t *files = json_array ();
  for (guint i = 0; i < rows->len; i++)
    json_array_append_new (files, file_row_to_json (store, rows->pdata[i]));
  const struct file_row *last = rows->len == filter.most ? rows->pdata[rows->len - 1] : NULL;
  return json_pack ("{s:o, s:s?}", "files", files, "next", last ? last->id : NULL);
}

static json_t *
file_show (const struct operation_call *call, GError **error)
{
  AdderEngine *engine = call->caller->engine;
  struct file_row *row = library_find_file (engine, call->owner, operation_text (call, "file"), error);
  json_t *file = row ? file_row_to_json (engine->store, row) : NULL;
  file_row_free (row);
  return file;
}

static json_t *
file_put (const struct operation_call *call, GError **error)
{
  AdderEngine *engine = call->caller->engine;
  /* A file put in for "all" is the caller's own. */
  const char *owner = call->owner ? call->owner : call->caller->owner;
  const struct file_upload upload = {
      .owner = owner ? owner : "",
      .conversation = operation_text (call, "conversation"),
      .name = operation_text (call, "name"),
      .fd = call->caller->fd,
  };
  struct interrupt interrupt;
  char id[ID_BYTES];
  if (upload.conversation && strlen (upload.conversation) > ADDER_CONVERSATION_BYTES) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "conversation must be at most %d bytes",
                 ADDER_CONVERSATION_BYTES);
    return NULL;
  }
  if (!interrupt_init (&interrupt, call->caller->watch_fd, error))
    return NULL;
  gboolean kept = file_upload (engine->store, &upload, &interrupt, id, error);
  interrupt_clear (&interrupt);
  if (!kept)
    return NULL;
  notifications_send (engine->engine->notifications, NOTIFICATION_FILE, NOTIFICATION_CREATED, upload.owner,
                      id);
  struct file_row *row = files_find (engine->store, NULL, id, error);
  json_t *file = row ? file_row_to_json (engine->store, row) : NULL;
  file_row_free (row);
  return file;
}

static json_t *
file_open (const struct operation_call *call, GError **error)
{
  json_t *file = NULL;
  *call->caller->ret_fd =
      library_open_file (call->caller->engine, call->owner, operation_text (call, "file"), &file, error);
  return file;
}

static json_t *
file_remove (const struct operation_call *call, GError **error)
{
  AdderEngine *engine = call->caller->engine;
  const char *id = operation_text (call, "file");
  struct file_row *row = files_find (engine->store, call->owner, id, NULL);
  gboolean removed = files_remove (engine->store, call->owner, id, error);
  if (row && removed)
    notifications_send (engine->engine->notifications, NOTIFICATION_FILE, NOTIFICATION_ENDED, row->owner,
                        row->id);
  file_row_free (row);
  return removed ? json_object () : NULL;
}

/* ---- the fields ---- */

const struct field file_fields[] = {
    TEXT ("file_id", "Its id; ids sort by time of creation."),
    TEXT ("name", "The last part of its name, sanitized."),
    TEXT ("kind", "generated, table, uploaded, stdout or stderr."),
    TEXT ("mime", "Determined by the name's extension, or else by the first bytes."),
    WHOLE ("bytes", "Its size."),
    TEXT ("sha256", "The digest of its content."),
    TEXT ("created", "In UTC."),
    TEXT ("expires", "In UTC."),
    TEXT_0 ("owner", "Its owner."),
    TEXT_0 ("conversation", "The conversation to which it belongs."),
    TEXT_0 ("session", "The session in which it was created."),
    TEXT_0 ("run_id", "The run that created it."),
    TEXT_0 ("url", "A signed path. Anyone who has it can read the file until it expires."),
    FIELD_END ("StoredFile"),
};
static const struct field file_list_fields[] = {
    LIST ("files", file_fields, "Newest first."),
    TEXT_0 ("next", "The value of `before` for the next page; null if there is none."),
    FIELD_END ("FilePage"),
};
static const struct field no_fields[] = {{0}};

static const struct field list_params[] = {
    ASK_TEXT ("conversation", 200, "The caller's name for the conversation."),
    ASK_TEXT ("session", 64, "Files that this session created, by its id."),
    ASK_TEXT ("run_id", 36, "Files that this run created."),
    ASK_TEXT ("name", 255, "Exactly so."),
    ASK_FLAG ("outputs", "Whether to list long output too."),
    {.name = "limit",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "100",
     .minimum = 1,
     .maximum = FILES_LISTED_MAX,
     .text = "How many at most."},
    ASK_TEXT ("before", 36, "The `next` of the previous page."),
    ASK_OWNER,
    {0},
};
static const struct field find_params[] = {
    {.name = "file",
     .types = FIELD_TEXT,
     .pattern = "^(@[A-Za-z0-9_][A-Za-z0-9_.:-]{0,83}|[0-9a-fA-F-]{4,36})$",
     .pattern_words = "the id of a file, or @ and the name of a data set",
     .text = "Its id; `@NAME` or `@NAME:VERSION`: the table of a data set."},
    ASK_OWNER,
    {0},
};
static const struct field put_params[] = {
    {.name = "name",
     .types = FIELD_TEXT,
     .maximum = NAME_LENGTH_MAX,
     .text = "Its last part is used, sanitized."},
    ASK_TEXT ("conversation", ADDER_CONVERSATION_BYTES, "The conversation to which it will belong."),
    ASK_TEXT ("owner", 200, "The owner (admins only). The caller by default."),
    {0},
};
static const struct field remove_params[] = {FIELD_ID ("file", "Its id."), ASK_OWNER, {0}};

static const struct field *const list_replies[] = {file_list_fields, NULL};
static const struct field *const file_replies[] = {file_fields, NULL};
static const struct field *const no_replies[] = {no_fields, NULL};

/* ---- the table ---- */

#define FILES "/v1/files"

const struct operation file_operations[] = {
    {
        .name = "file.list",
        .title = "List files",
        .text = "What runs made and what was put in, the newest first.",
        .flags = OPERATION_KEPT,
        .params = list_params,
        .replies = list_replies,
        .run = file_list,
        .http = {"GET", FILES, "listFiles", 200},
    },
    {
        .name = "file.show",
        .title = "Show a file",
        .text = "What is known of it, with a signed URL.",
        .flags = OPERATION_KEPT,
        .params = find_params,
        .replies = file_replies,
        .run = file_show,
        .http = {"GET", FILES "/{file}", "showFile", 200},
    },
    {
        .name = "file.put",
        .title = "Put a file in",
        .text =
            "Keeps a copy of what the descriptor that comes along reads: a regular file, or a pipe to its "
            "end. Over HTTP it is `putFiles`.",
        .flags = OPERATION_KEPT | OPERATION_FILE,
        .params = put_params,
        .replies = file_replies,
        .run = file_put,
    },
    {
        .name = "file.open",
        .title = "Open a file",
        .text = "What is known of it, and a descriptor to read it from. Over HTTP it is `getFile`.",
        .flags = OPERATION_KEPT | OPERATION_OPENS,
        .params = find_params,
        .replies = file_replies,
        .run = file_open,
    },
    {
        .name = "file.remove",
        .title = "Remove a file",
        .text = "A run that has it keeps it until it ends.",
        .flags = OPERATION_KEPT,
        .params = remove_params,
        .replies = no_replies,
        .run = file_remove,
        .http = {"DELETE", FILES "/{file}", "removeFile", 204},
    },
    {0},
};
