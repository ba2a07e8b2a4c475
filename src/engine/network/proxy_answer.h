/* SPDX-License-Identifier: Apache-2.0 */
/* Where the answer to a plain request ends. A host may keep its connection open behind it, whatever it was
 * asked; nothing else of an answer matters to the proxy, and nothing of it is changed. */
#pragma once

#include "engine/network/proxy_request.h"

struct proxy_answer {
  gboolean bodyless; /* to a HEAD */
  gboolean endless;  /* it ends with its connection, or how it ends is not understood */
  GString *head;     /* what came of it; NULL: it is whole */
  struct proxy_body body;
};

void proxy_answer_init (struct proxy_answer *answer, const struct proxy_request *request);
void proxy_answer_clear (struct proxy_answer *answer);

/* Whether the answer is whole with the LENGTH bytes of TEXT that came now. */
gboolean proxy_answer_take (struct proxy_answer *answer, const char *text, gsize length);
