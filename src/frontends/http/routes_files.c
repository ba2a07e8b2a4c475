/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/files: what runs made, and what is put in for them. */
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/json.h"
#include "frontends/http/http_range.h"
#include "frontends/http/owner.h"
#include "frontends/http/shapes.h"

#define PARTS_MOST        64
#define CONVERSATION_MOST TOOL_CONVERSATION_MOST

/* ---- putting in ---- */

/* The text of a part that is no file; the caller's. NULL with ERROR. */
static char *
text_of (const struct http_part *part, GError **error)
{
  char buffer[CONVERSATION_MOST + 1];
  gssize got = part->bytes <= CONVERSATION_MOST ? pread (part->fd, buffer, CONVERSATION_MOST, 0) : -1;
  if (got >= 0 && g_utf8_validate (buffer, got, NULL) && !memchr (buffer, '\0', (gsize)got))
    return g_strndup (buffer, (gsize)got);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the part conversation is UTF-8 of at most %d bytes",
               CONVERSATION_MOST);
  return NULL;
}

struct putting {
  struct http_request *request;
  char *conversation;
  json_t *files;
};

static gboolean
put_one (struct putting *putting, const struct http_part *part, GError **error)
{
  struct http_request *request = putting->request;
  g_autofree char *text =
      adder_file_put (http_service (request)->engine, http_who (request)->owner, putting->conversation,
                      part->filename, part->fd, http_watch_fd (request), error);
  if (text)
    json_array_append_new (putting->files, json_loads (text, 0, NULL));
  return text != NULL;
}

/* All or none. */
static void
take_back (struct putting *putting)
{
  gsize index;
  json_t *file;
  json_array_foreach (putting->files, index, file)
  {
    adder_file_remove (http_service (putting->request)->engine, http_who (putting->request)->owner,
                       json_member_text (file, "file_id"), NULL);
  }
}

/* Looks at all parts before any is kept. */
static gboolean
check_parts (struct putting *putting, const struct http_part *parts, gsize count, GError **error)
{
  gsize files = 0;
  for (gsize i = 0; i < count; i++) {
    gboolean is_file = strcmp (parts[i].name, "file") == 0;
    files += is_file;
    if (is_file && (!parts[i].filename || !*parts[i].filename)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "each part file must have a filename");
      return FALSE;
    }
    if (!is_file && (strcmp (parts[i].name, "conversation") != 0 || putting->conversation)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                   "the parts are file, with a filename each, and one conversation");
      return FALSE;
    }
    if (!is_file && !(putting->conversation = text_of (&parts[i], error)))
      return FALSE;
  }
  if (files > 0 && files <= PARTS_MOST)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there must be 1 to %d parts called file",
               PARTS_MOST);
  return FALSE;
}

static void
handle_put (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  gsize count;
  const struct http_part *parts = http_parts (request, &count);
  struct putting putting = {request, NULL, json_array ()};
  gboolean ok = check_parts (&putting, parts, count, &problem);
  for (gsize i = 0; ok && i < count; i++)
    ok = strcmp (parts[i].name, "file") != 0 || put_one (&putting, &parts[i], &problem);
  if (ok)
    http_reply_json (request, 201, json_pack ("{s:O}", "files", putting.files));
  else {
    take_back (&putting);
    http_reply_problem (request, problem);
  }
  json_decref (putting.files);
  g_free (putting.conversation);
}

/* ---- looking ---- */

static void
handle_list (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner;
  if (!owner_asked_for (request, &owner))
    return;
  g_autofree char *filters = owner_filters (request);
  char *text = adder_file_list (http_service (request)->engine, owner, filters, &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_show (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner;
  if (!owner_asked_for (request, &owner))
    return;
  char *text =
      adder_file_show (http_service (request)->engine, owner, http_parameter (request, "file"), &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_remove (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner;
  if (!owner_asked_for (request, &owner))
    return;
  if (adder_file_remove (http_service (request)->engine, owner, http_parameter (request, "file"), &problem))
    http_reply_status (request, 204);
  else
    http_reply_problem (request, problem);
}

/* ---- contents ---- */

/* Takes FD, which may be -1. */
static void
reply_content (struct http_request *request, int fd, const char *text, const GError *problem)
{
  g_autoptr (json_t) file = fd >= 0 ? json_loads (text, 0, NULL) : NULL;
  gboolean is_inline = json_is_true (json_object_get (http_query (request), "inline"));
  if (fd >= 0)
    http_range_reply (request, fd, file, is_inline);
  else
    http_reply_problem (request, problem);
}

static void
handle_content (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner;
  if (!owner_asked_for (request, &owner))
    return;
  g_autofree char *text = NULL;
  int fd = adder_file_open (http_service (request)->engine, owner, http_parameter (request, "file"), &text,
                            &problem);
  reply_content (request, fd, text, problem);
}

/* Whoever has the URL: the signature says who gave it, the name is for people. */
static void
handle_signed (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *query = http_query (request);
  g_autofree char *text = NULL;
  int fd = adder_file_open_signed (http_service (request)->engine, http_parameter (request, "file"),
                                   json_integer_value (json_object_get (query, "expires")),
                                   json_member_text (query, "signature"), &text, &problem);
  reply_content (request, fd, text, problem);
}

/* ---- the table ---- */

/* clang-format off */
#define INLINE_QUERY ASK_FLAG ("inline", "Whether a browser may show it, where it is harmless; else it is saved.")
/* clang-format on */

static const struct field file_parameters[] = {PATH_ID ("file", "The file's id."), {0}};
static const struct field signed_parameters[] = {
    PATH_ID ("file", "The file's id."),
    {.name = "name", .types = FIELD_TEXT, .minimum = 1, .maximum = 1024, .text = "For people alone."},
    {0},
};
static const struct field owner_query[] = {ASK_OWNER, {0}};
static const struct field content_query[] = {INLINE_QUERY, ASK_OWNER, {0}};
static const struct field signed_query[] = {
    {.name = "expires",
     .types = FIELD_INTEGER,
     .minimum = 0,
     .maximum = 1LL << 53,
     .text = "Seconds since 1970, as the URL has them."},
    {.name = "signature",
     .types = FIELD_TEXT,
     .pattern = "^[0-9a-f]{64}$",
     .pattern_words = "64 hexadecimal digits",
     .text = "As the URL has it."},
    INLINE_QUERY,
    {0},
};
static const struct field list_query[] = {
    ASK_CONVERSATION,
    ASK_TEXT ("session", 64, "Those that were made in this session, by its id."),
    ASK_TEXT ("run_id", 36, "Those that this run made."),
    ASK_TEXT ("name", 255, "Exactly so."),
    ASK_FLAG ("outputs", "Whether long output is listed as well."),
    {.name = "limit",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "100",
     .minimum = 1,
     .maximum = 1000,
     .text = "How many at most."},
    ASK_TEXT ("before", 36, "The `next` of the page before."),
    ASK_OWNER,
    {0},
};

static const struct field *const file_replies[] = {file_fields, NULL};
static const struct field *const files_replies[] = {files_fields, NULL};
static const struct field *const list_replies[] = {file_list_fields, NULL};

/* Of multipart/form-data, for the description alone: its parts are read by handle_put. */
static const struct field put_body[] = {
    {.name = "file",
     .types = FIELD_LIST,
     .minimum = 1,
     .maximum = 64,
     .items = FIELD_TEXT,
     .text = "The files, each with a filename."},
    {.name = "conversation",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .maximum = TOOL_CONVERSATION_MOST,
     .text = "The conversation that they belong to."},
    {0},
};

const struct http_route http_routes_files[] = {
    {
        .method = "POST",
        .path = "/v1/files",
        .operation = "putFiles",
        .tag = "files",
        .title = "Put files in",
        .text = "multipart/form-data: parts called `file`, 1 to 64, each with a filename, and perhaps one "
                "called `conversation`. All are kept or none.",
        .role = ROLE_GUEST,
        .flags = HTTP_MULTIPART,
        .body = put_body,
        .replies = files_replies,
        .status = 201,
        .handle = handle_put,
    },
    {
        .method = "GET",
        .path = "/v1/files",
        .operation = "listFiles",
        .tag = "files",
        .title = "List files",
        .text = "What runs made and what was put in, the newest first.",
        .role = ROLE_GUEST,
        .query = list_query,
        .replies = list_replies,
        .status = 200,
        .handle = handle_list,
    },
    {
        .method = "GET",
        .path = "/v1/files/{file}",
        .operation = "showFile",
        .tag = "files",
        .title = "Show a file",
        .text = "What is known of it, with a signed URL.",
        .role = ROLE_GUEST,
        .parameters = file_parameters,
        .query = owner_query,
        .replies = file_replies,
        .status = 200,
        .handle = handle_show,
    },
    {
        .method = "DELETE",
        .path = "/v1/files/{file}",
        .operation = "removeFile",
        .tag = "files",
        .title = "Remove a file",
        .text = "A run that has it keeps it until it ends.",
        .role = ROLE_GUEST,
        .parameters = file_parameters,
        .query = owner_query,
        .status = 204,
        .handle = handle_remove,
    },
    {
        .method = "GET",
        .path = "/v1/files/{file}/content",
        .operation = "getFile",
        .tag = "files",
        .title = "Get a file",
        .text = "Its bytes. Range, If-Range, If-Match and If-None-Match are heeded; the entity tag is the "
                "digest of the content.",
        .role = ROLE_GUEST,
        .flags = HTTP_RANGES,
        .parameters = file_parameters,
        .query = content_query,
        .status = 200,
        .reply_type = "*/*",
        .handle = handle_content,
    },
    {
        .method = "GET",
        .path = "/v1/files/{file}/{name}",
        .operation = "getSignedFile",
        .tag = "files",
        .title = "Get a file by its signed URL",
        .text = "Without a token: the `url` of a file, until it expires.",
        .flags = HTTP_OPEN | HTTP_RANGES,
        .parameters = signed_parameters,
        .query = signed_query,
        .status = 200,
        .reply_type = "*/*",
        .handle = handle_signed,
    },
    {0},
};
