/* SPDX-License-Identifier: Apache-2.0 */
/* run_python of the toolset `adder`: a result shortened for a model. */
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "tools/attached_files.h"
#include "tools/call.h"
#include "tools/file_tools.h"
#include "tools/toolset_adder.h"

#define SHOWN_BYTES 100

/* ---- a shortened result ---- */

/* The members that a reply takes unchanged from the result. */
static const char *const kept[] = {"outcome", "exit_code",  "stdout",  "stderr",   "truncated", "result_id",
                                   "error",   "violations", "denials", "warnings", "session"};

/* The words of a bundle that a model reads best, or NULL. */
static json_t *
adder_run_words_of (const json_t *bundle)
{
  json_t *markdown = json_object_get (bundle, "text/markdown");
  return markdown ? markdown : json_object_get (bundle, "text/plain");
}

/* For each item either the words or the picture: a model pays for both. */
static json_t *
short_display (const json_t *bundle)
{
  json_t *display = json_object ();
  json_t *picture = json_object_get (bundle, "image/png"),
         *markdown = json_object_get (bundle, "text/markdown");
  if (picture)
    json_object_set (display, "image/png", picture);
  json_object_set (display, markdown ? "text/markdown" : "text/plain", adder_run_words_of (bundle));
  return display;
}

static json_t *
short_displays (const json_t *bundles)
{
  json_t *displays = json_array ();
  gsize index;
  json_t *bundle;
  json_array_foreach (bundles, index, bundle) json_array_append_new (displays, short_display (bundle));
  return displays;
}

static const char *const of_file[] = {"name", "mime", "bytes", "file_id", "url"};

static json_t *
short_files (const json_t *files)
{
  json_t *list = json_array ();
  gsize index;
  json_t *file;
  json_array_foreach (files, index, file)
  {
    json_t *one = json_object ();
    for (gsize i = 0; i < G_N_ELEMENTS (of_file); i++)
      json_object_set (one, of_file[i], json_object_get (file, of_file[i]));
    json_array_append_new (list, one);
  }
  return list;
}

static json_t *
short_result (const struct ran *ran, gboolean charts)
{
  json_t *reply = json_object (), *value = adder_run_words_of (json_object_get (ran->result, "value"));
  for (gsize i = 0; i < G_N_ELEMENTS (kept); i++)
    json_object_set (reply, kept[i], json_object_get (ran->result, kept[i]));
  json_object_set_new (reply, "value", value ? json_incref (value) : json_null ());
  json_object_set_new (reply, "displays", short_displays (json_object_get (ran->result, "displays")));
  if (charts)
    json_object_set (reply, "charts", json_object_get (ran->result, "charts"));
  json_object_set_new (reply, "files", short_files (json_object_get (ran->result, "files")));
  json_object_set (reply, "wall_ms", json_object_get (json_object_get (ran->result, "usage"), "wall_ms"));
  return reply;
}

/* ---- the request ---- */

/* Settled when a session is made. */
static gboolean
adder_run_check_cell (const struct call *call, GError **error)
{
  static const char *const settled[] = {"environment", "packages", "profile", "memory_mb"};
  if (!call_text (call, "session"))
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (settled); i++)
    if (!json_is_null (json_object_get (call->arguments, settled[i]))) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is settled when a session is made: %s",
                   settled[i],
                   call->caller->makes_sessions ? "leave out that or session"
                                                : "give it to session_new, or leave out session");
      return FALSE;
    }
  if (json_array_size (json_object_get (call->arguments, "arguments")) == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "a cell of a session has no arguments: its code can hold them");
  return FALSE;
}

/* The list NAME; the caller's, with the strings of the arguments. */
static const char **
adder_run_texts_of (const struct call *call, const char *name)
{
  GPtrArray *texts = g_ptr_array_new ();
  gsize index;
  json_t *text;
  json_array_foreach (json_object_get (call->arguments, name), index, text)
      g_ptr_array_add (texts, (char *)(guintptr)json_string_value (text));
  g_ptr_array_add (texts, NULL);
  return (const char **)g_ptr_array_free (texts, FALSE);
}

gboolean
adder_settle (const struct call *call, AdderRequest *request, GError **error)
{
  gint64 timeout = call_integer (call, "timeout"), memory_mb = call_integer (call, "memory_mb");
  g_autofree const char **packages = adder_run_texts_of (call, "packages");
  adder_request_set_environment (request, call_text (call, "environment"));
  adder_request_set_packages (request, packages);
  if (memory_mb > 0 && !adder_request_set_limit (request, "memory_bytes", (guint64)memory_mb << 20, error))
    return FALSE;
  return timeout == 0 || call_set_timeout (call, request, call_text (call, "profile"), timeout, error);
}

/* The file that the caller opened as PATH, or NULL. */
static const struct tool_file *
adder_run_opened (const struct call *call, const char *path)
{
  for (gsize i = 0; i < call->caller->file_count; i++)
    if (strcmp (call->caller->files[i].path, path) == 0)
      return &call->caller->files[i];
  return NULL;
}

static gboolean
adder_run_put_file (const struct call *call, AdderRequest *request, const char *file, GError **error)
{
  const struct tool_file *opened = adder_run_opened (call, file);
  if (opened)
    return adder_request_add_file (request, opened->name, opened->fd, error);
  if (file_tools_is_id (file))
    return adder_request_add_stored_file (request, file, NULL, "work", error);
  g_autofree char *shown = text_one_line (file, SHOWN_BYTES);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "%s is no id of a stored file, and local files cannot be named here: give a file_id that "
               "list_files has, or ask the user to store the file",
               shown);
  return FALSE;
}

/* The files that the call names. */
static gboolean
adder_run_put_files (const struct call *call, AdderRequest *request, GError **error)
{
  gsize index;
  json_t *file;
  json_array_foreach (json_object_get (call->arguments, "files"), index, file)
  {
    if (!adder_run_put_file (call, request, json_string_value (file), error))
      return FALSE;
  }
  return TRUE;
}

static AdderRequest *
build (struct call *call, char **ret_note, GError **error)
{
  const char *session = call_text (call, "session");
  if (!adder_run_check_cell (call, error) || !adder_session_ensure (call, ret_note, error))
    return NULL;
  AdderRequest *request = call_request (call, call_text (call, "code"), call_text (call, "profile"));
  g_autofree const char **arguments = adder_run_texts_of (call, "arguments");
  adder_request_set_arguments (request, arguments);
  adder_request_set_tables (request, call_text (call, "tables"));
  if (session)
    adder_request_set_session (request, session, TRUE);
  if (!adder_settle (call, request, error) || !adder_run_put_files (call, request, error) ||
      !attached_files_put (call, session, request, error))
    g_clear_pointer (&request, adder_request_free);
  return request;
}

void
adder_run_tool (struct call *call)
{
  struct ran ran;
  g_autoptr (GError) problem = NULL;
  g_autofree char *note = NULL;
  AdderRequest *request = build (call, &note, &problem);
  if (!request)
    call_fail (call, problem);
  else if (call_run (call, request, &ran)) {
    if (call_flag (call, "end_session"))
      adder_session_end_after (call, &ran);
    if (note)
      json_array_append_new (json_object_get (ran.result, "warnings"), json_string (note));
    call_reply (call, short_result (&ran, call_flag (call, "charts")), &ran);
    ran_clear (&ran);
  }
}
