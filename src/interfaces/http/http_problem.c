/* SPDX-License-Identifier: Apache-2.0 */
/* Problem documents (RFC 9457). */
#include <string.h>

#include "cluster/cluster.h"
#include "common/error.h"
#include "common/json.h"
#include "engine/host/id.h"
#include "interfaces/http/http_private.h"
#include "store/store.h"

/* The caller of a route that is open to all. */
#define HTTP_NOBODY "-"

/* The default for Retry-After, in seconds. */
#define RETRY_S "1"

/* An error's code in HTTP, and as a word for programs. */
static const struct {
  int code, status;
  const char *word;
} codes[] = {
    {ADDER_ERROR_FAILED, 500, "failed"},           {ADDER_ERROR_INVALID, 400, "invalid"},
    {ADDER_ERROR_NOT_FOUND, 404, "not_found"},     {ADDER_ERROR_BUSY, 429, "busy"},
    {ADDER_ERROR_TIMEOUT, 504, "timeout"},         {ADDER_ERROR_UNSUPPORTED, 422, "unsupported"},
    {ADDER_ERROR_CANCELLED, 499, "cancelled"},     {ADDER_ERROR_ENDED, 410, "ended"},
    {ADDER_ERROR_REFUSED, 403, "refused"},         {ADDER_ERROR_APPROVAL, 403, "approval_required"},
    {ADDER_ERROR_UNAVAILABLE, 503, "unavailable"}, {ADDER_ERROR_EXISTS, 409, "conflict"},
};

/* The statuses in use, the word for those without an error code, and their meaning for a caller behind
 * another daemon. */
static const struct {
  int status;
  const char *words, *code;
  int error;
} statuses[] = {
    {400, "Bad Request", "invalid", ADDER_ERROR_INVALID},
    {401, "Unauthorized", "unauthorized", ADDER_ERROR_REFUSED},
    {403, "Forbidden", "refused", ADDER_ERROR_REFUSED},
    {404, "Not Found", "not_found", ADDER_ERROR_NOT_FOUND},
    {405, "Method Not Allowed", "method_not_allowed", ADDER_ERROR_FAILED},
    {406, "Not Acceptable", "not_acceptable", ADDER_ERROR_FAILED},
    {408, "Request Timeout", "request_timeout", ADDER_ERROR_FAILED},
    {409, "Conflict", "conflict", ADDER_ERROR_EXISTS},
    {410, "Gone", "ended", ADDER_ERROR_ENDED},
    {412, "Precondition Failed", "precondition_failed", ADDER_ERROR_FAILED},
    {413, "Content Too Large", "too_large", ADDER_ERROR_INVALID},
    {414, "URI Too Long", "too_large", ADDER_ERROR_FAILED},
    {415, "Unsupported Media Type", "unsupported_media_type", ADDER_ERROR_FAILED},
    {416, "Range Not Satisfiable", "range_not_satisfiable", ADDER_ERROR_FAILED},
    {417, "Expectation Failed", "expectation_failed", ADDER_ERROR_FAILED},
    {421, "Misdirected Request", "misdirected", ADDER_ERROR_FAILED},
    {422, "Unprocessable Content", "unsupported", ADDER_ERROR_UNSUPPORTED},
    {429, "Too Many Requests", "busy", ADDER_ERROR_BUSY},
    {431, "Request Header Fields Too Large", "too_large", ADDER_ERROR_FAILED},
    {499, "Client Closed Request", "cancelled", ADDER_ERROR_CANCELLED},
    {500, "Internal Server Error", "failed", ADDER_ERROR_FAILED},
    {501, "Not Implemented", "unsupported", ADDER_ERROR_FAILED},
    {503, "Service Unavailable", "unavailable", ADDER_ERROR_BUSY},
    {504, "Gateway Timeout", "timeout", ADDER_ERROR_TIMEOUT},
    {505, "HTTP Version Not Supported", "unsupported", ADDER_ERROR_FAILED},
};

const char *
http_status_words (int status)
{
  for (gsize i = 0; i < G_N_ELEMENTS (statuses); i++)
    if (statuses[i].status == status)
      return statuses[i].words;
  return "Error";
}

static const char *
code_of_status (int status)
{
  for (gsize i = 0; i < G_N_ELEMENTS (statuses); i++)
    if (statuses[i].status == status)
      return statuses[i].code;
  return "failed";
}

int
http_problem_error (int status, const char *word)
{
  /* A daemon that is ending replies like one whose store is away: retrying later helps with both. */
  for (gsize i = 0; i < G_N_ELEMENTS (codes) && status != 503; i++)
    if (codes[i].status == status && strcmp (codes[i].word, word) == 0)
      return codes[i].code;
  for (gsize i = 0; i < G_N_ELEMENTS (statuses); i++)
    if (statuses[i].status == status)
      return statuses[i].error;
  return ADDER_ERROR_FAILED;
}

static gsize
row_of (const GError *problem)
{
  for (gsize i = 0; problem->domain == ADDER_ERROR && i < G_N_ELEMENTS (codes); i++)
    if (codes[i].code == problem->code)
      return i;
  return 0;
}

int
http_problem_status (const GError *problem)
{
  return codes[row_of (problem)].status;
}

json_t *
http_problem_document (int status, const char *code, const char *detail, struct http_request *request)
{
  /* Identifies this one occurrence, for a person who asks about it. */
  char id[ID_BYTES];
  id_make (id);
  g_autofree char *instance = g_strdup_printf ("urn:uuid:%s", id);
  (void)request;
  return json_pack ("{s:s, s:s, s:i, s:o, s:s, s:s}", "type", "about:blank", "title",
                    http_status_words (status), "status", status, "detail", json_text_or_null (detail),
                    "instance", instance, "code", code ? code : code_of_status (status));
}

static void
reply_document (struct http_request *request, int status, const char *code, const char *detail,
                const char *retry_after)
{
  g_autoptr (json_t) document = http_problem_document (status, code, detail, request);
  char *text = json_to_text (document);
  struct wire_reply reply = {.text = text, .length = strlen (text), .fd = -1};
  if (retry_after && (status == 429 || status == 503))
    http_set_header (request, "Retry-After", retry_after);
  http_set_header (request, "Cache-Control", "no-store");
  http_reply_send (request, status, "application/problem+json", &reply);
}

/* The caller's. */
static char *
problem_detail (const struct principal *who, gboolean at_terminal, const GError *problem)
{
  gboolean admin = who && who->role == ROLE_ADMIN;
  const char *told = admin ? problem->message : cluster_told (problem);
  told = told ? told : store_told (who ? who->owner : HTTP_NOBODY, problem);
  return told == problem->message ? error_told (problem, at_terminal) : g_strdup (told);
}

json_t *
http_problem_told (const struct principal *who, gboolean at_terminal, const GError *problem)
{
  g_autofree char *detail = problem_detail (who, at_terminal, problem);
  return http_problem_document (http_problem_status (problem), codes[row_of (problem)].word, detail, NULL);
}

void
http_reply_problem_status (struct http_request *request, int status, const GError *problem)
{
  gboolean usual = problem->domain == ADDER_ERROR && http_problem_status (problem) == status;
  g_autofree char *detail = problem_detail (http_who (request), http_at_terminal (request), problem);
  reply_document (request, status, usual ? codes[row_of (problem)].word : NULL, detail,
                  error_is_lasting (problem) ? NULL : RETRY_S);
}

void
http_reply_problem (struct http_request *request, const GError *problem)
{
  http_reply_problem_status (request, http_problem_status (problem), problem);
}

void
http_reply_fault (struct http_request *request, int status, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *detail = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  reply_document (request, status, NULL, detail, RETRY_S);
}
