/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page. */
#pragma once

#include <glib.h>

#include "interfaces/http/web_assets.h"

/* Whether this build has the web interface. The first call loads it. From any thread. */
gboolean web_page_exists (void);

/* The file at PATH ("/index.html"); NULL: there is none. */
const struct web_asset *web_page_find (const char *path);
