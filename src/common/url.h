/* SPDX-License-Identifier: Apache-2.0 */
/* Confidentiality of what goes to a URL. */
#pragma once

#include <glib.h>

/* Whether HOST, without brackets, is this machine. Names below "localhost" never leave it: libcurl does not
 * look them up. */
gboolean url_host_is_local (const char *host);

/* Whether a key may go to URI: by https, where nobody on the way can read it, or to this machine. */
gboolean url_keeps_secrets (GUri *uri);
