/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind a model: an API (api.h) or a replay (replay.h). */
#pragma once

#include "models/question.h"

struct provider;

struct provider_class {
  /* Asks once, attempts of its own included. As model_ask. */
  gboolean (*ask) (struct provider *provider, const struct model_question *question,
                   struct model_answer *ret_answer, GError **error);
  void (*free) (struct provider *provider);
};

/* The first member of each provider. */
struct provider {
  const struct provider_class *class;
  struct model_facts facts; /* its strings are the provider's */
};
