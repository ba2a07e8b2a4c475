/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/file_tools.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
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

gboolean
file_tools_is_id (const char *text)
{
  return text[0] == '@' || g_uuid_string_is_valid (text);
}

/* ---- get_file ---- */

#define PICTURE_BYTES (3 * 1024 * 1024) /* the most of a picture that is read */

const struct field get_file_parameters[] = {
    {.name = "file_id",
     .types = FIELD_TEXT,
     .minimum = 1,
     .maximum = 100,
     .text = "From list_files or a reply."},
    FIELDS_OF_READING ("Where to begin.", "How much."),
    {0},
};

static const struct field get_file_reply[] = {
    {.name = "filename", .types = FIELD_TEXT, .text = "Its name."},
    {.name = "mime", .types = FIELD_TEXT, .text = "What it looks like."},
    {.name = "bytes", .types = FIELD_INTEGER, .text = "Its size."},
    {.name = "text", .types = FIELD_TEXT, .text = "That part of it; of a picture what it is."},
    {.name = "next_offset",
     .types = FIELD_INTEGER | FIELD_NULL,
     .text = "Where to go on; null where there is no more."},
    {.name = "displays",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .optional = TRUE,
     .text = "The picture, by MIME type in base64."},
    {0},
};
const struct field *const get_file_replies[] = {get_file_reply, NULL};

/* LENGTH bytes of FD from OFFSET on, and a zero byte. NULL with ERROR. */
static char *
file_tools_read (int fd, gint64 offset, gsize length, GError **error)
{
  g_autofree char *data = g_malloc (length + 1);
  gsize done = 0;
  while (done < length) {
    ssize_t got = pread (fd, data + done, length - done, offset + (gint64)done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0) {
      error_from_errno (error, got < 0 ? errno : EIO, "cannot read the file");
      return NULL;
    }
    done += (gsize)got;
  }
  data[length] = '\0';
  return g_steal_pointer (&data);
}

/* How many bytes at the beginning of DATA continue an earlier character. */
static gsize
file_tools_skip (const char *data, gsize length)
{
  gsize skip = 0;
  while (skip < length && skip < 3 && ((guchar)data[skip] & 0xc0) == 0x80)
    skip++;
  return skip;
}

/* How many of the LENGTH bytes of DATA are whole characters; 0: it is not text. An incomplete character at
 * the end has fewer than 4 bytes. */
static gsize
file_tools_whole (const char *data, gsize length, gboolean is_end)
{
  const char *end;
  if (g_utf8_validate_len (data, length, &end))
    return length;
  gsize whole = (gsize)(end - data);
  return !is_end && length - whole < 4 && !memchr (end, '\0', length - whole) ? whole : 0;
}

/* The part of the text behind FD that CALL asks for. The caller's; NULL: it is no text, or ERROR. */
static json_t *
file_tools_text (const struct call *call, int fd, gint64 bytes, GError **error)
{
  gint64 offset = MIN (call_integer (call, "offset"), bytes);
  gsize length = (gsize)MIN (call_integer (call, "limit"), bytes - offset);
  g_autofree char *data = file_tools_read (fd, offset, length, error);
  if (!data)
    return NULL;
  gsize skip = offset > 0 ? file_tools_skip (data, length) : 0;
  gboolean is_end = offset + (gint64)length == bytes;
  gsize whole = file_tools_whole (data + skip, length - skip, is_end);
  if (whole == 0 && length > skip)
    return NULL;
  json_int_t next = offset + (gint64)(skip + whole);
  return json_pack ("{s:s%, s:o}", "text", data + skip, whole, "next_offset",
                    next < bytes ? json_integer (next) : json_null ());
}

/* The picture of TYPE behind FD. The caller's; NULL: it is none, or ERROR. */
static json_t *
file_tools_picture (int fd, const char *type, gint64 bytes, const char *name, GError **error)
{
  if ((strcmp (type, "image/png") != 0 && strcmp (type, "image/jpeg") != 0) || bytes > PICTURE_BYTES)
    return NULL;
  g_autofree char *data = file_tools_read (fd, 0, (gsize)bytes, error);
  if (!data)
    return NULL;
  g_autofree char *base64 = g_base64_encode ((const guchar *)data, (gsize)bytes);
  g_autofree char *words = g_strdup_printf ("%s: a picture of %" G_GINT64_FORMAT " bytes", name, bytes);
  return json_pack ("{s:s, s:n, s:[{s:s}]}", "text", words, "next_offset", "displays", type, base64);
}

static json_t *
get_file (const struct call *call, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) file = NULL;
  autoclose int fd =
      library_open_file (call->tools->engine, call->caller->owner, call_text (call, "file_id"), &file, error);
  if (fd < 0)
    return NULL;
  const char *name = json_member_text (file, "name"), *type = json_member_text (file, "mime");
  gint64 bytes = json_integer_value (json_object_get (file, "bytes"));
  json_t *reply = file_tools_picture (fd, type, bytes, name, &problem);
  if (!reply && !problem)
    reply = file_tools_text (call, fd, bytes, &problem);
  if (reply) {
    json_object_set (reply, "filename", json_object_get (file, "name"));
    json_object_set (reply, "mime", json_object_get (file, "mime"));
    json_object_set (reply, "bytes", json_object_get (file, "bytes"));
    return reply;
  }
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s is neither text nor a picture of up to %d bytes (%s, %" G_GINT64_FORMAT
                 " bytes): give its file_id to run_python in files, and read it in the code",
                 name, PICTURE_BYTES, type, bytes);
  return NULL;
}

void
get_file_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  json_t *reply = get_file (call, &problem);
  call_reply_value (call, reply, problem);
}
