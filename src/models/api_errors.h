/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong between here and a server, as one sentence that says what to do: never a key, nothing that
 * drives a terminal, nothing long. */
#pragma once

#include "models/model.h"
#include "models/reading.h"
#include "models/settings.h"
#include "models/transport.h"

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

/* There was no answer to be read: END is not TRANSPORT_ARRIVED, or the status of REPLY is not 2xx. */
guint api_error_of_transport (const struct api_server *server, enum transport_end end,
                              const struct transport_reply *reply, GError **error);
/* It was read to END, with what READING has to say of it (reading_error). */
guint api_error_of_reading (const struct api_server *server, enum reading_end end, const json_t *reading,
                            GError **error);

/* What the body of a refusal says, in small letters, for those who look for words in it. The caller's. */
char *api_error_words (const char *body, gsize length);
