/* SPDX-License-Identifier: Apache-2.0 */
#include "models/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "models/replay_file.h"

struct record {
  struct provider provider;
  struct provider *inner;
  char *path;
  int fd;
};

/* Takes LINE. */
static gboolean
record_append (const struct record *record, json_t *line, GError **error)
{
  g_autofree char *text = json_to_text (line);
  g_autofree char *whole = g_strconcat (text, "\n", NULL);
  json_decref (line);
  int r = fd_write_all (record->fd, whole, strlen (whole));
  return r == 0 || error_from_errno (error, r, "cannot write the recording %s", record->path);
}

/* What a person cut off is no answer of the model. */
static gboolean
record_failure (const struct record *record, const struct model_question *question, GError *problem,
                GError **error)
{
  if (problem->domain == MODEL_ERROR && problem->code != MODEL_ERROR_CANCELLED)
    (void)record_append (record, replay_line_failure (question, problem), NULL);
  g_propagate_error (error, problem);
  return FALSE;
}

static gboolean
record_ask (struct provider *provider, const struct model_question *question, struct model_answer *ret_answer,
            GError **error)
{
  struct record *record = (struct record *)(void *)provider;
  GError *problem = NULL;
  struct model_answer answer = {0};
  if (!record->inner->class->ask (record->inner, question, &answer, &problem))
    return record_failure (record, question, problem, error);
  if (!record_append (record, replay_line_answer (question, &answer), error)) {
    model_answer_clear (&answer);
    return FALSE;
  }
  *ret_answer = answer;
  return TRUE;
}

static void
record_free (struct provider *provider)
{
  struct record *record = (struct record *)(void *)provider;
  if (record->inner)
    record->inner->class->free (record->inner);
  fd_close (&record->fd);
  g_free (record->path);
  g_free (record);
}

static const struct provider_class record_class = {record_ask, record_free};

/* A file that is new begins with what is known of the model. */
static gboolean
record_write_head (struct record *record, const struct model_facts *facts, GError **error)
{
  struct stat status;
  record->fd = open (record->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
  if (record->fd < 0 || fstat (record->fd, &status) < 0)
    return error_from_errno (error, errno, "cannot write the recording %s", record->path);
  if (!S_ISREG (status.st_mode)) {
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID,
                 "cannot write the recording %s: it is no regular file", record->path);
    return FALSE;
  }
  return status.st_size > 0 || record_append (record, replay_line_head (facts), error);
}

struct provider *
record_new (struct provider *inner, const char *file, GError **error)
{
  struct record *record = g_new0 (struct record, 1);
  record->provider = (struct provider){&record_class, inner->facts};
  record->path = g_strdup (file);
  if (!record_write_head (record, &inner->facts, error)) {
    record_free (&record->provider);
    return NULL;
  }
  record->inner = inner;
  return &record->provider;
}
