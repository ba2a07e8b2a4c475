/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/file_tools.h"

#include "common/json.h"
#include "common/text.h"
#include "library/library.h"
#include "store/files.h"
#include "tools/attached_files.h"
#include "tools/shapes.h"

#define LISTED_MAX 500

/* clang-format off */
#define PARAMETER_FILE_ID \
  {.name = "file_id", .types = FIELD_TEXT, .minimum = 1, .maximum = 100, \
   .text = "The id of the file, from list_files or from the files of a run; @NAME: the data set of that name."}
/* clang-format on */

const struct field load_file_parameters[] = {
    PARAMETER_FILE_ID,
    {0},
};

const struct field load_file_session_parameters[] = {
    PARAMETER_FILE_ID,
    FIELD_NAME ("session", TRUE,
                "Put it into this session, with its next cell; without it, into runs without a session."),
    {0},
};

static const struct field load_reply[] = {
    {.name = "local_path", .types = FIELD_TEXT, .text = "Where the code finds it: /tmp/{filename}."},
    {.name = "filename", .types = FIELD_TEXT, .text = "Its name."},
    {0},
};
const struct field *const load_file_replies[] = {load_reply, NULL};

const struct field list_files_parameters[] = {
    {.name = "limit",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "50",
     .minimum = 1,
     .maximum = LISTED_MAX,
     .text = "At most so many."},
    {.name = "before",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .maximum = 100,
     .text = "Only files that are older than the one with this file_id: the next page."},
    {0},
};

static const struct field listed_members[] = {
    {.name = "file_id", .types = FIELD_TEXT, .text = "Its id, for load_file."},
    {.name = "filename", .types = FIELD_TEXT, .text = "Its name."},
    {.name = "mime", .types = FIELD_TEXT, .text = "What it looks like."},
    {.name = "bytes", .types = FIELD_INTEGER, .text = "Its size."},
    {.name = "created", .types = FIELD_TEXT, .text = "When it was stored."},
    {0},
};
static const struct field list_reply[] = {
    {.name = "files",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .members = listed_members,
     .text = "Your files, the newest first."},
    {0},
};
const struct field *const list_files_replies[] = {list_reply, NULL};

void
load_file_reply (struct call *call, const char *name)
{
  g_autofree char *path = g_strconcat ("/tmp/", name, NULL);
  call_reply (call, json_pack ("{s:s, s:s}", "local_path", path, "filename", name), NULL);
}

static gboolean
has_session (const struct call *call, const char *session, GError **error)
{
  g_autoptr (json_t) shown =
      call_operation (call, "session.show", json_pack ("{s:s}", "session", session), error);
  return shown != NULL;
}

void
load_file_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *name = NULL;
  const char *session = call_text (call, "session");
  if ((session && !has_session (call, session, &problem)) ||
      !attached_files_add (call, session, call_text (call, "file_id"), &name, &problem)) {
    call_fail (call, problem);
    return;
  }
  load_file_reply (call, name);
}

void
list_files_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  const struct file_filter filter = {
      .owner = call->caller->owner,
      .before = call_text (call, "before"),
      .most = (guint64)call_integer (call, "limit"),
  };
  g_autoptr (GPtrArray) rows = files_list (call->tools->engine->store, &filter, &problem);
  if (!rows) {
    call_fail (call, problem);
    return;
  }
  json_t *files = json_array ();
  for (guint i = 0; i < rows->len; i++) {
    const struct file_row *row = rows->pdata[i];
    g_autofree char *created = text_time (row->created_ms * 1000);
    json_array_append_new (files, json_pack ("{s:s, s:s, s:s, s:I, s:s}", "file_id", row->id, "filename",
                                             row->name, "mime", row->mime, "bytes", (json_int_t)row->bytes,
                                             "created", created));
  }
  call_reply (call, json_pack ("{s:o}", "files", files), NULL);
}
