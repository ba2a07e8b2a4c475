/* SPDX-License-Identifier: Apache-2.0 */
/* What a model gets of the reply of a tool: words, cut where they are many, and pictures, where it can see.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

#define REPLY_CHARACTERS    30000 /* of one reply, for a model; more is head and tail */
#define REPLY_PICTURES      8
#define REPLY_PICTURE_BYTES (3750 * 1000) /* what all APIs take */

/* What replies need to know of where they go. */
struct reply_place {
  gboolean sees;
  gboolean reads_on; /* it has peek_result */
  int out_fd;        /* the directory for pictures; -1: none */
  const char *out;   /* its path, for people */
};

struct reply {
  char *text;
  json_t *images;   /* image parts (models/message.h) */
  json_t *pictures; /* paths of those that were saved */
  guint unsaved;    /* pictures that were not saved, since nobody said where */
};
void reply_clear (struct reply *reply);

/* VALUE is a tool's reply, out of which pictures are taken. *RET_WARNING, the caller's: what could not be
 * saved, or NULL. */
void reply_make (json_t *value, const struct reply_place *place, struct reply *ret_reply, char **ret_warning);

/* [text part, image parts ...]: the caller's. */
json_t *reply_parts (const struct reply *reply);
