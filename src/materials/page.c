/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/page.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"

#define DETAIL_BYTES 200

/* Each value of JSON takes some 200 bytes once it is read: a page is held to 200 MB, as the greatest of pages
 * need a tenth of it. */
#define VALUES_MAX (1000 * 1000)

void
page_clear (struct page *page)
{
  json_decref (page->entries);
  g_free (page->next);
  *page = (struct page){0};
}

static gboolean
page_wrong (GError **error, const char *what)
{
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, what);
  return FALSE;
}

static int
port_of (GUri *uri)
{
  int port = g_uri_get_port (uri);
  return port > 0 ? port : strcmp (g_uri_get_scheme (uri), "https") == 0 ? 443 : 80;
}

char *
page_url_here (const char *base, const char *url)
{
  g_autoptr (GUri) from = g_uri_parse (base, G_URI_FLAGS_ENCODED, NULL);
  g_autoptr (GUri) to = from ? g_uri_parse_relative (from, url, G_URI_FLAGS_ENCODED, NULL) : NULL;
  gboolean here = to && g_uri_get_host (to) && !g_uri_get_userinfo (to) &&
                  strcmp (g_uri_get_scheme (from), g_uri_get_scheme (to)) == 0 &&
                  g_ascii_strcasecmp (g_uri_get_host (from), g_uri_get_host (to)) == 0 &&
                  port_of (from) == port_of (to);
  return here ? g_uri_to_string (to) : NULL;
}

/* A URL, an object with one, or nothing. */
static const char *
next_of (const json_t *all)
{
  const json_t *next = json_object_get (json_object_get (all, "links"), "next");
  if (json_is_object (next))
    next = json_object_get (next, "href");
  return json_is_string (next) && json_string_length (next) > 0 ? json_string_value (next) : NULL;
}

static gboolean
looks_like_html (const char *text, gsize length)
{
  gsize blank = 0;
  while (blank < length && g_ascii_isspace (text[blank]))
    blank++;
  return blank < length && text[blank] == '<';
}

/* The first of its errors, or NULL. The caller's. */
static char *
refusal_of (const json_t *all)
{
  const json_t *first = json_array_get (json_object_get (all, "errors"), 0);
  const char *detail = json_member_text (first, "detail"), *title = json_member_text (first, "title");
  const char *said = detail[0] ? detail : title;
  return said[0] ? text_one_line (said, DETAIL_BYTES) : NULL;
}

/* Whether there may be more values in TEXT than are read. A mark inside a text counts as well. */
static gboolean
has_too_many_values (const char *text, gsize length)
{
  gsize marks = 0;
  for (gsize i = 0; i < length; i++)
    marks += text[i] == ',' || text[i] == '{' || text[i] == '[';
  return marks > VALUES_MAX;
}

gboolean
page_read (const char *text, gsize length, const char *url, struct page *ret_page, GError **error)
{
  json_error_t problem;
  if (length == 0)
    return page_wrong (error, "answered with nothing");
  if (looks_like_html (text, length))
    return page_wrong (error, "answered with HTML, not with JSON");
  if (has_too_many_values (text, length))
    return page_wrong (error, "answered with more than a million values on one page");
  g_autoptr (json_t) all = json_loadb (text, length, 0, &problem);
  if (!all) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "answered with what is not JSON (line %d, column %d)", problem.line, problem.column);
    return FALSE;
  }
  json_t *entries = json_object_get (all, "data");
  const json_t *meta = json_object_get (all, "meta"), *available = json_object_get (meta, "data_returned");
  const char *next = next_of (all);
  if (!json_is_array (entries)) {
    g_autofree char *said = refusal_of (all);
    return page_wrong (error, said ? said : "answered with JSON that has no list of structures");
  }
  *ret_page = (struct page){
      .available = json_is_integer (available) && json_integer_value (available) >= 0
                       ? json_integer_value (available)
                       : -1,
      .has_more = next || json_is_true (json_object_get (meta, "more_data_available")),
      .next = next ? page_url_here (url, next) : NULL,
  };
  ret_page->leads_away = next && !ret_page->next;
  ret_page->entries = json_incref (entries);
  return TRUE;
}

char *
page_read_refusal (const char *text, gsize length)
{
  g_autoptr (json_t) all = json_loadb (text, length, 0, NULL);
  return refusal_of (all);
}
