/* SPDX-License-Identifier: Apache-2.0 */
/* From a reply of the tool table to content. It uses the members that many tools' replies share, whatever the
 * toolset: displays or pictures, files, result_id.
 *
 * A picture appears once: as an image, and not as base64 in structuredContent, which some clients would pass
 * to the model as text. */
#include "interfaces/mcp/reply.h"

#include <string.h>

#include "common/config.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/mcp/output.h"
#include "interfaces/mcp/room.h"
#include "interfaces/mcp/server.h"

#define PNG            "image/png"
#define JPEG           "image/jpeg"
#define HEAD_BASE64    32 /* characters: 24 bytes, of which the last 8 are a PNG's width and height */
#define HEAD_BYTES     24
#define NOTES_BYTES    4096 /* about omitted pictures */
#define NOTE_BYTES     256
#define AROUND_PICTURE 128          /* bytes of its content beside its data */
#define FILES_PATH     "/v1/files/" /* of a URL, before the file's id */

struct making {
  const struct config *config;
  json_t *pictures;  /* {data, type} of each, in order */
  json_t *images;    /* those sent to the client */
  GString *left_out; /* lines about the others */
  gsize room;        /* bytes that are left for pictures */
};

/* ---- pictures ---- */

/* Of a PNG; FALSE where BASE64 is none. */
static gboolean
png_size (const char *base64, guint32 *ret_width, guint32 *ret_height)
{
  static const guchar begins[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                                  0,    0,   0,   13,  'I',  'H',  'D',  'R'};
  gsize length;
  if (strnlen (base64, HEAD_BASE64) < HEAD_BASE64)
    return FALSE;
  g_autofree char *head = g_strndup (base64, HEAD_BASE64);
  g_autofree guchar *raw = g_base64_decode (head, &length);
  if (length < HEAD_BYTES || memcmp (raw, begins, sizeof begins) != 0)
    return FALSE;
  guint32 numbers[2];
  memcpy (numbers, raw + sizeof begins, sizeof numbers);
  *ret_width = GUINT32_FROM_BE (numbers[0]);
  *ret_height = GUINT32_FROM_BE (numbers[1]);
  return TRUE;
}

static void
reply_leave_out (struct making *making, const char *what)
{
  if (making->left_out->len + NOTE_BYTES <= NOTES_BYTES)
    g_string_append_printf (making->left_out,
                            "[a picture is left out: %s; draw a smaller one, or save it to a file]\n", what);
}

static void
add_picture (struct making *making, const char *base64, const char *type)
{
  const struct config *config = making->config;
  guint32 width = 0, height = 0;
  gsize bytes = strlen (base64) / 4 * 3;
  gboolean known = strcmp (type, PNG) == 0 && png_size (base64, &width, &height);
  g_autofree char *what = NULL;
  if (json_array_size (making->images) >= config->max_mcp_pictures)
    what = g_strdup_printf ("a result has %" G_GUINT64_FORMAT " at most (max_pictures)",
                            config->max_mcp_pictures);
  else if (bytes > config->mcp_picture_bytes)
    what = g_strdup_printf ("it has %" G_GSIZE_FORMAT " bytes, and at most %" G_GUINT64_FORMAT
                            " (picture_bytes)",
                            bytes, config->mcp_picture_bytes);
  else if (known && MAX (width, height) > config->mcp_picture_side)
    what =
        g_strdup_printf ("it has %u x %u pixels, and at most %" G_GUINT64_FORMAT " on a side (picture_side)",
                         width, height, config->mcp_picture_side);
  else if (strlen (base64) + AROUND_PICTURE > making->room)
    what = g_strdup ("the reply has no room for it (reply_bytes)");
  if (what) {
    reply_leave_out (making, what);
    return;
  }
  json_array_append_new (making->images, mcp_image (base64, type));
  making->room -= strlen (base64) + AROUND_PICTURE;
}

static void
reply_keep (struct making *making, json_t *data, const char *type)
{
  json_array_append_new (making->pictures, json_pack ("{s:O, s:s}", "data", data, "type", type));
}

/* Takes the picture of TYPE out of a display. */
static void
take_picture (struct making *making, json_t *display, const char *type)
{
  json_t *base64 = json_object_get (display, type);
  if (!json_is_string (base64))
    return;
  reply_keep (making, base64, type);
  json_object_del (display, type);
}

static void
take_pictures (struct making *making, json_t *value)
{
  gsize index;
  json_t *item, *pictures = json_object_get (value, "pictures");
  json_array_foreach (json_object_get (value, "displays"), index, item)
  {
    take_picture (making, item, PNG);
    take_picture (making, item, JPEG);
  }
  json_array_foreach (pictures, index, item)
  {
    if (json_is_string (item))
      reply_keep (making, item, PNG);
  }
  if (json_is_array (pictures))
    json_array_clear (pictures);
}

static void
add_pictures (struct making *making)
{
  gsize index;
  json_t *picture;
  json_array_foreach (making->pictures, index, picture)
  {
    add_picture (making, json_member_text (picture, "data"), json_member_text (picture, "type"));
  }
}

/* ---- links ---- */

/* The id of FILE: its own member, or the part of its URL after FILES_PATH. The caller's, or NULL. */
static char *
file_id_of (const json_t *file)
{
  const char *id = json_string_value (json_object_get (file, "file_id"));
  const char *url = json_string_value (json_object_get (file, "url"));
  const char *path = url ? strstr (url, FILES_PATH) : NULL;
  if (id || !path)
    return g_strdup (id);
  const char *from = path + strlen (FILES_PATH);
  return g_strndup (from, strcspn (from, "/?"));
}

static void
reply_add_file (json_t *content, const json_t *file, enum mcp_links links)
{
  g_autofree char *id = file_id_of (file);
  const char *url = json_string_value (json_object_get (file, "url"));
  const char *name = json_string_value (json_object_get (file, "name"));
  const char *type = json_string_value (json_object_get (file, "mime"));
  const json_t *bytes = json_object_get (file, "bytes");
  if (!name)
    name = json_string_value (json_object_get (file, "filename"));
  if (!id || !name || (links == MCP_LINKS_HTTP && !url))
    return;
  g_autofree char *uri = links == MCP_LINKS_HTTP ? g_strdup (url) : g_strconcat ("adder://files/", id, NULL);
  json_array_append_new (content,
                         mcp_resource_link (uri, name, NULL, type, bytes ? json_integer_value (bytes) : -1));
}

static void
reply_add_links (json_t *content, const json_t *value, enum mcp_links links)
{
  gsize index;
  json_t *file;
  const char *result = json_string_value (json_object_get (value, "result_id"));
  gboolean printed = json_is_string (json_object_get (value, "stdout"));
  if (links != MCP_LINKS_RESOURCES && links != MCP_LINKS_HTTP)
    return;
  json_array_foreach (json_object_get (value, "files"), index, file) reply_add_file (content, file, links);
  if (!result || !printed || links == MCP_LINKS_HTTP) /* the text says how to read on */
    return;
  g_autofree char *uri = g_strconcat ("adder://results/", result, NULL);
  json_array_append_new (
      content, mcp_resource_link (uri, "standard output", "All that the run printed.", "text/plain", -1));
}

/* ---- text ---- */

static void
reply_append (GString *text, const char *words)
{
  if (!words || words[0] == '\0')
    return;
  if (text->len > 0 && text->str[text->len - 1] != '\n')
    g_string_append_c (text, '\n');
  g_string_append (text, words);
}

static const char *
reply_text_of (const json_t *value, const char *member)
{
  return json_member_text (value, member);
}

static void
append_displays (GString *text, const json_t *displays)
{
  gsize index;
  json_t *display;
  json_array_foreach ((json_t *)(guintptr)displays, index, display)
  {
    const char *markdown = reply_text_of (display, "text/markdown");
    reply_append (text, markdown[0] ? markdown : reply_text_of (display, "text/plain"));
  }
}

/* The MEMBER of each item of LIST, with its hint: "Denied: network: ...". */
static void
append_refusals (GString *text, const json_t *list, const char *title, const char *kind, const char *detail)
{
  gsize index;
  json_t *item;
  json_array_foreach ((json_t *)(guintptr)list, index, item)
  {
    const char *hint = reply_text_of (item, "hint");
    g_autofree char *line =
        g_strdup_printf ("%s: %s: %s%s%s%s", title, reply_text_of (item, kind), reply_text_of (item, detail),
                         hint[0] ? " (" : "", hint, hint[0] ? ")" : "");
    reply_append (text, line);
  }
}

static void
reply_append_error (GString *text, const json_t *error)
{
  const char *traceback = reply_text_of (error, "traceback"), *message = reply_text_of (error, "message");
  const char *hint = reply_text_of (error, "hint");
  reply_append (text, traceback);
  if (!strstr (traceback, message))
    reply_append (text, message);
  if (hint[0]) {
    g_autofree char *line = g_strdup_printf ("Hint: %s", hint);
    reply_append (text, line);
  }
}

/* Where FILE is, for the end of its line. */
static void
reply_append_place (GString *text, const json_t *file, enum mcp_links links)
{
  const char *id = reply_text_of (file, "file_id"), *url = reply_text_of (file, "url");
  if (links == MCP_LINKS_HTTP && url[0] != '\0')
    g_string_append_printf (text, ", %s", url);
  else if (links == MCP_LINKS_RESOURCES && id[0] != '\0')
    g_string_append_printf (text, ", adder://files/%s", id);
  else if (links != MCP_LINKS_NONE && id[0] != '\0')
    g_string_append_printf (text, ", file_id %s", id);
}

static void
append_files (GString *text, const json_t *files, enum mcp_links links)
{
  gsize index;
  json_t *file;
  json_array_foreach ((json_t *)(guintptr)files, index, file)
  {
    const char *name = reply_text_of (file, "name");
    if (!name[0])
      name = reply_text_of (file, "filename");
    g_autofree char *shown = text_one_line (name, -1);
    g_autofree char *line = g_strdup_printf ("File: %s", shown);
    reply_append (text, line);
    const json_t *bytes = json_object_get (file, "bytes");
    if (bytes)
      g_string_append_printf (text, ", %" JSON_INTEGER_FORMAT " bytes", json_integer_value (bytes));
    reply_append_place (text, file, links);
  }
}

static void
append_warnings (GString *text, const json_t *warnings)
{
  gsize index;
  json_t *warning;
  json_array_foreach ((json_t *)(guintptr)warnings, index, warning)
  {
    g_autofree char *line = g_strdup_printf ("Warning: %s", json_string_value (warning));
    reply_append (text, line);
  }
}

/* A run, in the order of interest to a person. */
static void
append_run (GString *text, const json_t *value, enum mcp_links links)
{
  const json_t *code = json_object_get (value, "exit_code");
  const char *outcome = reply_text_of (value, "outcome"), *result = reply_text_of (value, "result_id");
  reply_append (text, reply_text_of (value, "stdout"));
  append_displays (text, json_object_get (value, "displays"));
  reply_append (text, reply_text_of (value, "value"));
  reply_append (text, reply_text_of (value, "stderr"));
  reply_append_error (text, json_object_get (value, "error"));
  append_refusals (text, json_object_get (value, "violations"), "Refused", "rule", "text");
  append_refusals (text, json_object_get (value, "denials"), "Denied", "kind", "detail");
  append_files (text, json_object_get (value, "files"), links);
  append_warnings (text, json_object_get (value, "warnings"));
  reply_append (text, reply_text_of (json_object_get (value, "session"), "status"));
  if (result[0]) {
    g_autofree char *line =
        g_strdup_printf ("[all of the output: peek_result with result_id \"%s\"]", result);
    reply_append (text, line);
  }
  if (outcome[0] && strcmp (outcome, "ok") != 0) {
    g_autofree char *line = g_strdup_printf ("[outcome: %s]", outcome);
    reply_append (text, line);
  } else if (!outcome[0] && json_integer_value (code) != 0) {
    g_autofree char *line =
        g_strdup_printf ("[exit code %" JSON_INTEGER_FORMAT "]", json_integer_value (code));
    reply_append (text, line);
  }
  if (text->len == 0)
    g_string_append (text, "(no output)");
}

static void
append_failure (GString *text, const json_t *value)
{
  const char *approval = reply_text_of (value, "approval_id");
  reply_append (text, reply_text_of (value, "error"));
  if (approval[0]) {
    g_autofree char *line = g_strdup_printf ("[approval_id: %s]", approval);
    reply_append (text, line);
  }
}

static char *
reply_words (const json_t *value, enum mcp_links links)
{
  GString *text = g_string_new (NULL);
  if (json_is_string (json_object_get (value, "error")))
    append_failure (text, value);
  else if (json_is_string (json_object_get (value, "stdout")))
    append_run (text, value, links);
  else if (json_is_string (json_object_get (value, "text")))
    reply_append (text, reply_text_of (value, "text"));
  else {
    g_autofree char *json = json_to_text (value);
    reply_append (text, json);
  }
  return g_string_free (text, FALSE);
}

char *
mcp_reply_text (const json_t *value)
{
  return reply_words (value, MCP_LINKS_RESOURCES);
}

/* ---- the result ---- */

/* Shortens VALUE, without pictures, and the words made from it to ROOM bytes. *RET_WORDS is the caller's.
 * FALSE: it has no long texts to cut. */
static gboolean
reply_fit (json_t *value, const struct mcp_output *output, gsize room, char **ret_words)
{
  for (;;) {
    g_autofree char *words = reply_words (value, output->links);
    g_autoptr (json_t) text = mcp_text (words);
    if (mcp_room_of (text) + (output->structured ? mcp_room_of (value) : 0) <= room) {
      *ret_words = g_steal_pointer (&words);
      return TRUE;
    }
    if (!mcp_room_shorten (value))
      return FALSE;
  }
}

/* Replaces a reply that is too long however it is cut. */
static json_t *
reply_too_long (const struct mcp_request *request, const struct mcp_output *output, json_t *value)
{
  g_autofree char *words =
      g_strdup_printf ("the reply has %" G_GSIZE_FORMAT " bytes, and a client is sent %" G_GUINT64_FORMAT
                       " at most ([mcp] reply_bytes): ask for less, or write what is long to a file",
                       mcp_room_of (value), mcp_server_service (request->server)->config->mcp_reply_bytes);
  json_t *run_id = json_object_get (value, "run_id");
  json_t *failure = json_pack ("{s:s, s:O?}", "error", words, "run_id", run_id);
  if (!run_id)
    json_object_set_new (failure, "run_id", json_null ());
  json_decref (value);
  if (!output->structured)
    g_clear_pointer (&failure, json_decref);
  return mcp_tool_result (json_pack ("[o]", mcp_text (words)), failure, TRUE);
}

/* Fills CONTENT, and makes VALUE, now without pictures, fit. FALSE: it is too long however it is cut.
 * Pictures get the room left by text and links; with pictures, text gets at most half of the room. */
static gboolean
reply_fill (const struct mcp_request *request, const struct mcp_output *output, struct making *making,
            json_t *value, json_t *content)
{
  g_autoptr (json_t) links = json_array ();
  g_autofree char *words = NULL;
  reply_add_links (links, value, output->links);
  gsize room = mcp_room (request), linked = MIN (mcp_room_of (links), room);
  gsize share = json_array_size (making->pictures) > 0 ? 2 : 1;
  if (!reply_fit (value, output, (room - linked) / share, &words))
    return FALSE;
  g_autoptr (GString) text = g_string_new (words);
  gsize told = linked + text->len + NOTES_BYTES + (output->structured ? mcp_room_of (value) : 0);
  making->room = room > told ? room - told : 0;
  add_pictures (making);
  if (making->left_out->len > 0)
    reply_append (text, making->left_out->str);
  json_array_append_new (content, mcp_text (text->str));
  json_array_extend (content, making->images);
  json_array_extend (content, links);
  return TRUE;
}

json_t *
mcp_reply_result (const struct mcp_request *request, const struct tool_reply *reply)
{
  const struct mcp_output output = mcp_output_of (request);
  struct making making = {.config = mcp_server_service (request->server)->config,
                          .pictures = json_array (),
                          .images = json_array (),
                          .left_out = g_string_new (NULL)};
  json_t *value = json_deep_copy (reply->value), *content = json_array ();
  take_pictures (&making, value);
  gboolean fits = reply_fill (request, &output, &making, value, content);
  json_decref (making.pictures);
  json_decref (making.images);
  g_string_free (making.left_out, TRUE);
  if (!fits) {
    json_decref (content);
    return reply_too_long (request, &output, value);
  }
  if (!output.structured)
    g_clear_pointer (&value, json_decref);
  return mcp_tool_result (content, value, reply->is_error && !reply->is_of_code);
}
