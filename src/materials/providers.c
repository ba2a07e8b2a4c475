/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/providers.h"

#include <string.h>

#include "adder.h"
#include "common/error.h"
#include "common/text.h"

#define PAGE_LIMIT 100
#define WAIT_MS    30000
#define SHOWN      60

void
provider_free (struct provider *provider)
{
  if (!provider)
    return;
  if (provider->key)
    explicit_bzero (provider->key, strlen (provider->key));
  g_free (provider->name);
  g_free (provider->title);
  g_free (provider->url);
  g_free (provider->key);
  g_free (provider->unfit);
  g_free (provider);
}

static gboolean
providers_is_name (const char *name)
{
  gsize length = strlen (name);
  return length > 0 && length <= PROVIDER_NAME_MAX && g_ascii_isalnum (name[0]) &&
         strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == length;
}

static gboolean
is_url (const char *url)
{
  g_autoptr (GUri) uri = g_uri_parse (url, G_URI_FLAGS_NONE, NULL);
  const char *scheme = uri ? g_uri_get_scheme (uri) : "";
  return (strcmp (scheme, "https") == 0 || strcmp (scheme, "http") == 0) && g_uri_get_host (uri) &&
         g_uri_get_host (uri)[0] && !g_uri_get_userinfo (uri) && !g_uri_get_query (uri) &&
         !g_uri_get_fragment (uri);
}

struct provider *
provider_new (const char *name, const char *title, const char *url, const char *source, GError **error)
{
  g_autofree char *shown = text_one_line (name, SHOWN);
  if (!providers_is_name (name)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "\"%s\" is no name of a provider: a-z, 0-9, \"_\", \"-\" and \".\", at most %d", shown,
                 PROVIDER_NAME_MAX);
    return NULL;
  }
  if (!url || !is_url (url)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the provider %s needs a url, http or https, without user, query and fragment", shown);
    return NULL;
  }
  struct provider *provider = g_new0 (struct provider, 1);
  *provider = (struct provider){
      .name = g_strdup (name),
      .title = title && title[0] ? text_one_line (title, 200) : g_strdup (name),
      .url = g_strdup (url),
      .source = source,
      .page_limit = PAGE_LIMIT,
      .wait_ms = WAIT_MS,
  };
  for (gsize length = strlen (provider->url); length > 0 && provider->url[length - 1] == '/'; length--)
    provider->url[length - 1] = '\0';
  return provider;
}

/* ---- those that Adder comes with ---- */

static const struct {
  const char *name, *title, *url;
  gboolean is_default;
} ours[] = {
    {"mp", "Materials Project", "https://optimade.materialsproject.org", TRUE},
    {"oqmd", "Open Quantum Materials Database", "https://oqmd.org/optimade", TRUE},
    {"alexandria", "Alexandria (PBE)", "https://alexandria.icams.rub.de/pbe", TRUE},
    {"cod", "Crystallography Open Database", "https://www.crystallography.net/cod/optimade", TRUE},
    {"nmd", "NOMAD", "https://nomad-lab.eu/prod/rae/optimade", FALSE},
    {"jarvis", "JARVIS-DFT", "https://jarvis.nist.gov/optimade/jarvisdft", FALSE},
    {"odbx", "Open Database of Xtals", "https://optimade.odbx.science", FALSE},
    {"mc3d", "Materials Cloud: three-dimensional crystals", "https://aiida.materialscloud.org/mc3d/optimade",
     FALSE},
    {"mc2d", "Materials Cloud: two-dimensional crystals", "https://aiida.materialscloud.org/mc2d/optimade",
     FALSE},
    {"tcod", "Theoretical Crystallography Open Database", "https://www.crystallography.net/tcod/optimade",
     FALSE},
};

GPtrArray *
providers_of_ours (void)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify)provider_free);
  for (gsize i = 0; i < G_N_ELEMENTS (ours); i++) {
    struct provider *provider = provider_new (ours[i].name, ours[i].title, ours[i].url, "built-in", NULL);
    if (!provider) /* none is: their names and addresses are as they must be */
      continue;
    provider->is_default = ours[i].is_default;
    g_ptr_array_add (all, provider);
  }
  return all;
}

/* ---- all together ---- */

static gboolean
providers_has (const GPtrArray *all, const struct provider *provider)
{
  for (guint i = 0; i < all->len; i++) {
    const struct provider *other = all->pdata[i];
    if (strcmp (other->name, provider->name) == 0 || strcmp (other->url, provider->url) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Moves those of MORE that ALL has not, by name or URL, to its end. */
static void
add_new (GPtrArray *all, GPtrArray *more)
{
  for (guint i = 0; more && i < more->len; i++) {
    struct provider *provider = more->pdata[i];
    if (all->len >= PROVIDERS_MAX || providers_has (all, provider))
      continue;
    g_ptr_array_add (all, provider);
    more->pdata[i] = NULL;
  }
}

/* Where somebody wrote down which are asked by default, those are; the built-in ones are nobody's wish. */
static void
settle_defaults (GPtrArray *all)
{
  gboolean wished = FALSE;
  for (guint i = 0; i < all->len; i++) {
    const struct provider *provider = all->pdata[i];
    wished = wished || (provider->is_default && strcmp (provider->source, "configuration") == 0);
  }
  for (guint i = 0; i < all->len; i++) {
    struct provider *provider = all->pdata[i];
    if (wished && strcmp (provider->source, "configuration") != 0)
      provider->is_default = FALSE;
  }
}

GPtrArray *
providers_read (const struct config *config, gboolean refresh, int cancel_fd, GPtrArray *warnings,
                GError **error)
{
  GPtrArray *all = providers_of_file (error);
  if (!all)
    return NULL;
  g_autoptr (GPtrArray) own = providers_of_ours ();
  g_autoptr (GPtrArray) index = config ? providers_of_index (config, refresh, cancel_fd, warnings) : NULL;
  add_new (all, own);
  add_new (all, index);
  settle_defaults (all);
  return all;
}

const struct provider *
providers_find (const GPtrArray *providers, const char *name, GError **error)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  for (guint i = 0; i < providers->len; i++) {
    const struct provider *provider = providers->pdata[i];
    if (strcmp (provider->name, name) == 0)
      return provider;
    text_consider (&guess, name, provider->name);
  }
  g_autofree char *shown = text_one_line (name, SHOWN);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no provider %s%s%s%s", shown,
               guess.best ? "; did you mean " : "", guess.best ? guess.best : "", guess.best ? "?" : "");
  error_add_advice (error, "; adder search providers lists them");
  return NULL;
}
