/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page, in a module that is loaded for the first browser. */
#include "interfaces/http/web_page.h"

#include <string.h>

#include "common/log.h"
#include "common/module.h"

static gpointer
load_page (G_GNUC_UNUSED gpointer unused)
{
  g_autoptr (GError) problem = NULL;
  const struct web_assets *page = module_load (WEB_MODULE, WEB_SYMBOL, &problem);
  if (!page)
    log_debug ("http: no web interface: %s", problem->message);
  return (gpointer)page;
}

static const struct web_assets *
loaded_page (void)
{
  static GOnce once = G_ONCE_INIT;
  return g_once (&once, load_page, NULL);
}

gboolean
web_page_exists (void)
{
  return loaded_page () != NULL;
}

const struct web_asset *
web_page_find (const char *path)
{
  const struct web_assets *page = loaded_page ();
  for (const struct web_asset *asset = page ? page->assets : NULL; asset && asset->path; asset++)
    if (strcmp (asset->path, path) == 0)
      return asset;
  return NULL;
}
