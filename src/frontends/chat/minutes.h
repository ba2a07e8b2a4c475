/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation as Markdown, kept while it goes on. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define MINUTES_BYTES (64 << 20) /* more is not kept, and the file says so */

struct minutes {
  GString *text;
  gboolean cut;
};
void minutes_init (struct minutes *minutes);
void minutes_clear (struct minutes *minutes);

/* WHO said TEXT. */
void minutes_say (struct minutes *minutes, const char *who, const char *text);

/* STEP, of agent.h, that is over. */
void minutes_step (struct minutes *minutes, const json_t *step);

/* Writes them to FILE, which must not be there, with mode 0600. */
gboolean minutes_save (const struct minutes *minutes, const char *file, GError **error);
