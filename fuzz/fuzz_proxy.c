/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that a sandbox sends to the proxy, heads and bodies, and where answers end. What passes has one
 * meaning: its head says nothing twice, and names no host but the one that was looked at. */
#include <string.h>

#include "engine/network/network_rules.h"
#include "engine/network/proxy_answer.h"
#include "fuzz/fuzz.h"

static guint
count_lines (const GString *head, const char *name)
{
  guint count = 0;
  g_auto (GStrv) lines = g_strsplit (head->str, "\r\n", -1);
  for (char **line = lines; *line; line++)
    count += g_ascii_strncasecmp (*line, name, strlen (name)) == 0;
  return count;
}

/* Other readers may take less for the end of a line than we do: none of that is left. */
static void
check_head (const struct proxy_request *request)
{
  const GString *head = request->head;
  FUZZ_REQUIRE (strlen (head->str) == head->len && g_str_has_suffix (head->str, "\r\n"));
  FUZZ_REQUIRE (!strstr (head->str, "\r\n\r\n") && !strstr (head->str, "\r\n ") &&
                !strstr (head->str, "\r\n\t"));
  for (gsize i = 0; i < head->len; i++) {
    if (head->str[i] == '\r')
      FUZZ_REQUIRE (head->str[i + 1] == '\n');
    if (head->str[i] == '\n')
      FUZZ_REQUIRE (i > 0 && head->str[i - 1] == '\r');
  }
  FUZZ_REQUIRE (count_lines (head, "host:") == 1 && count_lines (head, "connection:") == 1);
  FUZZ_REQUIRE (count_lines (head, "content-length:") == (request->body == PROXY_BODY_LENGTH));
  FUZZ_REQUIRE (count_lines (head, "transfer-encoding:") == (request->body == PROXY_BODY_CHUNKED));
  FUZZ_REQUIRE (count_lines (head, "x-key:") == 0);
}

static void
check_host (const struct host_name *host)
{
  struct host_name again;
  gsize length = strlen (host->text);
  FUZZ_REQUIRE (length > 0);
  g_autofree char *text = host->is_address && strchr (host->text, ':') ? g_strdup_printf ("[%s]", host->text)
                                                                       : g_strdup (host->text);
  FUZZ_REQUIRE (host_name_parse (text, strlen (text), &again) && strcmp (again.text, host->text) == 0);
  FUZZ_REQUIRE (host->is_address || strspn (host->text, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == length);
  FUZZ_REQUIRE (host->is_address || host->text[length - 1] != '.');
}

/* However the bytes come in pieces, the body ends at the same place. */
static void
check_body (const struct proxy_request *request, const char *text, gsize length)
{
  struct proxy_body whole, pieces;
  proxy_body_init (&whole, request);
  proxy_body_init (&pieces, request);
  gssize taken = proxy_body_take (&whole, text, length), sum = 0;
  FUZZ_REQUIRE (taken <= (gssize)length);
  for (gsize at = 0; at < length && sum >= 0 && !pieces.whole; at++) {
    gssize one = proxy_body_take (&pieces, text + at, 1);
    sum = one < 0 ? -1 : sum + one;
  }
  FUZZ_REQUIRE (sum == taken && pieces.whole == whole.whole);
}

/* The same of what a host sends, and that is all that is asked of it. */
static void
check_answer (gboolean is_head, const char *text, gsize length)
{
  const struct proxy_request request = {.is_head = is_head};
  struct proxy_answer whole, pieces;
  gboolean ended = FALSE;
  proxy_answer_init (&whole, &request);
  proxy_answer_init (&pieces, &request);
  for (gsize at = 0; at < length && !ended; at++)
    ended = proxy_answer_take (&pieces, text + at, 1);
  FUZZ_REQUIRE (proxy_answer_take (&whole, text, length) == ended);
  proxy_answer_clear (&whole);
  proxy_answer_clear (&pieces);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  struct proxy_request request;
  g_autofree char *text = g_malloc0 (size + 1);
  if (size > 0)
    memcpy (text, data, size);
  check_answer (size % 2, text, size);
  gsize head = proxy_head_length (text, size);
  FUZZ_REQUIRE (head <= size);
  if (head == 0 || proxy_request_parse (text, head, "X-Key", &request))
    return 0;
  check_host (&request.host);
  FUZZ_REQUIRE (request.port > 0 && request.connect == !request.head);
  if (request.head) {
    check_head (&request);
    check_body (&request, text + head, size - head);
  }
  proxy_request_clear (&request);
  return 0;
}
