/* SPDX-License-Identifier: Apache-2.0 */
/* The row of an operation says where HTTP has it: what of its parameters is in the path, and that the others
 * are the query of a GET or DELETE and the body of a POST. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "engine/host/id.h"
#include "interfaces/remote/remote.h"
#include "operations/operation.h"

/* ---- a row as a request ---- */

/* TEMPLATE with the parameters that it names in braces, which are taken out of PARAMS. The caller's. */
static char *
fill_path (const char *template, json_t *params)
{
  GString *path = g_string_new (NULL);
  for (const char *at = template; *at;) {
    gsize length = strcspn (at, "{");
    g_string_append_len (path, at, (gssize)length);
    at += length;
    if (!*at)
      break;
    length = strcspn (at, "}");
    g_autofree char *name = g_strndup (at + 1, length - 1);
    json_t *value = json_object_get (params, name);
    if (json_is_integer (value))
      g_string_append_printf (path, "%" JSON_INTEGER_FORMAT, json_integer_value (value));
    else
      g_string_append_uri_escaped (path, json_member_text (params, name), NULL, FALSE);
    json_object_del (params, name);
    at += length + 1;
  }
  return g_string_free (path, FALSE);
}

/* PATH with PARAMS as its query; takes PATH. The caller's. */
static char *
add_query (char *path, const json_t *params)
{
  GString *whole = g_string_new (path);
  g_free (path);
  char sign = '?';
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)params, name, value)
  {
    g_autofree char *text = json_plain (value, ",");
    g_string_append_c (whole, sign);
    g_string_append_uri_escaped (whole, name, NULL, FALSE);
    g_string_append_c (whole, '=');
    g_string_append_uri_escaped (whole, text, NULL, FALSE);
    sign = '&';
  }
  return g_string_free (whole, FALSE);
}

/* PARAMS without those that are null, once they are what OPERATION takes: a path with a part that is missing
 * would be another's. The caller's. */
static json_t *
check_params (const struct operation *operation, const json_t *params, GError **error)
{
  g_autoptr (json_t) checked = field_check (operation->params, NULL, params, error);
  json_t *said = checked ? json_object () : NULL;
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)params, name, value)
  {
    if (said && !json_is_null (value))
      json_object_set (said, name, value);
  }
  return said;
}

static json_t *
call_row (const struct operation *operation, const json_t *params, GError **error)
{
  g_autoptr (json_t) said = check_params (operation, params, error);
  if (!said)
    return NULL;
  g_autofree char *path = fill_path (operation->http.path, said);
  gboolean has_body = strcmp (operation->http.method, "POST") == 0;
  if (!has_body)
    path = add_query (g_steal_pointer (&path), said);
  return remote_ask (operation->http.method, path, has_body ? said : NULL,
                     operation->http.status == 204 ? NULL : operation->replies, -1, error);
}

/* ---- streams ---- */

/* multipart/form-data with one file, whose content is read as it is sent. */
struct upload {
  GString *head, *tail;
  gsize head_at, tail_at;
  int fd;
  gboolean read; /* to its end */
  int problem;   /* an errno */
};

static gsize
give_text (const GString *text, gsize *at, char *to, gsize most)
{
  gsize length = MIN (most, text->len - *at);
  memcpy (to, text->str + *at, length);
  *at += length;
  return length;
}

static gssize
give_upload (gpointer data, char *to, gsize most)
{
  struct upload *upload = data;
  if (upload->head_at < upload->head->len)
    return (gssize)give_text (upload->head, &upload->head_at, to, most);
  while (!upload->read) {
    gssize got = read (upload->fd, to, most);
    if (got > 0)
      return got;
    if (got < 0 && errno == EINTR)
      continue;
    upload->problem = got < 0 ? errno : 0;
    upload->read = TRUE;
    if (got < 0)
      return -1;
  }
  return (gssize)give_text (upload->tail, &upload->tail_at, to, most);
}

/* As a quoted string; the end of a line, which none may have, as browsers write it. */
static void
remote_call_append_name (GString *head, const char *name)
{
  for (; *name; name++)
    if (*name == '\r' || *name == '\n')
      g_string_append_printf (head, "%%%02X", (guint)*name);
    else
      g_string_append_printf (head, "%s%c", *name == '"' || *name == '\\' ? "\\" : "", *name);
}

static void
remote_call_append_part (GString *head, const char *boundary, const char *name, const char *filename)
{
  g_string_append_printf (head, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, name);
  if (filename) {
    g_string_append (head, "; filename=\"");
    remote_call_append_name (head, filename);
    g_string_append (head, "\"\r\nContent-Type: application/octet-stream");
  }
  g_string_append (head, "\r\n\r\n");
}

static json_t *
send_upload (struct upload *upload, const char *boundary, GError **error)
{
  g_auto (http_response_t) response = {0};
  g_autoptr (GError) problem = NULL;
  struct stat st;
  gint64 length = -1;
  if (fstat (upload->fd, &st) == 0 && S_ISREG (st.st_mode))
    length = (gint64)(upload->head->len + upload->tail->len) + st.st_size - lseek (upload->fd, 0, SEEK_CUR);
  g_autofree char *type = g_strconcat ("multipart/form-data; boundary=", boundary, NULL);
  const struct http_client_request request = {
      .url = "/v1/files", .method = "POST", .data = upload, .length = length, .give = give_upload};
  gboolean ok = remote_request (&request, type, -1, &response, &problem);
  if (upload->problem != 0) {
    error_from_errno (error, upload->problem, "cannot read the file");
    return NULL;
  }
  if (!ok) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  g_autoptr (json_t) answer =
      json_parse_object (response.body->str, response.body->len, "the daemon's answer", error);
  const struct operation *show = answer ? operation_find ("file.show", error) : NULL;
  json_t *file = json_array_get (json_object_get (answer, "files"), 0);
  return show && remote_check (file, show->replies, error) ? json_incref (file) : NULL;
}

static json_t *
remote_call_put_file (const json_t *params, int fd, G_GNUC_UNUSED int *ret_fd, GError **error)
{
  char boundary[ID_BYTES];
  const char *conversation = json_string_value (json_object_get (params, "conversation"));
  if (json_is_string (json_object_get (params, "owner"))) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "over HTTP a file belongs to the caller: omit --owner");
    return NULL;
  }
  id_make (boundary);
  g_autoptr (GString) head = g_string_new (NULL), tail = g_string_new (NULL);
  if (conversation) {
    remote_call_append_part (head, boundary, "conversation", NULL);
    g_string_append_printf (head, "%s\r\n", conversation);
  }
  remote_call_append_part (head, boundary, "file", json_member_text (params, "name"));
  g_string_printf (tail, "\r\n--%s--\r\n", boundary);
  struct upload upload = {.head = head, .tail = tail, .fd = fd};
  return send_upload (&upload, boundary, error);
}

static json_t *
remote_call_open_file (const json_t *params, G_GNUC_UNUSED int fd, int *ret_fd, GError **error)
{
  g_autoptr (json_t) file =
      remote_call ("file.show", json_incref ((json_t *)(guintptr)params), -1, NULL, error);
  if (!file)
    return NULL;
  autoclose int content = open (g_get_tmp_dir (), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (content < 0) {
    error_from_errno (error, errno, "cannot make a file in %s", g_get_tmp_dir ());
    return NULL;
  }
  g_autoptr (json_t) query = json_object ();
  if (json_is_string (json_object_get (params, "owner")))
    json_object_set (query, "owner", json_object_get (params, "owner"));
  struct remote_content got;
  g_autofree char *id = g_uri_escape_string (json_member_text (file, "file_id"), NULL, FALSE);
  g_autofree char *path = add_query (g_strdup_printf ("/v1/files/%s/content", id), query);
  if (!remote_download (path, content, &got, error))
    return NULL;
  *ret_fd = fd_steal (&content);
  return g_steal_pointer (&file);
}

/* One on each line; in JSON, quotes and line ends within a text are escaped, and quotes come in pairs. */
static json_t *
export_records (const json_t *params, int fd, G_GNUC_UNUSED int *ret_fd, GError **error)
{
  struct remote_content got;
  gboolean has_head = strcmp (json_member_text (params, "format"), "csv") == 0;
  g_autofree char *path = add_query (g_strdup ("/v1/records/export"), params);
  if (!remote_download (path, fd, &got, error))
    return NULL;
  return json_pack ("{s:I}", "records", (json_int_t)(got.lines - (got.lines > 0 && has_head)));
}

/* Operations that HTTP has as routes of their own, since there they are bytes. */
static const struct {
  const char *name;
  json_t *(*call) (const json_t *params, int fd, int *ret_fd, GError **error);
} streams[] = {{"file.put", remote_call_put_file},
               {"file.open", remote_call_open_file},
               {"record.export", export_records}};

json_t *
remote_call (const char *operation, json_t *params, int fd, int *ret_fd, GError **error)
{
  autoclose int unwanted_fd = -1;
  g_autoptr (json_t) taken = params;
  const struct operation *row = operation_find (operation, error);
  if (!row)
    return NULL;
  if (ret_fd)
    *ret_fd = -1;
  if (!taken) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "an argument is not UTF-8");
    return NULL;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (streams); i++)
    if (strcmp (streams[i].name, operation) == 0) {
      g_autoptr (json_t) said = check_params (row, taken, error);
      return said ? streams[i].call (said, fd, ret_fd ? ret_fd : &unwanted_fd, error) : NULL;
    }
  if (row->http.method && fd < 0)
    return call_row (row, taken, error);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               fd < 0 ? "%s does not work over HTTP: do it on the daemon's machine"
                      : "%s is about a directory of this machine, which a daemon elsewhere does not see",
               operation);
  return NULL;
}
