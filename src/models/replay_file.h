/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a replay: JSON lines, each an exchange of question and answer. docs/models.md has the format.
 */
#pragma once

#include "models/question.h"

#define REPLAY_FILE_BYTES (64 * 1024 * 1024)
#define REPLAY_LINES_MAX  10000
#define REPLAY_WAIT_MAX   (10 * 60 * 1000)

struct replay_exchange {
  guint line;  /* of the file, from 1 */
  json_t *ask; /* what must be asked: replay_match.h; NULL: anything */
  gint64 wait_ms;
  /* One of the two: */
  json_t *message; /* an assistant's, whole */
  char *failure;   /* or the message of an error, of the kind: */
  enum model_error failure_code;
  enum model_stop stop;
  struct model_usage usage;
};

struct replay_file {
  char *path;
  gboolean sees;         /* whether the model of the first line was one that can see */
  gint64 context_tokens; /* and what it could read; -1: not said */
  GPtrArray *exchanges;
};

/* Reads PATH whole. MODEL_ERROR_INVALID names the line and what is wrong with it. */
struct replay_file *replay_file_read (const char *path, GError **error);
/* NULL is allowed. */
void replay_file_free (struct replay_file *file);
typedef struct replay_file replay_file_auto; /* for g_autoptr */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (replay_file_auto, replay_file_free)

/* Lines for such a file, without the line's end; the caller's. What was asked is in the form that
 * replay_match.h compares. */
json_t *replay_line_head (const struct model_facts *facts);
json_t *replay_line_answer (const struct model_question *question, const struct model_answer *answer);
json_t *replay_line_failure (const struct model_question *question, const GError *failure);
