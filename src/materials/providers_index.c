/* SPDX-License-Identifier: Apache-2.0 */
/* The federation's index: a list of providers, each of which has a list of its databases. Both are OPTIMADE's
 * /links. What was read is kept in the cache as {"read_ms", "providers": [{"name", "title", "url"}]}. */
#include <poll.h>
#include <string.h>

#include "adder.h"
#include "common/address.h"
#include "common/json.h"
#include "common/paths.h"
#include "common/replace.h"
#include "common/text.h"
#include "common/url.h"
#include "materials/get.h"
#include "materials/page.h"
#include "materials/providers.h"

#define CACHE_FILE   "materials-providers.json"
#define CACHE_BYTES  (4 << 20)
#define ANSWER_BYTES (4 << 20)
#define WAIT_US      (G_GINT64_CONSTANT (20) * 1000 * 1000) /* for all of it */

/* ---- entries of /links ---- */

static const char *
providers_index_text_of (const json_t *object, const char *name)
{
  return json_member_text (object, name);
}

/* A URL, or {"href": URL}. */
static const char *
providers_index_url_of (const json_t *attributes)
{
  const json_t *url = json_object_get (attributes, "base_url");
  return json_is_object (url)   ? providers_index_text_of (url, "href")
         : json_is_string (url) ? json_string_value (url)
                                : "";
}

/* Calls TAKE with each entry in ANSWER whose link_type is TYPE and that has a URL. FALSE: it is no list of
 * links. */
static gboolean
each_link (const GString *answer, const char *type,
           void (*take) (gpointer data, const char *id, const json_t *attributes), gpointer data)
{
  g_autoptr (json_t) all = json_loadb (answer->str, answer->len, 0, NULL);
  gsize index;
  json_t *entry;
  const json_t *entries = json_object_get (all, "data");
  json_array_foreach (json_object_get (all, "data"), index, entry)
  {
    const json_t *attributes = json_object_get (entry, "attributes");
    if (strcmp (providers_index_text_of (attributes, "link_type"), type) == 0 &&
        providers_index_url_of (attributes)[0] && providers_index_text_of (entry, "id")[0])
      take (data, providers_index_text_of (entry, "id"), attributes);
  }
  return json_is_array (entries);
}

/* ---- over the network ---- */

/* One provider, whose list of databases is asked for. */
struct asked {
  char *name, *url;
  struct get get;
};

static void
providers_index_asked_free (gpointer data)
{
  struct asked *asked = data;
  get_clear (&asked->get);
  g_free (asked->name);
  g_free (asked->url);
  g_free (asked);
}

struct finding {
  const char *index_url;
  GPtrArray *asked;     /* struct asked, */
  json_t *databases;    /* and what they have */
  const char *provider; /* whose these are */
};

/* Whether URL is on the index's own host, which the configuration names. Others are asked where they are
 * public. */
static gboolean
is_of_index (const char *index_url, const char *url)
{
  g_autofree char *here = page_url_here (index_url, url);
  return here != NULL;
}

/* FALSE as well for a number that only some readers take for an address. The address of a name shows when it
 * is asked. */
static gboolean
may_be_public (const char *url)
{
  g_autoptr (GUri) uri = g_uri_parse (url, G_URI_FLAGS_NONE, NULL);
  const char *text = uri ? g_uri_get_host (uri) : "";
  struct host_name host;
  if (address_parse (text, &host.address)) /* IPv6 is without its brackets here */
    return !address_obstacle (&host.address, NULL);
  return host_name_parse (text, strlen (text), &host) && !url_host_is_local (host.text);
}

/* What an index that was read over https names is asked over https as well; only one of the user's own may
 * say http. */
static gboolean
providers_index_is_fit (const struct finding *finding, const struct provider *provider)
{
  return provider &&
         (g_str_has_prefix (provider->url, "https:") || !g_str_has_prefix (finding->index_url, "https:")) &&
         (is_of_index (finding->index_url, provider->url) || may_be_public (provider->url));
}

static void
take_provider (gpointer data, const char *id, const json_t *attributes)
{
  struct finding *finding = data;
  GPtrArray *all = finding->asked;
  g_autoptr (GError) unfit = NULL;
  struct provider *checked = provider_new (id, NULL, providers_index_url_of (attributes), "index", &unfit);
  if (providers_index_is_fit (finding, checked) && all->len < PROVIDERS_MAX) {
    struct asked *asked = g_new0 (struct asked, 1);
    asked->name = g_strdup (id);
    asked->url = g_strconcat (checked->url, "/v1/links?page_limit=100", NULL);
    g_ptr_array_add (all, asked);
  }
  provider_free (checked);
}

static void
take_database (gpointer data, const char *id, const json_t *attributes)
{
  struct finding *finding = data;
  g_autofree char *lower = g_ascii_strdown (id, -1);
  g_autofree char *name = strcmp (lower, finding->provider) == 0
                              ? g_strdup (lower)
                              : g_strdup_printf ("%s.%s", finding->provider, lower);
  g_autoptr (GError) unfit = NULL;
  struct provider *checked = provider_new (name, NULL, providers_index_url_of (attributes), "index", &unfit);
  if (providers_index_is_fit (finding, checked))
    json_array_append_new (finding->databases, json_pack ("{s:s, s:s, s:s, s:s}", "name", name, "title",
                                                          providers_index_text_of (attributes, "name"), "url",
                                                          checked->url, "provider", finding->provider));
  provider_free (checked);
}

static gboolean
arrived (const struct http_response *response)
{
  return response->end == HTTP_ARRIVED && response->status == 200;
}

static void
providers_index_complain (GPtrArray *warnings, const char *what, const struct http_response *response)
{
  g_autofree char *why = arrived (response)              ? g_strdup ("it is no list of links")
                         : response->end == HTTP_ARRIVED ? g_strdup_printf ("HTTP %ld", response->status)
                         : response->end == HTTP_REFUSED ? g_strdup_printf (GET_REFUSAL, response->reason)
                         : response->end == HTTP_NONE    ? g_strdup ("it took too long, or was cancelled")
                                                         : g_strdup (response->reason);
  g_ptr_array_add (warnings, g_strdup_printf ("%s cannot be read: %s", what, why));
}

struct fetching {
  const char *index_url;
  struct http_client *client;
  gint64 until_us;
  int cancel_fd;
};

static void
providers_index_start (const struct fetching *fetching, struct get *get, const char *url)
{
  *get = (struct get){.url = url,
                      .only_public = !is_of_index (fetching->index_url, url),
                      .deadline_us = fetching->until_us,
                      .answer_bytes = ANSWER_BYTES};
  get_start (fetching->client, get);
}

/* Waits for all of COUNT gets; those that take too long are given up. */
static void
wait_for_all (const struct fetching *fetching, guint count)
{
  while (count > 0 && http_client_wait (fetching->client, fetching->until_us, fetching->cancel_fd))
    count--;
}

/* Those of the provider that were known before: its list cannot be had now. */
static void
take_earlier (struct finding *finding, const json_t *earlier)
{
  gsize index;
  json_t *item;
  json_array_foreach ((json_t *)(guintptr)earlier, index, item)
  {
    if (strcmp (providers_index_text_of (item, "provider"), finding->provider) == 0)
      json_array_append (finding->databases, item);
  }
}

static gboolean
fetch_providers (const struct fetching *fetching, struct finding *finding, GPtrArray *warnings)
{
  struct get get;
  providers_index_start (fetching, &get, fetching->index_url);
  wait_for_all (fetching, 1);
  http_client_stop (fetching->client, &get.response);
  gboolean ok = arrived (&get.response) && each_link (get.response.body, "external", take_provider, finding);
  if (!ok)
    providers_index_complain (warnings, "the index of providers", &get.response);
  get_clear (&get);
  return ok;
}

static void
fetch_databases (const struct fetching *fetching, struct finding *finding, const json_t *earlier,
                 GPtrArray *warnings)
{
  for (guint i = 0; i < finding->asked->len; i++) {
    struct asked *asked = finding->asked->pdata[i];
    providers_index_start (fetching, &asked->get, asked->url);
  }
  wait_for_all (fetching, finding->asked->len);
  for (guint i = 0; i < finding->asked->len; i++) {
    struct asked *asked = finding->asked->pdata[i];
    http_client_stop (fetching->client, &asked->get.response);
    finding->provider = asked->name;
    if (arrived (&asked->get.response) &&
        each_link (asked->get.response.body, "child", take_database, finding))
      continue;
    g_autofree char *what = g_strdup_printf ("the databases of %s", asked->name);
    providers_index_complain (warnings, what, &asked->get.response);
    take_earlier (finding, earlier);
  }
}

static gboolean
providers_index_is_cancelled (int fd)
{
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  return poll (&ready, 1, 0) > 0;
}

/* The databases of the index; NULL: it cannot be read, or nobody waits for it any more. EARLIER: what it had.
 */
static json_t *
providers_index_fetch (const char *index_url, const json_t *earlier, int cancel_fd, GPtrArray *warnings)
{
  g_autoptr (GError) problem = NULL;
  struct http_client *client = http_client_new (&problem);
  if (!client) {
    g_ptr_array_add (warnings, g_strdup (problem->message));
    return NULL;
  }
  const struct fetching fetching = {index_url, client, g_get_monotonic_time () + WAIT_US, cancel_fd};
  struct finding finding = {.index_url = index_url,
                            .asked = g_ptr_array_new_with_free_func (providers_index_asked_free),
                            .databases = json_array ()};
  gboolean ok = fetch_providers (&fetching, &finding, warnings);
  if (ok)
    fetch_databases (&fetching, &finding, earlier, warnings);
  if (!ok || providers_index_is_cancelled (cancel_fd))
    g_clear_pointer (&finding.databases, json_decref);
  g_ptr_array_unref (finding.asked);
  http_client_free (client);
  return finding.databases;
}

/* ---- the cache ---- */

static char *
cache_path (void)
{
  g_autofree char *folder = paths_cache_dir (NULL);
  return folder ? g_build_filename (folder, CACHE_FILE, NULL) : NULL;
}

static json_t *
read_cache (const char *path)
{
  if (!path)
    return NULL;
  g_autofree char *text = NULL;
  gsize length;
  if (!g_file_get_contents (path, &text, &length, NULL) || length > CACHE_BYTES)
    return NULL;
  return json_parse_object (text, length, path, NULL);
}

/* What cannot be kept is asked for again. */
static json_t *
providers_index_keep (const char *path, const char *index_url, json_t *taken)
{
  json_t *all = json_pack ("{s:I, s:s, s:o}", "read_ms", (json_int_t)(g_get_real_time () / 1000), "index",
                           index_url, "providers", taken);
  g_autofree char *text = json_to_text (all);
  if (path)
    (void)replace_file (path, path, text, NULL);
  return all;
}

static gboolean
is_fresh (const struct config *config, const json_t *cache)
{
  gint64 age_ms = g_get_real_time () / 1000 - json_integer_value (json_object_get (cache, "read_ms"));
  return strcmp (providers_index_text_of (cache, "index"), config->materials_index) == 0 && age_ms >= 0 &&
         (guint64)age_ms < config->materials_index_age_ms;
}

GPtrArray *
providers_of_index (const struct config *config, gboolean refresh, int cancel_fd, GPtrArray *warnings)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify)provider_free);
  if (strcmp (config->materials_index, "none") == 0)
    return all;
  g_autofree char *path = cache_path ();
  g_autoptr (json_t) cache = read_cache (path);
  json_t *found = !refresh && cache && is_fresh (config, cache)
                      ? NULL
                      : providers_index_fetch (config->materials_index, json_object_get (cache, "providers"),
                                               cancel_fd, warnings);
  if (found) {
    json_decref (cache);
    cache = providers_index_keep (path, config->materials_index, found);
  }
  gsize index;
  json_t *item;
  json_array_foreach (json_object_get (cache, "providers"), index, item)
  {
    struct provider *provider =
        provider_new (providers_index_text_of (item, "name"), providers_index_text_of (item, "title"),
                      providers_index_text_of (item, "url"), "index", NULL);
    if (!provider)
      continue;
    provider->only_public = !is_of_index (config->materials_index, provider->url);
    g_ptr_array_add (all, provider);
  }
  return all;
}
