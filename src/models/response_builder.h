/* SPDX-License-Identifier: Apache-2.0 */
/* An answer while it is being put together out of what an API sends: parts at places, which come and grow in
 * any order. A dialect fills it (dialect.h); response_builder_message makes of it a message (message.h). */
#pragma once

#include "models/question.h"
#include "models/settings.h"

enum response_part_kind { RESPONSE_TEXT, RESPONSE_CALL, RESPONSE_OPAQUE };

struct response_part {
  enum response_part_kind kind;
  gint64 place;       /* among the parts; several may share one, in order of arrival */
  GString *text;      /* what is said; arguments of a call; the growing member of what is opaque */
  char *id, *name;    /* of a call, or NULL */
  json_t *data;       /* arguments that came as an object; what is opaque; or NULL */
  const char *member; /* where text goes in what is opaque */
  GString *signature; /* of what is opaque, and goes into its member "signature"; or NULL */
};

struct response_builder {
  enum dialect dialect;
  guint questions; /* messages of the conversation so far, for ids that its server did not give */
  void (*saw) (gpointer data, const char *text, gsize length); /* or NULL */
  gpointer saw_data;
  GPtrArray *parts;   /* of struct response_part, by place */
  GHashTable *places; /* the dialect's: name to part */
  gboolean has_stop;  /* the API said why it ended: */
  enum model_stop stop;
  gboolean is_over;    /* the API said that the answer ended */
  gboolean is_done;    /* and that nothing more is sent */
  gboolean is_crowded; /* there were more parts than an answer has */
  struct model_usage usage;
};

void response_builder_init (struct response_builder *builder, enum dialect dialect);
void response_builder_clear (struct response_builder *builder);

/* A new part at PLACE. The builder's; NULL when there are too many. */
struct response_part *response_builder_add (struct response_builder *builder, enum response_part_kind kind,
                                            gint64 place);
/* The last part of KIND at PLACE, or NULL. */
struct response_part *response_builder_find (const struct response_builder *builder,
                                             enum response_part_kind kind, gint64 place);
/* The one, or else the other. */
struct response_part *response_builder_get (struct response_builder *builder, enum response_part_kind kind,
                                            gint64 place);

/* PART, which may be NULL, goes on with the string TEXT, if that is one. What is said is told to who wants to
 * see it. */
void response_builder_append (struct response_builder *builder, struct response_part *part,
                              const json_t *text);
/* Id and name of the call PART, as far as it has none. */
void response_part_set_name (struct response_part *part, const json_t *id, const json_t *name);
/* All arguments of the call PART: an object, or the text of one. Anything else changes nothing. */
void response_part_set_arguments (struct response_part *part, const json_t *arguments);

void response_builder_stop (struct response_builder *builder, enum model_stop stop);

gboolean response_builder_has_calls (const struct response_builder *builder);
/* The answer as an assistant's message. The caller's. */
json_t *response_builder_message (const struct response_builder *builder);
