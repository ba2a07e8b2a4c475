/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: making, checking, freeing. */
#include "engine/request.h"

#include <string.h>

#include "adder.h"
#include "base/fd.h"
#include "common/size.h"
#include "engine/environment.h"
#include "engine/workspace.h"

const char *const request_tables_names[] = {"none", "csv", "parquet", "json", NULL};
const char *const request_backend_names[] = {"native", "container", "auto", NULL};

static void
clear_input (gpointer data)
{
  input_clear (data);
}

/* One argument of a program at most (MAX_ARG_STRLEN of the kernel), with the zero byte at its end. */
#define SHELL_CODE_BYTES (128u << 10)

struct run_request *
request_new (void)
{
  struct run_request *request = g_new0 (struct run_request, 1);
  request->variables = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  request->files = g_array_new (FALSE, FALSE, sizeof (struct input));
  g_array_set_clear_func (request->files, clear_input);
  for (gsize i = 0; i < INPUT_PLACES; i++)
    request->links.directory_fd[i] = -1;
  request->limits = limits_default ();
  request->maxima = limits_maximum ();
  request->session_allowed = TRUE;
  request->stdin_fd = request->watch_fd = request->workdir.fd = -1;
  return request;
}

void
request_free (struct run_request *request)
{
  if (!request)
    return;
  g_free (request->code);
  g_free (request->name);
  g_strfreev (request->arguments);
  g_hash_table_unref (request->variables);
  g_free (request->environment);
  g_free (request->profile);
  network_rules_unref (request->network);
  g_free (request->session);
  g_strfreev (request->blocked.calls);
  g_strfreev (request->blocked.modules);
  g_array_unref (request->files);
  for (gsize i = 0; i < INPUT_PLACES; i++)
    fd_close (&request->links.directory_fd[i]);
  if (request->links.release)
    request->links.release (request->links.data);
  fd_close (&request->stdin_fd);
  fd_close (&request->watch_fd);
  g_free (request->owner);
  g_free (request->conversation);
  fd_close (&request->workdir.fd);
  g_free (request->workdir.path);
  g_free (request->guard);
  json_decref (request->values);
  json_decref (request->analysis);
  g_free (request->approved);
  g_free (request->approval_id);
  g_free (request->description);
  if (request->review.release)
    request->review.release (request->review.data);
  if (request->keeper.release)
    request->keeper.release (request->keeper.data);
  g_free (request->origin.front_end);
  g_free (request->origin.tool);
  g_free (request->origin.role);
  json_decref (request->origin.arguments);
  json_decref (request->attempts);
  if (request->observer.free)
    request->observer.free (request->observer.data);
  g_clear_error (&request->invalid);
  g_free (request);
}

struct run_request *
request_settled (const struct run_request *request)
{
  struct run_request *settled = request_new ();
  GHashTableIter iter;
  gpointer name, value;
  g_hash_table_iter_init (&iter, request->variables);
  while (g_hash_table_iter_next (&iter, &name, &value))
    g_hash_table_insert (settled->variables, g_strdup (name), g_strdup (value));
  settled->arguments = g_strdupv (request->arguments);
  settled->environment = g_strdup (request->environment);
  settled->profile = g_strdup (request->profile);
  settled->network = network_rules_ref (request->network);
  settled->limits = request->limits;
  settled->limits_set = request->limits_set;
  settled->maxima = request->maxima;
  settled->blocked.calls = g_strdupv (request->blocked.calls);
  settled->blocked.modules = g_strdupv (request->blocked.modules);
  settled->role_needed = request->role_needed;
  settled->session_idle_ms = request->session_idle_ms;
  settled->min_isolation = request->min_isolation;
  settled->isolation = request->isolation;
  settled->mitigations = request->mitigations;
  settled->falls_back = request->falls_back;
  settled->tables = request->tables;
  settled->keeps_files = request->keeps_files;
  settled->guard = g_strdup (request->guard);
  settled->values = json_deep_copy (request->values);
  settled->approval = request->approval;
  settled->accept_all = request->accept_all;
  return settled;
}

/* ---- checking ---- */

static gboolean
invalid (GError **error, const char *what, const char *fault)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s %s", what, fault);
  return FALSE;
}

static gboolean
check_code (const struct run_request *request, GError **error)
{
  guint64 most = request->limits.value[LIMIT_CODE];
  if (request->code_length > most) {
    g_autofree char *size = quantity_format (request->code_length, UNIT_BYTES);
    g_autofree char *allowed = quantity_format (most, UNIT_BYTES);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the code has %s; at most %s may be run (code_bytes)", size, allowed);
    return FALSE;
  }
  if (memchr (request->code, 0, request->code_length))
    return invalid (error, "the code", "has a zero byte");
  const char *end;
  if (!g_utf8_validate_len (request->code, request->code_length, &end)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the code is not UTF-8: byte %" G_GSIZE_FORMAT " is wrong", (gsize)(end - request->code));
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_arguments (const struct run_request *request, GError **error)
{
  for (gsize i = 0; request->arguments && request->arguments[i]; i++)
    if (!g_utf8_validate (request->arguments[i], -1, NULL))
      return invalid (error, "an argument", "is not UTF-8");
  return TRUE;
}

static gboolean
check_variables (const struct run_request *request, GError **error)
{
  GHashTableIter iter;
  gpointer name, value;
  g_hash_table_iter_init (&iter, request->variables);
  while (g_hash_table_iter_next (&iter, &name, &value)) {
    if (((const char *)name)[0] == '\0' || strchr (name, '='))
      return invalid (error, "the name of a variable", "is empty or has an equals sign");
    if (!g_utf8_validate (name, -1, NULL) || !g_utf8_validate (value, -1, NULL))
      return invalid (error, "a variable", "is not UTF-8");
  }
  return TRUE;
}

static gboolean
check_limits (const struct run_request *request, GError **error)
{
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    guint64 value = request->limits.value[i];
    guint64 most = MIN (request->maxima.value[i], row->maximum);
    if (value >= row->minimum && value <= most)
      continue;
    g_autofree char *asked = quantity_format (value, row->unit);
    g_autofree char *bound = quantity_format (value > most ? most : row->minimum, row->unit);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s = %s is %s its %s%s, %s", row->name, asked,
                 value > most ? "over" : "under", value > most ? "maximum" : "minimum",
                 value > most && most < row->maximum ? " in the profile" : "", bound);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_workdir (const struct run_request *request, GError **error)
{
  if (request->workdir.fd >= 0 && request->session)
    return invalid (error, "a cell of a session", "cannot have a work directory");
  return TRUE;
}

gboolean
request_is_shell (const struct run_request *request)
{
  return g_strcmp0 (request->environment, ENVIRONMENT_SHELL) == 0;
}

/* What holds Python's code to rules must not be passed by with a shell. */
static gboolean
check_shell (const struct run_request *request, GError **error)
{
  if (!request_is_shell (request))
    return TRUE;
  if (request->guard || request->blocked.calls || request->blocked.modules) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_INVALID,
        "the profile %s has rules for Python's code, so the environment shell is not for it: use the profile "
        "shell",
        request->profile);
    return FALSE;
  }
  if (request->values)
    return invalid (error, "values", "are for Python: give a shell variables or arguments");
  if (request->code_length >= SHELL_CODE_BYTES)
    return invalid (error, "the command",
                    "has more than 128 KiB, the longest that the kernel hands to a shell");
  return TRUE;
}

/* A session keeps what its code left; an analysis begins anew with the tables as they are. */
static gboolean
check_analysis (const struct run_request *request, GError **error)
{
  if (request->analysis && request->session)
    return invalid (error, "an analysis", "is a run of its own: leave out the session");
  return TRUE;
}

gboolean
request_check (const struct run_request *request, GError **error)
{
  if (request->invalid) {
    g_propagate_error (error, g_error_copy (request->invalid));
    return FALSE;
  }
  return check_limits (request, error) && check_code (request, error) &&
         workspace_check_name (request->name, error) && check_arguments (request, error) &&
         check_variables (request, error) && check_workdir (request, error) &&
         inputs_check (request, error) && check_shell (request, error) && check_analysis (request, error);
}
