/* SPDX-License-Identifier: Apache-2.0 */
/* The bot: fetches what is sent to it, hands each chat its own, and answers nobody who is not on the list. */
#pragma once

#include <glib.h>

#include "common/config.h"

struct telegram_settings {
  const struct config *config;
  const char *token;
  int cancel_fd; /* it ends when this can be read */
};

/* Serves until it is told to end (TRUE), or cannot go on: ERROR. */
gboolean telegram_serve (const struct telegram_settings *settings, GError **error);

/* Numbers between blanks or commas, "123 -100456"; ADDER_ERROR_INVALID names KEY. *RET_NUMBERS: an array of
 * gint64, the caller's. TEXT NULL: none. */
gboolean telegram_read_numbers (const char *text, const char *key, GArray **ret_numbers, GError **error);
