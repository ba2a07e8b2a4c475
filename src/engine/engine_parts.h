/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine consists of, for its own files: engine.h, what is done with the whole, includes all of them.
 */
#pragma once

#include <glib.h>

#include "engine/totals.h"

struct engine {
  gatomicrefcount references;
  struct host *host;
  struct pools *pools;
  struct sessions *sessions;
  struct proxy *proxy;
  struct notifications *notifications; /* of sessions and files */
  gint64 started_us;
  struct totals totals;
};

/* The last reference takes all of this with it. engine_unref allows NULL. */
struct engine *engine_ref (struct engine *engine);
void engine_unref (struct engine *engine);
