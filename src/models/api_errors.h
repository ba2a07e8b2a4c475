/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong between here and a server, as one sentence that says what to do: never a key, nothing that
 * drives a terminal, nothing long. */
#pragma once

#include "common/http_client.h"
#include "models/model.h"
#include "models/question.h"
#include "models/response_parser.h"
#include "models/settings.h"

/* Who was asked. */
struct api_server {
  const struct model_settings *settings;
  const char *host; /* as people are shown it */
};

/* How many further attempts may help. */
#define API_NEVER  0
#define API_SELDOM 2
#define API_ALWAYS G_MAXUINT

/* Each sets ERROR, and says how many further attempts may help. */

/* There was no answer to be read: RESPONSE has not arrived, or its status is not 2xx. */
guint api_error_of_response (const struct api_server *server, const struct http_response *response,
                             GError **error);
/* It was read to END, with the DETAIL that the parser has of it (response_parser_error). */
guint api_error_of_answer (const struct api_server *server, enum response_end end, const json_t *detail,
                           GError **error);

/* What the body of a refusal says, in small letters, for those who look for words in it. The caller's. */
char *api_error_words (const char *body, gsize length);
