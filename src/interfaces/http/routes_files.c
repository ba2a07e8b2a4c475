/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of files: uploaded by /v1/files, downloaded by their ids or their signed URLs. */
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/json.h"
#include "interfaces/http/http_range.h"
#include "interfaces/http/owner.h"
#include "interfaces/http/shapes.h"
#include "library/library.h"
#include "operations/operation.h"
#include "store/files.h"

#define PARTS_MAX 64

/* ---- uploading ---- */

/* The text of a part that is no file; the caller's. NULL with ERROR. */
static char *
routes_files_text_of (const struct http_part *part, GError **error)
{
  char buffer[ADDER_CONVERSATION_BYTES + 1];
  gssize got =
      part->bytes <= ADDER_CONVERSATION_BYTES ? pread (part->fd, buffer, ADDER_CONVERSATION_BYTES, 0) : -1;
  if (got >= 0 && g_utf8_validate (buffer, got, NULL) && !memchr (buffer, '\0', (gsize)got))
    return g_strndup (buffer, (gsize)got);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the part conversation is UTF-8 of at most %d bytes",
               ADDER_CONVERSATION_BYTES);
  return NULL;
}

struct putting {
  struct http_request *request;
  char *conversation;
  json_t *files;
};

static gboolean
routes_files_put_one (struct putting *putting, const struct http_part *part, GError **error)
{
  const struct principal *who = http_who (putting->request);
  const struct operation_caller caller = {
      .engine = http_service (putting->request)->engine,
      .owner = who->owner,
      .role = who->role,
      .watch_fd = http_watch_fd (putting->request),
      .fd = part->fd,
  };
  json_t *params = json_pack ("{s:s, s:s*}", "name", part->filename, "conversation", putting->conversation);
  json_t *file = operation_call (&caller, "file.put", params, error);
  return file && json_array_append_new (putting->files, file) == 0;
}

/* All or none. */
static void
routes_files_take_back (struct putting *putting)
{
  const struct principal *who = http_who (putting->request);
  const struct operation_caller caller =
      OPERATION_CALLER (http_service (putting->request)->engine, who->owner, who->role);
  gsize index;
  json_t *file;
  json_array_foreach (putting->files, index, file)
  {
    json_t *params = json_pack ("{s:O}", "file", json_object_get (file, "file_id"));
    json_decref (operation_call (&caller, "file.remove", params, NULL));
  }
}

/* Checks all parts before any is kept. */
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
    if (!is_file && !(putting->conversation = routes_files_text_of (&parts[i], error)))
      return FALSE;
  }
  if (files > 0 && files <= PARTS_MAX)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there must be 1 to %d parts called file", PARTS_MAX);
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
    ok = strcmp (parts[i].name, "file") != 0 || routes_files_put_one (&putting, &parts[i], &problem);
  if (ok)
    http_reply_json (request, 201, json_pack ("{s:O}", "files", putting.files));
  else {
    routes_files_take_back (&putting);
    http_reply_problem (request, problem);
  }
  json_decref (putting.files);
  g_free (putting.conversation);
}

/* ---- contents ---- */

/* Answers with the content of the file in the path, of OWNER's files (NULL: anybody's). */
static void
reply_content (struct http_request *request, const char *owner)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) file = NULL;
  int fd = library_open_file (http_service (request)->engine, owner, http_parameter (request, "file"), &file,
                              &problem);
  gboolean is_inline = json_is_true (json_object_get (http_query (request), "inline"));
  if (fd >= 0)
    http_range_reply (request, fd, file, is_inline);
  else
    http_reply_problem (request, problem);
}

static void
handle_content (struct http_request *request)
{
  const char *owner;
  if (owner_asked_for (request, &owner))
    reply_content (request, owner);
}

/* Anybody with the URL: the signature authorizes, the name is for people. */
static void
handle_signed (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const json_t *query = http_query (request);
  if (files_url_is_good (http_service (request)->engine->store, http_parameter (request, "file"),
                         json_integer_value (json_object_get (query, "expires")),
                         json_member_text (query, "signature")))
    reply_content (request, NULL);
  else {
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "the URL is not right, or has expired");
    http_reply_problem (request, problem);
  }
}

/* ---- the table ---- */

/* clang-format off */
#define INLINE_QUERY ASK_FLAG ("inline", "Whether a browser may show it, where it is harmless; else it is saved.")
/* clang-format on */

static const struct field file_parameters[] = {FIELD_ID ("file", "The file's id."), {0}};
static const struct field signed_parameters[] = {
    FIELD_ID ("file", "The file's id."),
    {.name = "name", .types = FIELD_TEXT, .minimum = 1, .maximum = 1024, .text = "For people alone."},
    {0},
};
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
static const struct field *const files_replies[] = {files_fields, NULL};

/* Of multipart/form-data, for the description alone: handle_put reads its parts. */
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
     .maximum = ADDER_CONVERSATION_BYTES,
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
        .path = "/v1/files/{file}/content",
        .operation = "getFile",
        .tag = "files",
        .title = "Get a file",
        .text = "Its bytes. Range, If-Range, If-Match and If-None-Match are supported; the entity tag is the "
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
