/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the analyst's tools in the engine of this process. */
#include "tools/analyst.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "library/library.h"

/* A large stored file is bind-mounted into the run; the head of one, and text in the call, are copied. */
static gboolean
analyst_host_add_file (AdderRequest *request, const struct analyst_table *table, const char *name,
                       gboolean whole, GError **error)
{
  int fd = whole ? table->fd : table->head.fd;
  if (table->file_id && (whole || !table->head.is_cut))
    return adder_request_add_stored_file (request, table->file_id, name, "work", error);
  if (lseek (fd, 0, SEEK_SET) < 0)
    return error_from_errno (error, errno, "cannot pass the table on");
  return adder_request_add_file (request, name, fd, error);
}

/* The profile returns no files. */
static gboolean
ask_for_table (AdderRequest *request, GError **error)
{
  adder_request_set_tables (request, ANALYSIS_TABLE_FORMAT);
  return adder_request_set_limit (request, "files", ANALYSIS_FILES, error);
}

/* Large tables take longer. */
static gboolean
analyst_host_add_time (AdderRequest *request, const struct analyst_host *host, GError **error)
{
  guint64 bytes = 0, cpu_ms, wall_ms;
  for (guint i = 0; i < host->tables->len; i++) {
    struct stat st;
    if (fstat (g_array_index (host->tables, struct analyst_table, i).fd, &st) == 0)
      bytes += (guint64)st.st_size;
  }
  return !analysis_time (bytes, &cpu_ms, &wall_ms) ||
         (adder_request_set_limit (request, "cpu_ms", cpu_ms, error) &&
          adder_request_set_limit (request, "wall_ms", wall_ms, error));
}

static gboolean
analyst_host_fill (AdderRequest *request, const struct analyst_host *host, const struct analysis_run *run,
                   GError **error)
{
  gsize index;
  json_t *table;
  adder_request_set_name (request, "code.py");
  adder_request_set_check (request, run->kind == ANALYSIS_KIND_CHECK);
  if (run->kind == ANALYSIS_KIND_CHECK)
    return TRUE;
  json_array_foreach (json_object_get (run->spec, "tables"), index, table)
  {
    if (!analyst_host_add_file (request, &g_array_index (host->tables, struct analyst_table, index),
                                json_member_text (table, "file"), run->kind == ANALYSIS_KIND_RUN, error))
      return FALSE;
  }
  return library_set_analysis (request, (json_t *)(guintptr)run->spec, error) &&
         (run->kind != ANALYSIS_KIND_RUN ||
          (ask_for_table (request, error) && analyst_host_add_time (request, host, error)));
}

static json_t *
run_to_end (struct call *call, const AdderRequest *request)
{
  g_autoptr (AdderRun) run = adder_run_start (call->tools->engine, request);
  AdderEvent event;
  while (call_next (call, run, &event))
    if (event.kind == ADDER_EVENT_PROGRESS)
      call_progress (call, "reading the table", (gint64)event.done, (gint64)event.of);
  json_t *result = library_result (event.result);
  adder_result_free (event.result);
  return result;
}

json_t *
analyst_host_run (gpointer data, const struct analysis_run *run, GError **error)
{
  struct analyst_host *host = data;
  g_autoptr (AdderRequest) request = call_request (host->call, run->code, ANALYSIS_PROFILE);
  return analyst_host_fill (request, host, run, error) ? run_to_end (host->call, request) : NULL;
}
