/* SPDX-License-Identifier: Apache-2.0 */
/* The three APIs of models, as pure functions: a question becomes the body of a request, what comes back
 * goes into a builder (response_builder.h). No I/O. */
#pragma once

#include "models/question.h"
#include "models/response_builder.h"
#include "models/settings.h"

/* What servers that speak a dialect turn out not to take. Each is learnt from an answer (api_quirks.c). */
enum dialect_quirk {
  QUIRK_MAX_COMPLETION = 1 << 0, /* chat: the limit of tokens is called max_completion_tokens */
  QUIRK_NO_USAGE = 1 << 1,       /* chat: stream_options is refused */
  QUIRK_NO_STRICT = 1 << 2,      /* strict is refused */
  QUIRK_NO_ENCRYPTED = 1 << 3,   /* responses: the model has no encrypted reasoning */
  QUIRK_TEXT_RESULTS = 1 << 4,   /* responses: pictures of results are refused */
  QUIRK_NO_CACHE = 1 << 5,       /* messages: cache_control is refused */
  QUIRK_NO_PARALLEL = 1 << 6,    /* chat: parallel_tool_calls is refused */
};

struct dialect_question {
  const struct model_question *question;
  const char *model;
  guint64 output_tokens; /* 0: as the server likes, where its API lets that be */
  gboolean sees, stream;
  guint quirks; /* of enum dialect_quirk */
};

struct dialect_class {
  const char *title;          /* "OpenAI Chat Completions" */
  gboolean always_v1;         /* "/v1" follows base_url, unless it ends so; else only where it has no path */
  const char *path;           /* what follows that */
  const char *key_header;     /* what comes before the key */
  const char *const *headers; /* those that it needs beyond JSON's; ends with NULL */

  /* The body. MODEL_ERROR_INVALID: the question is none. The caller's. */
  json_t *(*ask) (const struct dialect_question *question, GError **error);
  /* An event of a stream: its name ("" without one) and its data. */
  void (*event) (struct response_builder *builder, const char *name, const json_t *data);
  /* A whole answer; FALSE: it is none. */
  gboolean (*body) (struct response_builder *builder, const json_t *body);
};
extern const struct dialect_class dialect_chat, dialect_responses, dialect_messages;
const struct dialect_class *dialect_of (enum dialect dialect);

/* What DATA says went wrong, in the shapes that servers have for it: an object, or a string; NULL: nothing.
 * DATA's. */
const json_t *dialect_error (const json_t *data);

/* ---- what the dialects share ---- */

/* What is done with the events of one type. */
struct dialect_reader {
  const char *type;
  void (*read) (struct response_builder *builder, const json_t *data);
};
/* Has the reader among COUNT that is for the event DATA, of the type that it says or else NAME, read it;
 * others are passed over. */
void dialect_read_event (const struct dialect_reader *readers, gsize count, struct response_builder *builder,
                         const char *name, const json_t *data);

const char *dialect_type (const json_t *part); /* "" where it has none */

/* The question's messages in order, MESSAGE and its PARTs: refused where they are none. */
gboolean dialect_check (const struct dialect_question *question, GError **error);

/* The id of a call, and its name, as every API takes them, whichever gave them. The caller's. */
char *dialect_id (const json_t *part);
char *dialect_name (const json_t *part);
/* The arguments of a call part: an object, also where the model wrote none. The caller's. */
json_t *dialect_arguments (const json_t *call);

/* The text of the parts in CONTENT, with a line for each picture where IMAGES says so. The caller's. */
char *dialect_text (const json_t *content, gboolean pictures);
/* "data:image/png;base64,..." The caller's. */
json_t *dialect_data_url (const json_t *image);
gboolean dialect_has_image (const json_t *content);

/* What is opaque and of this dialect: its data, or NULL. PART's. */
const json_t *dialect_opaque (const json_t *part, enum dialect dialect);

/* Whether SCHEMA is in the subset that servers can hold a model to: objects name and require all their
 * members. */
gboolean dialect_is_strict (const json_t *schema);

/* The member NAME of OBJECT as a number of tokens into *COUNT, where it is one. */
void dialect_count (const json_t *object, const char *name, gint64 *count);
