/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of `adder ask`, by the daemon or, with --no-daemon, by one engine for all of them. */
#include "apps/ask/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "interfaces/socket/event_source.h"

/* Each run takes descriptors over, and finds them at the beginning: they all have one position. */
static gboolean
host_add_file (struct submission *request, const char *name, int fd, GError **error)
{
  autoclose int copy = fcntl (fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || lseek (copy, 0, SEEK_SET) < 0)
    return error_from_errno (error, errno, "cannot pass the file on");
  return submission_add_file (request, name, &copy, error);
}

static gboolean
host_add_files (struct submission *request, const struct ask_host *host, const struct analysis_run *run,
                GError **error)
{
  const json_t *tables = json_object_get (run->spec, "tables");
  for (guint i = 0; i < json_array_size (tables); i++) {
    const struct ask_file *file = &g_array_index (host->files->files, struct ask_file, i);
    const char *name = json_member_text (json_array_get (tables, i), "file");
    if (!host_add_file (request, name, run->kind == ANALYSIS_KIND_SCAN ? file->head_fd : file->fd, error))
      return FALSE;
  }
  return TRUE;
}

/* The run of the code leaves its whole result in the host's folder. */
static gboolean
add_folder (struct submission *request, const struct ask_host *host, GError **error)
{
  autoclose int fd = open (host->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return error_from_errno (error, errno, "cannot open the directory %s", host->folder);
  json_t *limits = json_object_get (request->body, "limits");
  if (!limits)
    json_object_set_new (request->body, "limits", limits = json_object ());
  if (!json_object_get (limits, "files"))
    json_object_set_new (limits, "files", json_integer (ANALYSIS_FILES));
  json_object_set_new (request->body, "tables", json_string (ANALYSIS_TABLE_FORMAT));
  json_object_set_new (request->body, "save", json_true ());
  /* What an attempt before this one left there is ours. */
  json_object_set_new (request->body, "force", json_true ());
  return submission_take_fd (request, &fd, error);
}

/* A large table takes longer, unless it is said how long it may. */
static void
host_add_time (struct submission *request, const struct ask_host *host)
{
  guint64 bytes = 0, cpu_ms, wall_ms;
  json_t *limits = json_object_get (request->body, "limits");
  for (guint i = 0; i < host->files->files->len; i++) {
    struct stat st;
    if (fstat (g_array_index (host->files->files, struct ask_file, i).fd, &st) == 0)
      bytes += (guint64)st.st_size;
  }
  if (json_object_get (limits, "cpu_ms") || !analysis_time (bytes, &cpu_ms, &wall_ms))
    return;
  json_object_set_new (limits, "cpu_ms", json_integer ((json_int_t)cpu_ms));
  if (!json_object_get (limits, "wall_ms"))
    json_object_set_new (limits, "wall_ms", json_integer ((json_int_t)wall_ms));
}

static gboolean
host_fill (struct submission *request, const struct ask_host *host, const struct analysis_run *run,
           GError **error)
{
  if (!run_options_fill (request, host->options, error))
    return FALSE;
  request->code = g_strdup (run->code);
  request->code_length = strlen (run->code);
  json_object_set_new (request->body, "name", json_string ("code.py"));
  if (run->kind == ANALYSIS_KIND_CHECK)
    json_object_set_new (request->body, "check", json_true ());
  else
    json_object_set (request->body, "analysis", (json_t *)(guintptr)run->spec);
  if (run->kind == ANALYSIS_KIND_RUN)
    host_add_time (request, host);
  return host_add_files (request, host, run, error) &&
         (!host->folder || run->kind != ANALYSIS_KIND_RUN || add_folder (request, host, error));
}

static struct event_source *
host_open_source (struct ask_host *host, const struct submission *request, GError **error)
{
  if (!host->options->no_daemon)
    return event_source_open (TRUE, request, error);
  if (!host->engine)
    host->engine = adder_engine_new (NULL, error);
  return host->engine ? event_source_engine (host->engine, request, error) : NULL;
}

static void
say_note (struct ask_host *host, const struct event_source *source)
{
  if (source->note && !host->said && !host->options->json)
    fprintf (stderr, "adder: %s\n", source->note);
  host->said = TRUE;
}

static json_t *
host_follow (const struct ask_host *host, struct event_source *source, GError **error)
{
  struct run_event event = {.kind = ADDER_EVENT_STARTED};
  while (event.kind != ADDER_EVENT_RESULT) {
    if (!source->next (source, &event, error))
      return NULL;
    if (event.kind == ADDER_EVENT_PROGRESS)
      ask_view_read (host->view, event.done, event.of);
  }
  return json_deep_copy (event.result);
}

/* RESULT is the answer; that files of it are lost is something to be told with it. */
static void
host_save (const struct submission *request, struct event_source *source, json_t *result)
{
  g_autoptr (GError) problem = NULL;
  if (submission_directory (request) < 0)
    return;
  json_decref (source->save (source, &problem));
  if (!problem)
    return;
  json_object_set_new (result, "files", json_array ());
  json_array_append_new (json_object_get (result, "warnings"), json_text_or_null (problem->message));
}

json_t *
ask_host_run (gpointer data, const struct analysis_run *run, GError **error)
{
  struct ask_host *host = data;
  struct submission request;
  struct event_source *source = NULL;
  json_t *result = NULL;
  submission_init (&request);
  if (host_fill (&request, host, run, error) && (source = host_open_source (host, &request, error))) {
    say_note (host, source);
    signal_handler_set_source (host->signals, source);
    result = host_follow (host, source, error);
    if (result)
      host_save (&request, source, result);
    signal_handler_set_source (host->signals, NULL);
    source->free (source);
  }
  submission_clear (&request);
  return result;
}

void
ask_host_clear (struct ask_host *host)
{
  g_clear_pointer (&host->engine, adder_engine_free);
}
