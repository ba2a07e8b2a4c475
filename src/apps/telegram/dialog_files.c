/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a chat: what is sent is kept for its conversation and loaded into its runs, and what runs left is
 * listed and sent back. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "apps/telegram/dialog.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"

#define FETCH_BYTES (20 << 20) /* what the Bot API lets a bot fetch, */
#define SEND_BYTES  (50 << 20) /* and send */
#define LISTED      30
#define LIST_HEAD   "Files of this chat"
#define TOO_LARGE   "A bot can fetch files of up to 20 MB; this one is larger. Send a part of it, or pack it."

/* ---- in ---- */

struct sent {
  const char *id, *name;
  json_int_t bytes;
};

/* The document in MESSAGE, or the largest size of its photo. */
static gboolean
find_sent (const json_t *message, struct sent *ret_sent)
{
  const json_t *document = json_object_get (message, "document"), *sizes = json_object_get (message, "photo");
  const json_t *photo = json_array_get (sizes, json_array_size (sizes) - 1),
               *file = document ? document : photo;
  const char *name = json_member_text (document, "file_name");
  *ret_sent = (struct sent){json_member_text (file, "file_id"),
                            name[0]    ? name
                            : document ? "document"
                                       : "photo.jpg",
                            json_integer_value (json_object_get (file, "file_size"))};
  return ret_sent->id[0] != '\0';
}

static gboolean
dialog_files_fetch (struct dialog *dialog, const struct sent *sent, int fd, GError **error)
{
  g_autoptr (json_t) file =
      bot_api_call (dialog->line.api, "getFile", json_pack ("{s:s}", "file_id", sent->id), error);
  const char *path = json_member_text (file, "file_path");
  if (file && path[0] == '\0')
    g_set_error (error, BOT_API_ERROR, BOT_API_BROKEN, "there is no path to it");
  return path[0] != '\0' && bot_api_download (dialog->line.api, path, FETCH_BYTES, fd, error);
}

/* Keeps what FD holds. Its id, the caller's. */
static char *
dialog_files_put (struct dialog *dialog, const char *name, int fd, GError **error)
{
  json_t *params =
      json_pack ("{s:o, s:s}", "name", json_text_or_null (name), "conversation", dialog->conversation);
  g_autoptr (json_t) file =
      call_backend_operation_with (dialog->backend, "file.put", params, fd, NULL, error);
  return file ? g_strdup (json_member_text (file, "file_id")) : NULL;
}

static char *
dialog_files_load (struct dialog *dialog, const struct sent *sent, GError **error)
{
  autoclose int fd = memfd_create ("telegram", MFD_CLOEXEC);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make a file in memory");
    return NULL;
  }
  /* The daemon reads it from where the download left off, unless it is told otherwise. */
  gboolean ok = dialog_files_fetch (dialog, sent, fd, error) && lseek (fd, 0, SEEK_SET) == 0;
  g_autofree char *id = ok ? dialog_files_put (dialog, sent->name, fd, error) : NULL;
  return id ? dialog_ask (dialog, "load_file", json_pack ("{s:s}", "file_id", id), error) : NULL;
}

gboolean
dialog_take_file (struct dialog *dialog, const json_t *message)
{
  struct sent sent;
  g_autoptr (GError) problem = NULL;
  if (!find_sent (message, &sent))
    return FALSE;
  if (sent.bytes > FETCH_BYTES) {
    dialog_say (dialog, TOO_LARGE);
    return TRUE;
  }
  g_autofree char *text = dialog_files_load (dialog, &sent, &problem);
  g_autoptr (json_t) loaded = text ? json_loads (text, 0, NULL) : NULL;
  const char *path = json_member_text (loaded, "local_path");
  g_autofree char *said = text ? g_strdup_printf ("%s is at %s for the code of this chat.", sent.name, path)
                               : g_strdup_printf ("%s could not be taken: %s", sent.name, problem->message);
  dialog_say (dialog, said);
  if (text)
    g_string_append_printf (dialog->files, "[The user sent the file %s: it is at %s in run_python.]\n",
                            sent.name, path);
  return TRUE;
}

/* ---- out ---- */

/* [{"file_id", "name", "bytes", ...}], the newest first. The caller's. */
static json_t *
dialog_files_list (struct dialog *dialog, const char *name, GError **error)
{
  json_t *params =
      json_pack ("{s:s, s:i, s:s*}", "conversation", dialog->conversation, "limit", LISTED, "name", name);
  g_autoptr (json_t) answer = call_backend_operation (dialog->backend, "file.list", params, error);
  return json_incref (json_object_get (answer, "files"));
}

void
dialog_list_files (struct dialog *dialog)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) files = dialog_files_list (dialog, NULL, &problem);
  g_autoptr (GString) text = g_string_new (LIST_HEAD);
  gsize index;
  json_t *file;
  json_array_foreach (files, index, file)
  {
    g_autofree char *size = size_format ((guint64)json_integer_value (json_object_get (file, "bytes")));
    g_string_append_printf (text, "%s%s (%s)", index == 0 ? ":\n" : "\n", json_member_text (file, "name"),
                            size);
  }
  if (problem)
    g_string_append_printf (text, " cannot be listed: %s", problem->message);
  else
    g_string_append (text, json_array_size (files) > 0 ? "\nReply with a name, and it is sent."
                                                       : ": there are none.");
  dialog_say (dialog, text->str);
}

gboolean
dialog_is_file_list (const char *text)
{
  return g_str_has_prefix (text, LIST_HEAD);
}

static GBytes *
dialog_files_read_all (int fd, GError **error)
{
  struct stat st;
  if (fstat (fd, &st) < 0) {
    error_from_errno (error, errno, "cannot look at the file");
    return NULL;
  }
  if (st.st_size > SEND_BYTES) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "it is larger than the 50 MB that a bot can send");
    return NULL;
  }
  gsize size = (gsize)st.st_size;
  char *bytes = g_malloc (MAX (size, 1));
  gssize got = 0;
  for (gsize have = 0; have < size; have += (gsize)got)
    if ((got = pread (fd, bytes + have, size - have, (off_t)have)) <= 0) {
      error_from_errno (error, got < 0 ? errno : EIO, "cannot read the file");
      g_free (bytes);
      return NULL;
    }
  return g_bytes_new_take (bytes, size);
}

static gboolean
send_one (struct dialog *dialog, const json_t *file, GError **error)
{
  autoclose int fd = -1;
  json_t *params = json_pack ("{s:s}", "file", json_member_text (file, "file_id"));
  g_autoptr (json_t) answer =
      call_backend_operation_with (dialog->backend, "file.open", params, -1, &fd, error);
  if (!answer)
    return FALSE;
  g_autoptr (GBytes) bytes = dialog_files_read_all (fd, error);
  return bytes && send_document (&dialog->line, json_member_text (file, "name"),
                                 json_member_text (file, "mime"), bytes, error);
}

void
dialog_send_file (struct dialog *dialog, const char *name)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) files = dialog_files_list (dialog, name, &problem);
  const json_t *newest = json_array_get (files, 0);
  if (files && !newest)
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no such file; /files lists them");
  if (newest && send_one (dialog, newest, &problem))
    return;
  g_autofree char *text = g_strdup_printf ("%s: %s", name, problem->message);
  dialog_say (dialog, text);
}
