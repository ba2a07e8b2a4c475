/* SPDX-License-Identifier: Apache-2.0 */
/* What a client can read: the owner's files, long output of their runs, their sessions, and the tools'
 * description for a model. The library is called in the owner's name, so other owners' data is invisible.
 *
 *     adder://files/{file_id}{?offset}                 a file that is kept: text or blob; a part from a byte
 * on adder://results/{result_id}{?stream,offset}      long output, from a byte on adder://sessions/{session}
 * its state, its variables, the files that its cells made adder://prompt the paragraphs for a system prompt
 *
 * Files are a provider of their own, since their list has pages that the store makes. */
#include "interfaces/mcp/resources.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "interfaces/mcp/memory.h"
#include "interfaces/mcp/room.h"
#include "interfaces/mcp/tools.h"
#include "library/library.h"
#include "operations/operation.h"
#include "store/store.h"

#define OUTPUT_BYTES     262144 /* of long output in one reading */
#define OUTPUT_LEAST     1024   /* even if JSON makes it longer */
#define OFFSET_IS        "offset="
#define LISTED_OF_CELLS  100  /* files that a session's page names */
#define COMPLETED_OF     1000 /* files that completion looks at */
#define JSON_TYPE        "application/json"
#define RESULTS_TEMPLATE RESOURCE_RESULTS "{result_id}{?stream,offset}"

static AdderEngine *
engine_of (const struct mcp_request *request)
{
  return mcp_server_memory (request->server)->service->engine;
}

/* Calls the operation NAME for the caller; PARAMS are taken. The caller's; NULL with ERROR. */
static json_t *
call_resource (struct mcp_request *request, const char *name, json_t *params, GError **error)
{
  const struct operation_caller caller =
      OPERATION_CALLER (engine_of (request), mcp_owner (request), ROLE_GUEST);
  return operation_call (&caller, name, params, error);
}

char *
resource_file_uri (const char *file_id)
{
  return g_strconcat (RESOURCE_FILES, file_id, NULL);
}

char *
resource_session_uri (const char *session_id)
{
  return g_strconcat (RESOURCE_SESSIONS, session_id, NULL);
}

/* What follows PREFIX in URI, or NULL: another scheme. */
static const char *
behind (const char *uri, const char *prefix)
{
  return g_str_has_prefix (uri, prefix) && uri[strlen (prefix)] != '\0' ? uri + strlen (prefix) : NULL;
}

/* ---- files ---- */

static gboolean
is_text_type (const char *type)
{
  static const char *const types[] = {"application/json",  "application/xml",    "application/javascript",
                                      "image/svg+xml",     "application/x-yaml", "application/x-ndjson",
                                      "application/jsonl", "application/x-sh"};
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    if (strcmp (types[i], type) == 0)
      return TRUE;
  return g_str_has_prefix (type, "text/");
}

/* Whether FILE can be read at once, however it is escaped. */
static gboolean
resources_is_short (const struct mcp_request *request, const json_t *file)
{
  guint64 bytes = (guint64)json_integer_value (json_object_get (file, "bytes"));
  guint64 room = mcp_room (request), most = mcp_server_memory (request->server)->config->mcp_resource_bytes;
  return bytes <= MIN (most, is_text_type (json_member_text (file, "mime")) ? room / 6 : room / 3 * 2);
}

/* A file that is too long to be read at once is named by its first part. */
static json_t *
describe_file (const struct mcp_request *request, const json_t *file)
{
  g_autofree char *whole = resource_file_uri (json_member_text (file, "file_id"));
  g_autofree char *uri =
      g_strconcat (whole, resources_is_short (request, file) ? NULL : "?" OFFSET_IS "0", NULL);
  const char *run = json_string_value (json_object_get (file, "run_id"));
  g_autofree char *text = run ? g_strdup_printf ("Made by the run %s.", run) : g_strdup ("Put in.");
  json_t *row = json_pack ("{s:s, s:O, s:s, s:O, s:O, s:{s:O}}", "uri", uri, "name",
                           json_object_get (file, "name"), "description", text, "mimeType",
                           json_object_get (file, "mime"), "size", json_object_get (file, "bytes"),
                           "annotations", "lastModified", json_object_get (file, "created"));
  if (!mcp_speaks (request, MCP_TITLES_VERSION))
    json_object_del (row, "annotations"); /* which have no lastModified there */
  return row;
}

static json_t *
list_files (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor)
{
  g_autoptr (GError) problem = NULL;
  json_t *rows = json_array ();
  gsize index;
  json_t *file;
  json_t *params = json_pack ("{s:i, s:s*}", "limit", (int)most, "before", cursor);
  g_autoptr (json_t) answer = call_resource (request, "file.list", params, &problem);
  if (!answer && cursor) {
    json_decref (rows);
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "%s", problem->message);
    return NULL;
  }
  /* Without a store, the list is empty. */
  json_array_foreach (json_object_get (answer, "files"), index, file)
  {
    json_array_append_new (rows, describe_file (request, file));
  }
  *ret_cursor = g_strdup (json_string_value (json_object_get (answer, "next")));
  return rows;
}

/* LENGTH bytes of FD from OFFSET on. NULL with ERROR. */
static char *
resources_read_whole (int fd, guint64 offset, gsize length, GError **error)
{
  g_autofree char *data = g_try_malloc (length + 1);
  int r = !data ? -ENOMEM : lseek (fd, (off_t)offset, SEEK_SET) < 0 ? -errno : fd_read_all (fd, data, length);
  if (r < 0) {
    error_from_errno (error, -r, "cannot read the file");
    return NULL;
  }
  data[length] = '\0';
  return g_steal_pointer (&data);
}

/* *LENGTH bytes of DATA. WHOLE: the complete content, whose bytes decide whether it is text; for a part the
 * type decides, and *LENGTH excludes an incomplete character at the end. The caller's. */
static json_t *
resources_contents (const char *uri, const char *type, const char *data, gsize *length, gboolean whole)
{
  const char *end = data;
  gboolean is_text = is_text_type (type), valid = is_text && g_utf8_validate_len (data, *length, &end);
  if (is_text && !valid && !whole && data + *length - end < 4 && end > data) {
    *length = (gsize)(end - data);
    valid = TRUE;
  }
  g_autofree char *text = valid ? g_strndup (data, *length) : NULL;
  g_autofree char *blob = valid ? NULL : g_base64_encode ((const guchar *)data, *length);
  return mcp_contents (uri, type, text, blob);
}

json_t *
resource_file_contents (struct mcp_request *request, const char *file_id, guint64 most, json_t **ret_file,
                        GError **error)
{
  g_autoptr (json_t) file = NULL;
  autoclose int fd = library_open_file (engine_of (request), mcp_owner (request), file_id, &file, error);
  if (fd < 0)
    return NULL;
  guint64 bytes = (guint64)json_integer_value (json_object_get (file, "bytes"));
  if (ret_file)
    *ret_file = json_incref (file);
  if (bytes > most)
    return NULL;
  g_autofree char *data = resources_read_whole (fd, 0, bytes, error);
  if (!data)
    return NULL;
  g_autofree char *uri = resource_file_uri (json_member_text (file, "file_id"));
  gsize length = bytes;
  json_t *contents = resources_contents (uri, json_member_text (file, "mime"), data, &length, TRUE);
  if (mcp_room_of (contents) <= mcp_room (request))
    return contents;
  json_decref (contents);
  return NULL;
}

static void
refuse_long (struct mcp_request *request, const char *uri, const json_t *file)
{
  guint64 most = mcp_server_memory (request->server)->config->mcp_resource_bytes;
  json_t *data = json_pack ("{s:s, s:O, s:O}", "uri", uri, "bytes", json_object_get (file, "bytes"), "url",
                            json_object_get (file, "url"));
  mcp_problem (
      request, MCP_INVALID_PARAMS, data,
      "the file is too long to be read at once ([mcp] resource_bytes = %" G_GUINT64_FORMAT
      ", and no more than a reply has room for): read %s?offset=0 and what adder/next names then, load it "
      "in a run, or get it by its url",
      most, uri);
}

/* CONTENTS, which is taken, alone. Metadata goes into the result if the version has no other place. */
static void
reply_contents (struct mcp_request *request, json_t *contents)
{
  if (mcp_room_of (contents) > mcp_room (request)) {
    mcp_problem (request, MCP_INVALID_PARAMS, NULL, "it is longer than a reply may be ([mcp] reply_bytes)");
    json_decref (contents);
    return;
  }
  json_t *result = json_pack ("{s:[O]}", "contents", contents), *meta = json_object_get (contents, "_meta");
  if (meta && !mcp_speaks (request, MCP_TITLES_VERSION)) {
    json_object_set (result, "_meta", meta);
    json_object_del (contents, "_meta");
  }
  json_decref (contents);
  mcp_result (request, result);
}

/* The same for data that may change at any time. */
static void
reply_fleeting (struct mcp_request *request, json_t *contents)
{
  reply_contents (request, contents);
  if (request->result && request->era == MCP_MODERN)
    json_object_set_new (request->result, "ttlMs", json_integer (0));
}

/* A problem of the library's. FALSE: not found, and nothing was replied. */
static gboolean
reply_problem (struct mcp_request *request, const char *uri, const GError *problem)
{
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
    return FALSE;
  gboolean theirs = g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  mcp_problem (request, theirs ? MCP_INVALID_PARAMS : MCP_INTERNAL_ERROR, json_pack ("{s:s}", "uri", uri),
               "%s", store_told (request->caller->principal->owner, problem));
  return TRUE;
}

/* The same for an operation by name or id: an invalid one counts as not found. */
static gboolean
reply_named (struct mcp_request *request, const char *uri, const GError *problem)
{
  return !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_INVALID) &&
         reply_problem (request, uri, problem);
}

/* {adder/offset, adder/total_bytes}, and where there is more, adder/next: PLACE up to the offset. */
static void
resources_add_place (json_t *contents, const char *place, guint64 offset, guint64 length, guint64 total)
{
  json_t *meta =
      json_pack ("{s:I, s:I}", "adder/offset", (json_int_t)offset, "adder/total_bytes", (json_int_t)total);
  if (offset + length < total) {
    g_autofree char *next = g_strdup_printf ("%soffset=%" G_GUINT64_FORMAT, place, offset + length);
    json_object_set_new (meta, "adder/next", json_string (next));
  }
  json_object_set_new (contents, "_meta", meta);
}

/* The part of FILE, behind FD, from OFFSET on that fits a reply. NULL with ERROR. */
static json_t *
resources_part (struct mcp_request *request, const char *uri, const json_t *file, int fd, guint64 offset,
                GError **error)
{
  const char *type = json_member_text (file, "mime");
  guint64 bytes = (guint64)json_integer_value (json_object_get (file, "bytes"));
  guint64 left = offset < bytes ? bytes - offset : 0;
  g_autofree char *whole = resource_file_uri (json_member_text (file, "file_id"));
  g_autofree char *place = g_strconcat (whole, "?", NULL);
  /* Escapes can make JSON six times as long as the text. */
  for (gsize most = OUTPUT_BYTES;; most /= 2) {
    gsize length = (gsize)MIN (left, most);
    g_autofree char *data = resources_read_whole (fd, offset, length, error);
    if (!data)
      return NULL;
    json_t *contents = resources_contents (uri, type, data, &length, FALSE);
    resources_add_place (contents, place, offset, length, bytes);
    if (mcp_room_of (contents) <= mcp_room (request) || most < OUTPUT_LEAST)
      return contents;
    json_decref (contents);
  }
}

/* A part of the file ID, all before the "?" of URI. QUERY is the rest. */
static gboolean
resources_read_part (struct mcp_request *request, const char *uri, const char *id, const char *query)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) file = NULL;
  guint64 offset;
  if (!g_str_has_prefix (query, OFFSET_IS) ||
      !g_ascii_string_to_unsigned (query + strlen (OFFSET_IS), 10, 0, G_MAXINT64, &offset, NULL))
    return FALSE;
  autoclose int fd = library_open_file (engine_of (request), mcp_owner (request), id, &file, &problem);
  json_t *contents = fd >= 0 ? resources_part (request, uri, file, fd, offset, &problem) : NULL;
  if (!contents)
    return reply_problem (request, uri, problem);
  reply_contents (request, contents);
  return TRUE;
}

static gboolean
resources_read_file (struct mcp_request *request, const char *uri)
{
  const char *id = behind (uri, RESOURCE_FILES), *query = id ? strchr (id, '?') : NULL;
  guint64 most = mcp_server_memory (request->server)->config->mcp_resource_bytes;
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) file = NULL;
  if (!id)
    return FALSE;
  if (query) {
    g_autofree char *named = g_strndup (id, (gsize)(query - id));
    return resources_read_part (request, uri, named, query + 1);
  }
  json_t *contents = resource_file_contents (request, id, most, &file, &problem);
  if (contents)
    reply_contents (request, contents);
  else if (problem)
    return reply_problem (request, uri, problem);
  else
    refuse_long (request, uri, file);
  return TRUE;
}

/* ---- long output ---- */

struct output {
  char *id;
  char *stream;
  guint64 offset;
};

static void
output_clear (struct output *output)
{
  g_free (output->id);
  g_free (output->stream);
}

/* One of stream=stdout, stream=stderr, offset=N. */
static gboolean
take_part (struct output *output, const char *part)
{
  if (g_str_has_prefix (part, OFFSET_IS))
    return g_ascii_string_to_unsigned (part + strlen (OFFSET_IS), 10, 0, G_MAXINT64, &output->offset, NULL);
  if (!g_str_has_prefix (part, "stream="))
    return FALSE;
  g_free (output->stream);
  output->stream = g_strdup (part + strlen ("stream="));
  return strcmp (output->stream, "stdout") == 0 || strcmp (output->stream, "stderr") == 0;
}

static gboolean
take_output (struct output *output, const char *text)
{
  const char *query = strchr (text, '?');
  output->id = query ? g_strndup (text, (gsize)(query - text)) : g_strdup (text);
  g_auto (GStrv) parts = g_strsplit (query ? query + 1 : "", "&", 4);
  for (gsize i = 0; parts[i]; i++)
    if (!take_part (output, parts[i]))
      return FALSE;
  return TRUE;
}

/* The part in PEEKED, and the next one's URI, if any. */
static void
reply_output (struct mcp_request *request, const char *uri, const struct output *output, const json_t *peeked)
{
  json_t *contents = mcp_contents (uri, "text/plain", json_member_text (peeked, "text"), NULL);
  json_t *meta = json_pack ("{s:O, s:O}", "adder/offset", json_object_get (peeked, "offset"),
                            "adder/total_bytes", json_object_get (peeked, "total_bytes"));
  if (!json_is_true (json_object_get (peeked, "at_end"))) {
    g_autofree char *next = g_strdup_printf (RESOURCE_RESULTS "%s?stream=%s&offset=%" JSON_INTEGER_FORMAT,
                                             output->id, json_member_text (peeked, "stream"),
                                             json_integer_value (json_object_get (peeked, "next_offset")));
    json_object_set_new (meta, "adder/next", json_string (next));
  }
  json_object_set_new (contents, "_meta", meta);
  reply_contents (request, contents);
}

/* At most LIMIT bytes of OUTPUT. The caller's, or NULL with ERROR. */
static json_t *
resources_peek (struct mcp_request *request, const struct output *output, gsize limit, GError **error)
{
  json_t *params = json_pack ("{s:s, s:s*, s:I, s:I}", "result", output->id, "stream", output->stream,
                              "offset", (json_int_t)output->offset, "limit", (json_int_t)limit);
  return call_resource (request, "result.peek", params, error);
}

static gboolean
resources_read_output (struct mcp_request *request, const char *uri, const char *text)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) peeked = NULL;
  struct output output = {0};
  gboolean known = take_output (&output, text), replied = known;
  for (gsize limit = OUTPUT_BYTES; known && !problem; limit /= 2) {
    g_clear_pointer (&peeked, json_decref);
    peeked = resources_peek (request, &output, limit, &problem);
    if (limit < OUTPUT_LEAST || mcp_room_of (peeked) + strlen (uri) <= mcp_room (request))
      break;
  }
  if (peeked)
    reply_output (request, uri, &output, peeked);
  else if (known)
    replied = reply_named (request, uri, problem);
  output_clear (&output);
  return replied;
}

/* ---- sessions ---- */

/* Calls the operation NAME on SESSION (NULL: on none). The caller's; NULL with ERROR. */
static json_t *
resources_ask_session (struct mcp_request *request, const char *name, const char *session, GError **error)
{
  return call_resource (request, name, json_pack ("{s:s*}", "session", session), error);
}

static json_t *
list_of_sessions (struct mcp_request *request)
{
  g_autoptr (json_t) answer = resources_ask_session (request, "session.list", NULL, NULL);
  return json_incref (json_object_get (answer, "sessions"));
}

static gboolean
resources_has_ended (const json_t *session)
{
  return strcmp (json_member_text (session, "state"), "ended") == 0;
}

static json_t *
describe_session (const json_t *session)
{
  const char *id = json_member_text (session, "session_id"), *name = json_member_text (session, "name");
  g_autofree char *uri = resource_session_uri (id);
  g_autofree char *shown = g_strconcat ("session ", name[0] != '\0' ? name : id, NULL);
  return json_pack ("{s:s, s:s, s:s, s:s}", "uri", uri, "name", shown, "description",
                    "A live interpreter: its state, its variables, the files that its cells made.",
                    "mimeType", JSON_TYPE);
}

/* The newest files that cells of SESSION made, each with the uri by which it can be read. The caller's. */
static json_t *
files_of_session (struct mcp_request *request, const char *session)
{
  json_t *params = json_pack ("{s:s, s:i}", "session", session, "limit", LISTED_OF_CELLS);
  g_autoptr (json_t) answer = call_resource (request, "file.list", params, NULL);
  json_t *rows = json_array ();
  gsize index;
  json_t *file;
  json_array_foreach (json_object_get (answer, "files"), index, file)
  {
    json_array_append_new (rows, describe_file (request, file));
  }
  return rows;
}

/* A session at work is not waited for: its variables are null. */
static json_t *
variables_of (struct mcp_request *request, const json_t *session)
{
  if (strcmp (json_member_text (session, "state"), "idle") != 0)
    return json_null ();
  g_autoptr (json_t) answer =
      resources_ask_session (request, "session.variables", json_member_text (session, "session_id"), NULL);
  json_t *variables = json_object_get (answer, "variables");
  return variables ? json_incref (variables) : json_null ();
}

static gboolean
resources_read_session (struct mcp_request *request, const char *uri, const char *name)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) session = resources_ask_session (request, "session.show", name, &problem);
  if (!session)
    return reply_named (request, uri, problem);
  g_autoptr (json_t) page =
      json_pack ("{s:O, s:o, s:o}", "session", session, "variables", variables_of (request, session), "files",
                 files_of_session (request, json_member_text (session, "session_id")));
  g_autofree char *text = json_to_text (page);
  reply_fleeting (request, mcp_contents (uri, JSON_TYPE, text, NULL));
  return TRUE;
}

/* ---- all but files ---- */

static json_t *
list_others (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor)
{
  g_autoptr (json_t) sessions = list_of_sessions (request);
  gsize index;
  json_t *session;
  json_t *rows = json_pack ("[{s:s, s:s, s:s, s:s}]", "uri", RESOURCE_PROMPT, "name", "prompt", "description",
                            "What a model should know about the tools: paragraphs for a system prompt.",
                            "mimeType", "text/plain");
  json_array_foreach (sessions, index, session)
  {
    if (!resources_has_ended (session))
      json_array_append_new (rows, describe_session (session));
  }
  return mcp_page (request, rows, cursor, most, ret_cursor);
}

static gboolean
read_other (struct mcp_request *request, const char *uri)
{
  const char *output = behind (uri, RESOURCE_RESULTS), *session = behind (uri, RESOURCE_SESSIONS);
  if (output)
    return resources_read_output (request, uri, output);
  if (session)
    return resources_read_session (request, uri, session);
  if (strcmp (uri, RESOURCE_PROMPT) != 0)
    return FALSE;
  g_autofree char *text = mcp_tools_prompt (request);
  reply_fleeting (request, mcp_contents (uri, "text/plain", text, NULL));
  return TRUE;
}

static json_t *
list_templates (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor)
{
  static const struct {
    const char *uri, *name, *text, *type;
  } rows[] = {
      {RESOURCE_FILES "{file_id}", "file",
       "A file of yours that is kept, by the file_id that results name; with "
       "?offset=0 behind it the first part of a long one.",
       NULL},
      {RESULTS_TEMPLATE, "output",
       "Long output of a run, by the result_id of its reply: stdout (or stream=stderr), from the byte offset "
       "on.",
       "text/plain"},
      {RESOURCE_SESSIONS "{session}", "session",
       "A session, by its id or name: its state, its variables, the files that its cells made.", JSON_TYPE},
  };
  json_t *list = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    json_array_append_new (list,
                           json_pack ("{s:s, s:s, s:s, s:s*}", "uriTemplate", rows[i].uri, "name",
                                      rows[i].name, "description", rows[i].text, "mimeType", rows[i].type));
  return mcp_page (request, list, cursor, most, ret_cursor);
}

/* ---- completion ---- */

static void
add_matching (json_t *values, const json_t *row, const char *id, const char *value)
{
  const char *own = json_member_text (row, id), *name = json_member_text (row, "name");
  if (own[0] != '\0' && (g_str_has_prefix (own, value) || g_str_has_prefix (name, value)))
    json_array_append_new (values, json_string (own));
}

static json_t *
complete_rows (struct mcp_request *request, const char *id, gboolean outputs, const char *value)
{
  json_t *params = json_pack ("{s:i, s:b}", "limit", COMPLETED_OF, "outputs", outputs);
  g_autoptr (json_t) answer = call_resource (request, "file.list", params, NULL);
  json_t *values = json_array ();
  gsize index;
  json_t *row;
  json_array_foreach (json_object_get (answer, "files"), index, row)
  {
    const char *kind = json_member_text (row, "kind");
    if (!outputs || strcmp (kind, "stdout") == 0 || strcmp (kind, "stderr") == 0)
      add_matching (values, row, id, value);
  }
  return values;
}

json_t *
resource_complete_files (struct mcp_request *request, const char *value)
{
  return complete_rows (request, "file_id", FALSE, value);
}

json_t *
resource_complete_sessions (struct mcp_request *request, const char *value)
{
  g_autoptr (json_t) sessions = list_of_sessions (request);
  json_t *values = json_array ();
  gsize index;
  json_t *session;
  json_array_foreach (sessions, index, session)
  {
    const char *name = json_member_text (session, "name"), *id = json_member_text (session, "session_id");
    const char *shown = name[0] != '\0' ? name : id;
    if (!resources_has_ended (session) && (g_str_has_prefix (shown, value) || g_str_has_prefix (id, value)))
      json_array_append_new (values, json_string (shown));
  }
  return values;
}

static json_t *
complete_streams (const char *value)
{
  static const char *const streams[] = {"stdout", "stderr"};
  json_t *values = json_array ();
  for (gsize i = 0; i < G_N_ELEMENTS (streams); i++)
    if (g_str_has_prefix (streams[i], value))
      json_array_append_new (values, json_string (streams[i]));
  return values;
}

static gboolean
resources_complete (struct mcp_request *request, const json_t *ref, const char *argument, const char *value,
                    G_GNUC_UNUSED const json_t *known)
{
  const char *uri = json_member_text (ref, "uri");
  gboolean results = strcmp (uri, RESULTS_TEMPLATE) == 0;
  json_t *values = NULL;
  if (strcmp (json_member_text (ref, "type"), "ref/resource") != 0 || !g_str_has_prefix (uri, "adder://"))
    return FALSE;
  if (strcmp (uri, RESOURCE_FILES "{file_id}") == 0 && strcmp (argument, "file_id") == 0)
    values = resource_complete_files (request, value);
  else if (strcmp (uri, RESOURCE_SESSIONS "{session}") == 0 && strcmp (argument, "session") == 0)
    values = resource_complete_sessions (request, value);
  else if (results && strcmp (argument, "result_id") == 0)
    values = complete_rows (request, "run_id", TRUE, value);
  else if (results && strcmp (argument, "stream") == 0)
    values = complete_streams (value);
  mcp_completion (request, values ? values : json_array ());
  return TRUE;
}

const struct mcp_provider mcp_provider_resources = {
    .name = "resources",
    .list_resources = list_others,
    .list_templates = list_templates,
    .read_resource = read_other,
    .complete = resources_complete,
};

const struct mcp_provider mcp_provider_files = {
    .name = "files",
    .list_resources = list_files,
    .read_resource = resources_read_file,
};
