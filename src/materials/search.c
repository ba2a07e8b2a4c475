/* SPDX-License-Identifier: Apache-2.0 */
/* All providers are asked from one thread. Each has one GET under way, or waits for when it may ask again, or
 * is done. What a provider does wrong ends it alone, and what it gave before stays. */
#include "materials/search.h"

#include <poll.h>
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "materials/get.h"
#include "materials/merge.h"
#include "materials/page.h"
#include "materials/providers.h"
#include "materials/record.h"

#define TRIES         4   /* of one page */
#define AGAIN_MS      500 /* after the first of them, and then twice as long each time */
#define REDIRECTS_MAX 5
#define EMPTY_MAX     3 /* pages without a structure, one after the other */

#define NO_HINT       NULL

struct asked {
  const struct provider *provider;
  struct get get;
  char *url;           /* of the page under way */
  gboolean with_limit; /* the page says how many it wants */
  guint tries, redirects, empty_pages;
  gint64 again_us; /* when it is asked again; 0: it is under way or done */
  GHashTable *urls, *ids;
  json_t *rows;
  guint64 bytes;
  guint pages, duplicates, skipped;
  gint64 available, began_us, took_us;
  gboolean done, is_cut;
  char *error;
  const char *hint;
};

struct searching {
  const struct materials_search *search;
  const struct materials_watch *watch;
  const struct config *config;
  struct http_client *client;
  char *filter;
  GPtrArray *all; /* struct asked */
  gint64 until_us;
  gboolean interrupted;
};

static void
search_asked_free (gpointer data)
{
  struct asked *asked = data;
  get_clear (&asked->get);
  g_free (asked->url);
  g_hash_table_unref (asked->urls);
  g_hash_table_unref (asked->ids);
  json_decref (asked->rows);
  g_free (asked->error);
  g_free (asked);
}

/* ---- URLs ---- */

/* Where structures are: a base URL may have its version already. The caller's. */
static char *
structures_of (const struct provider *provider)
{
  const char *last = strrchr (provider->url, '/');
  gboolean versioned = last && last[1] == 'v' && g_ascii_isdigit (last[2]);
  return g_strconcat (provider->url, versioned ? "" : "/v1", "/structures", NULL);
}

static char *
first_url (const struct provider *provider, const char *filter, guint limit)
{
  g_autofree char *base = structures_of (provider), *escaped = g_uri_escape_string (filter, NULL, FALSE);
  GString *url = g_string_new (NULL);
  g_string_append_printf (url, "%s?filter=%s&response_format=json", base, escaped);
  if (limit > 0)
    g_string_append_printf (url, "&page_limit=%u", limit);
  return g_string_free (url, FALSE);
}

static guint
page_limit (const struct searching *searching, const struct provider *provider)
{
  return MIN (provider->page_limit, searching->search->limit);
}

/* ---- how a provider ends ---- */

static void
report_progress (struct searching *searching, const struct asked *last)
{
  struct materials_progress progress = {.provider = last->provider->name, .providers = searching->all->len};
  if (!searching->watch || !searching->watch->saw)
    return;
  for (guint i = 0; i < searching->all->len; i++) {
    const struct asked *asked = searching->all->pdata[i];
    progress.providers_done += asked->done;
    progress.pages += asked->pages;
    progress.rows += (guint)json_array_size (asked->rows);
  }
  searching->watch->saw (searching->watch->data, &progress);
}

static void
search_finish (struct searching *searching, struct asked *asked)
{
  asked->done = TRUE;
  asked->again_us = 0;
  asked->took_us = g_get_monotonic_time () - asked->began_us;
  report_progress (searching, asked);
}

/* A provider may say its key, but we do not. The caller's. */
static char *
without_key (const struct asked *asked, char *taken)
{
  GString *text = g_string_new (taken);
  if (asked->provider->key)
    g_string_replace (text, asked->provider->key, "***", 0);
  g_free (taken);
  return g_string_free (text, FALSE);
}

static void search_fail (struct searching *searching, struct asked *asked, const char *hint,
                         const char *format, ...) G_GNUC_PRINTF (4, 5);
static void
search_fail (struct searching *searching, struct asked *asked, const char *hint, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  asked->error = without_key (asked, g_strdup_vprintf (format, arguments));
  va_end (arguments);
  asked->hint = hint;
  search_finish (searching, asked);
}

/* ---- asking ---- */

static void
search_ask (struct searching *searching, struct asked *asked)
{
  guint64 left = searching->config->materials_provider_bytes - asked->bytes;
  gint64 until_us = g_get_monotonic_time () + (gint64)asked->provider->wait_ms * 1000;
  get_clear (&asked->get);
  asked->again_us = 0;
  asked->get = (struct get){
      .url = asked->url,
      .key = asked->provider->key,
      .only_public = asked->provider->only_public,
      .deadline_us = MIN (until_us, searching->until_us),
      .answer_bytes = MIN (left, searching->config->materials_page_bytes),
      .data = asked,
  };
  get_start (searching->client, &asked->get);
}

/* Takes URL. A page that was asked for before would be asked for again and again. */
static void
search_ask_page (struct searching *searching, struct asked *asked, char *url)
{
  g_free (asked->url);
  asked->url = url;
  asked->tries = 0;
  if (g_hash_table_add (asked->urls, g_strdup (url)))
    search_ask (searching, asked);
  else
    search_fail (searching, asked, NO_HINT, "its pages go round in a circle");
}

/* Asks again in a while; FALSE: that is not to be hoped for. */
static gboolean
ask_later (struct searching *searching, struct asked *asked)
{
  gint64 wait_ms =
      asked->get.response.again_ms >= 0 ? asked->get.response.again_ms : (gint64)AGAIN_MS << asked->tries;
  gint64 again_us = g_get_monotonic_time () + wait_ms * 1000;
  if (++asked->tries >= TRIES || again_us >= searching->until_us)
    return FALSE;
  asked->again_us = again_us;
  return TRUE;
}

/* ---- what came ---- */

/* Keeps ENTRIES up to the limit; FALSE: it is reached. */
static gboolean
search_keep (const struct searching *searching, struct asked *asked, const json_t *entries)
{
  for (gsize i = 0; i < json_array_size (entries); i++) {
    const char *why = NULL;
    const json_t *entry = json_array_get (entries, i);
    if (json_array_size (asked->rows) >= searching->search->limit)
      return FALSE;
    if (!json_is_string (json_object_get (entry, "id"))) {
      asked->skipped++;
      continue;
    }
    if (!g_hash_table_add (asked->ids, g_strdup (json_member_text (entry, "id")))) {
      asked->duplicates++;
      continue;
    }
    json_t *row = materials_record (asked->provider->name, entry, searching->search->raw, &why);
    if (row)
      json_array_append_new (asked->rows, row);
    else
      asked->skipped++;
  }
  return json_array_size (asked->rows) < searching->search->limit;
}

static void
search_go_on (struct searching *searching, struct asked *asked, struct page *page, gsize before)
{
  asked->empty_pages = json_array_size (asked->rows) > before ? 0 : asked->empty_pages + 1;
  asked->redirects = 0;
  if (page->leads_away)
    search_fail (searching, asked, NO_HINT,
                 "says that its next page is on another server, which is not asked");
  else if (!page->next && page->has_more)
    search_fail (searching, asked, NO_HINT, "says that it has more, but not where");
  else if (!page->next)
    search_finish (searching, asked);
  else if (asked->pages >= searching->config->materials_pages)
    search_fail (searching, asked, "[materials] pages in adder.conf",
                 "there is no end to its pages: %u were read", asked->pages);
  else if (asked->empty_pages >= EMPTY_MAX)
    search_fail (searching, asked, NO_HINT,
                 "its pages have nothing new in them, and there is no end to them");
  else if (asked->bytes >= searching->config->materials_provider_bytes)
    search_fail (searching, asked, "[materials] provider_bytes in adder.conf",
                 "its answer is longer than %" G_GUINT64_FORMAT " MiB",
                 searching->config->materials_provider_bytes >> 20);
  else {
    report_progress (searching, asked);
    search_ask_page (searching, asked, g_steal_pointer (&page->next));
  }
}

static void
take_page (struct searching *searching, struct asked *asked)
{
  struct page page = {0};
  g_autoptr (GError) problem = NULL;
  const GString *body = asked->get.response.body;
  gsize before = json_array_size (asked->rows);
  asked->bytes += body->len;
  if (!page_read (body->str, body->len, asked->url, &page, &problem)) {
    search_fail (searching, asked, NO_HINT, "%s", problem->message);
    page_clear (&page);
    return;
  }
  asked->pages++;
  asked->available = MAX (asked->available, page.available);
  if (search_keep (searching, asked, page.entries))
    search_go_on (searching, asked, &page, before);
  else
    search_finish (searching, asked);
  page_clear (&page);
}

static void
search_follow (struct searching *searching, struct asked *asked)
{
  char *url = asked->get.response.location ? page_url_here (asked->url, asked->get.response.location) : NULL;
  if (url && ++asked->redirects <= REDIRECTS_MAX) {
    search_ask_page (searching, asked, url);
    return;
  }
  search_fail (searching, asked, "its url in " PROVIDERS_FILE,
               url ? "redirects again and again" : "redirects to another server, which is not asked");
  g_free (url);
}

/* Many refuse a page that is larger than theirs may be, each in its own words: so they are asked for what is
 * usual there. */
static gboolean
ask_without_limit (struct searching *searching, struct asked *asked)
{
  gboolean maybe = asked->with_limit && asked->pages == 0 &&
                   (asked->get.response.status == 400 || asked->get.response.status == 403);
  asked->with_limit = asked->with_limit && !maybe;
  if (maybe)
    search_ask_page (searching, asked, first_url (asked->provider, searching->filter, 0));
  return maybe;
}

static const struct {
  long status;
  const char *hint;
} status_hints[] = {
    {400, "adder search --explain shows the filter"},
    {401, "key_env or key_file of the provider in " PROVIDERS_FILE},
    {403, "key_env or key_file of the provider in " PROVIDERS_FILE},
    {404, "its url in " PROVIDERS_FILE},
    {429, "ask for less, or later"},
    {501, "it does not know a part of the filter: adder search --explain shows it"},
};

static const char *
search_hint_of (long status)
{
  for (gsize i = 0; i < G_N_ELEMENTS (status_hints); i++)
    if (status_hints[i].status == status)
      return status_hints[i].hint;
  return NO_HINT;
}

static void
take_refusal (struct searching *searching, struct asked *asked)
{
  long status = asked->get.response.status;
  gboolean busy = status == 429 || status == 502 || status == 503 || status == 504 || status == 500;
  if (status >= 300 && status <= 399)
    search_follow (searching, asked);
  else if ((!busy || !ask_later (searching, asked)) && !ask_without_limit (searching, asked)) {
    g_autofree char *said = page_read_refusal (asked->get.response.body->str, asked->get.response.body->len);
    search_fail (searching, asked, search_hint_of (status), "refuses with HTTP %ld%s%s", status,
                 said ? ": " : "", said ? said : "");
  }
}

static void
take_nothing (struct searching *searching, struct asked *asked)
{
  const struct http_response *response = &asked->get.response;
  if (response->end == HTTP_LONG) {
    gboolean all =
        searching->config->materials_provider_bytes - asked->bytes < searching->config->materials_page_bytes;
    search_fail (
        searching, asked,
        all ? "[materials] provider_bytes in adder.conf" : "[materials] page_bytes in adder.conf",
        "its answer is longer than %" G_GUINT64_FORMAT " MiB",
        (all ? searching->config->materials_provider_bytes : searching->config->materials_page_bytes) >> 20);
  } else if (response->end == HTTP_REFUSED)
    search_fail (searching, asked, "a group of its own in " PROVIDERS_FILE, "is not asked: " GET_REFUSAL,
                 response->reason);
  else if (get_is_late (&asked->get))
    search_fail (searching, asked, "give it more time (--timeout, or wait of the provider), or ask for less",
                 "did not answer in time");
  else if (!ask_later (searching, asked))
    search_fail (searching, asked,
                 response->end == HTTP_UNREACHABLE ? "is there a network, and is its url right?" : NO_HINT,
                 "%s: %s",
                 response->end == HTTP_UNREACHABLE ? "cannot be reached"
                 : response->end == HTTP_UNTRUSTED ? "cannot be trusted"
                                                   : "broke off",
                 response->reason);
}

static void
search_take (struct searching *searching, struct asked *asked)
{
  if (asked->get.response.end != HTTP_ARRIVED)
    take_nothing (searching, asked);
  else if (asked->get.response.status == 200)
    take_page (searching, asked);
  else
    take_refusal (searching, asked);
}

/* ---- the loop ---- */

static gboolean
search_is_cancelled (const struct searching *searching)
{
  struct pollfd ready = {.fd = searching->watch ? searching->watch->cancel_fd : -1, .events = POLLIN};
  return poll (&ready, 1, 0) > 0;
}

/* Asks those whose time has come. Until when is waited for the others; 0: all are done. */
static gint64
ask_due (struct searching *searching)
{
  gint64 now = g_get_monotonic_time (), next = 0;
  for (guint i = 0; i < searching->all->len; i++) {
    struct asked *asked = searching->all->pdata[i];
    if (asked->done)
      continue;
    if (asked->again_us > 0 && asked->again_us <= now)
      search_ask (searching, asked);
    gint64 due = asked->again_us > 0 ? asked->again_us : searching->until_us;
    next = next == 0 ? due : MIN (next, due);
  }
  return next;
}

/* What is not done when the time is over, or somebody had enough. */
static void
search_give_up (struct searching *searching)
{
  for (guint i = 0; i < searching->all->len; i++) {
    struct asked *asked = searching->all->pdata[i];
    http_client_stop (searching->client, &asked->get.response);
    if (!asked->done)
      search_fail (searching, asked,
                   searching->interrupted ? NO_HINT : "give it more time (--timeout), or ask for less", "%s",
                   searching->interrupted ? "was interrupted" : "was not done in time");
  }
}

static void
go (struct searching *searching)
{
  int cancel_fd = searching->watch ? searching->watch->cancel_fd : -1;
  for (guint i = 0; i < searching->all->len; i++) {
    struct asked *asked = searching->all->pdata[i];
    if (asked->provider->unfit)
      search_fail (searching, asked, "key_env or key_file of the provider in " PROVIDERS_FILE, "%s",
                   asked->provider->unfit);
    else
      search_ask_page (
          searching, asked,
          first_url (asked->provider, searching->filter, page_limit (searching, asked->provider)));
  }
  for (gint64 until; (until = ask_due (searching)) > 0 && g_get_monotonic_time () < searching->until_us;) {
    const struct http_response *done = http_client_wait (searching->client, until, cancel_fd);
    if (done)
      search_take (searching, done->data);
    searching->interrupted = search_is_cancelled (searching);
    if (searching->interrupted)
      break;
  }
  search_give_up (searching);
}

/* ---- the answer ---- */

static const char *
state_of (const struct asked *asked)
{
  if (!asked->error)
    return "ok";
  return json_array_size (asked->rows) > 0 ? "partial" : "failed";
}

static json_t *
provider_json (const struct asked *asked)
{
  return json_pack ("{s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:I, s:I, s:I, s:o, s:o}", "name",
                    asked->provider->name, "title", asked->provider->title, "url", asked->provider->url,
                    "state", state_of (asked), "records", (json_int_t)json_array_size (asked->rows), "pages",
                    (json_int_t)asked->pages, "available",
                    asked->available >= 0 ? json_integer (asked->available) : json_null (), "duplicates",
                    (json_int_t)asked->duplicates, "skipped", (json_int_t)asked->skipped, "wall_ms",
                    (json_int_t)(asked->took_us / 1000), "error", json_text_or_null (asked->error), "hint",
                    json_text_or_null (asked->hint));
}

static json_t *
answer_of (const struct searching *searching, const GPtrArray *warnings)
{
  g_autoptr (json_t) rows = json_array ();
  json_t *providers = json_array ();
  gboolean complete = TRUE;
  for (guint i = 0; i < searching->all->len; i++) {
    const struct asked *asked = searching->all->pdata[i];
    json_array_extend (rows, asked->rows);
    json_array_append_new (providers, provider_json (asked));
    complete = complete && !asked->error;
  }
  return json_pack ("{s:s, s:o, s:I, s:b, s:b, s:o, s:o}", "filter", searching->filter, "rows",
                    materials_merge (rows), "records", (json_int_t)json_array_size (rows), "complete",
                    complete, "interrupted", searching->interrupted, "providers", providers, "warnings",
                    json_of_names (warnings));
}

/* ---- who is asked ---- */

static struct asked *
asked_new (const struct provider *provider)
{
  struct asked *asked = g_new0 (struct asked, 1);
  *asked = (struct asked){
      .provider = provider,
      .with_limit = TRUE,
      .available = -1,
      .began_us = g_get_monotonic_time (),
      .urls = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
      .ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
      .rows = json_array (),
  };
  return asked;
}

static gboolean
is_all (const char *const *names)
{
  return names && names[0] && strcmp (names[0], "all") == 0 && !names[1];
}

/* The index is read only where somebody asks for one that is in it. */
static GPtrArray *
read_providers (const struct materials_search *search, int cancel_fd, GPtrArray *warnings, GError **error)
{
  GPtrArray *known = providers_read (NULL, FALSE, cancel_fd, warnings, error);
  gboolean enough = known && !is_all (search->providers);
  for (const char *const *name = search->providers; enough && name && *name; name++)
    enough = providers_find (known, *name, NULL) != NULL;
  if (!known || enough)
    return known;
  g_ptr_array_unref (known);
  return providers_read (search->config, FALSE, cancel_fd, warnings, error);
}

static gboolean
check_count (const GPtrArray *all, GError **error)
{
  if (all->len > 0 && all->len <= SEARCH_PROVIDERS_MAX)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               all->len == 0 ? "no provider is asked by default: name some"
                             : "these are %u providers; at most %d are asked at once: name some",
               all->len, SEARCH_PROVIDERS_MAX);
  return FALSE;
}

/* Array of struct asked, for those of KNOWN that SEARCH means; each once. */
static GPtrArray *
search_choose (const struct materials_search *search, const GPtrArray *known, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (search_asked_free);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_direct_hash, g_direct_equal);
  for (const char *const *name = is_all (search->providers) ? NULL : search->providers; name && *name;
       name++) {
    const struct provider *provider = providers_find (known, *name, error);
    if (!provider)
      return NULL;
    if (g_hash_table_add (seen, (gpointer)(guintptr)provider))
      g_ptr_array_add (all, asked_new (provider));
  }
  for (guint i = 0; i < known->len; i++) {
    const struct provider *provider = known->pdata[i];
    if (is_all (search->providers) || (!search->providers && provider->is_default))
      g_ptr_array_add (all, asked_new (provider));
  }
  return check_count (all, error) ? g_steal_pointer (&all) : NULL;
}

static gboolean
check_search (const struct materials_search *search, GError **error)
{
  if (search->limit >= 1 && search->limit <= SEARCH_LIMIT_MAX && search->wait_ms >= 1 &&
      search->wait_ms <= SEARCH_WAIT_MAX_MS)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "the limit is 1 to %d records of each provider, the time up to %d s", SEARCH_LIMIT_MAX,
               SEARCH_WAIT_MAX_MS / 1000);
  return FALSE;
}

/* ---- from outside ---- */

static json_t *
search_with (struct searching *searching, GPtrArray *warnings, GError **error)
{
  searching->client = http_client_new (error);
  if (!searching->client)
    return NULL;
  go (searching);
  http_client_free (searching->client);
  return answer_of (searching, warnings);
}

json_t *
materials_search (const struct materials_search *search, const struct materials_watch *watch, GError **error)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *filter = materials_query_filter (&search->query, error);
  if (!filter || !check_search (search, error))
    return NULL;
  struct searching searching = {
      .search = search,
      .watch = watch,
      .config = search->config,
      .filter = filter,
      .until_us = g_get_monotonic_time () + (gint64)search->wait_ms * 1000,
  };
  g_autoptr (GPtrArray) known = read_providers (search, watch ? watch->cancel_fd : -1, warnings, error);
  json_t *answer = NULL;
  if (known && (searching.all = search_choose (search, known, error)))
    answer = search_with (&searching, warnings, error);
  if (searching.all)
    g_ptr_array_unref (searching.all);
  return answer;
}

json_t *
materials_explain (const struct materials_search *search, GError **error)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *filter = materials_query_filter (&search->query, error);
  g_autoptr (GPtrArray) known =
      filter && check_search (search, error) ? read_providers (search, -1, warnings, error) : NULL;
  g_autoptr (GPtrArray) all = known ? search_choose (search, known, error) : NULL;
  if (!all)
    return NULL;
  json_t *requests = json_array ();
  for (guint i = 0; i < all->len; i++) {
    const struct provider *provider = ((const struct asked *)all->pdata[i])->provider;
    g_autofree char *url = first_url (provider, filter, MIN (provider->page_limit, search->limit));
    json_array_append_new (requests, json_pack ("{s:s, s:s}", "provider", provider->name, "url", url));
  }
  return json_pack ("{s:s, s:o}", "filter", filter, "requests", requests);
}
