/* SPDX-License-Identifier: Apache-2.0 */
/* An answer while it is being put together out of what an API sends: parts at places, which come and grow in
 * any order. A dialect fills it (dialect.h); draft_message makes of it a message (message.h). */
#pragma once

#include "models/model.h"
#include "models/settings.h"

enum draft_kind { DRAFT_TEXT, DRAFT_CALL, DRAFT_OPAQUE };

struct draft_part {
  enum draft_kind kind;
  gint64 place;       /* among the parts; several may share one, in order of arrival */
  GString *text;      /* what is said; arguments of a call; the growing member of what is opaque */
  char *id, *name;    /* of a call, or NULL */
  json_t *data;       /* arguments that came as an object; what is opaque; or NULL */
  const char *member; /* where text goes in what is opaque */
  GString *signature; /* of what is opaque, and goes into its member "signature"; or NULL */
};

struct draft {
  enum dialect dialect;
  guint questions; /* messages of the conversation so far, for ids that its server did not give */
  void (*saw) (gpointer data, const char *text, gsize length); /* or NULL */
  gpointer saw_data;
  GPtrArray *parts;   /* of struct draft_part, by place */
  GHashTable *places; /* the dialect's: name to part */
  gboolean has_stop;  /* the API said why it ended: */
  enum model_stop stop;
  gboolean is_over;    /* the API said that the answer ended */
  gboolean is_done;    /* and that nothing more is sent */
  gboolean is_crowded; /* there were more parts than an answer has */
  struct model_usage usage;
};

void draft_init (struct draft *draft, enum dialect dialect);
void draft_clear (struct draft *draft);

/* A new part at PLACE. The draft's; NULL when there are too many. */
struct draft_part *draft_add (struct draft *draft, enum draft_kind kind, gint64 place);
/* The last part of KIND at PLACE, or NULL. */
struct draft_part *draft_find (const struct draft *draft, enum draft_kind kind, gint64 place);
/* The one, or else the other. */
struct draft_part *draft_get (struct draft *draft, enum draft_kind kind, gint64 place);

/* PART, which may be NULL, goes on with the string TEXT, if that is one. What is said is told to who wants to
 * see it. */
void draft_grow (struct draft *draft, struct draft_part *part, const json_t *text);
/* Id and name of the call PART, as far as it has none. */
void draft_name (struct draft_part *part, const json_t *id, const json_t *name);
/* All arguments of the call PART: an object, or the text of one. Anything else changes nothing. */
void draft_set_arguments (struct draft_part *part, const json_t *arguments);

void draft_stop (struct draft *draft, enum model_stop stop);

gboolean draft_has_calls (const struct draft *draft);
/* The answer as an assistant's message. The caller's. */
json_t *draft_message (const struct draft *draft);
