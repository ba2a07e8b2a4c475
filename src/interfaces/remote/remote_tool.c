/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of tools. The caller's directory and interpreter stay where they are: there a tool works in the
 * sandbox's own. */
#include <string.h>

#include "adder.h"
#include "common/field_rows.h"
#include "common/json.h"
#include "interfaces/remote/remote.h"
#include "tools/tools.h"

static const struct field reply_fields[] = {
    {.name = "reply", .types = FIELD_OBJECT},
    WHOLE ("exit_code", ""),
    {0},
};
static const struct field *const replies[] = {reply_fields, NULL};

struct calling {
  void (*saw) (gpointer data, const struct tool_progress *progress);
  gpointer data;
  json_t *reply;
};

static gboolean
remote_tool_take_event (gpointer data, const char *name, const char *text, gsize length)
{
  struct calling *calling = data;
  g_autoptr (json_t) value = json_loadb (text, length, 0, NULL);
  const struct tool_progress progress = tool_progress_from_json (value);
  if (strcmp (name, "progress") == 0)
    calling->saw (calling->data, &progress);
  else if (strcmp (name, "reply") == 0 && !calling->reply)
    calling->reply = json_incref (value);
  return TRUE;
}

static json_t *
call_streamed (const char *path, json_t *body, struct calling *calling, int cancel_fd, GError **error)
{
  g_autoptr (GError) problem = NULL;
  json_object_set_new (body, "stream", json_true ());
  gboolean ok = remote_stream (path, body, cancel_fd, remote_tool_take_event, calling, &problem);
  if (calling->reply && !remote_check (calling->reply, replies, error))
    g_clear_pointer (&calling->reply, json_decref);
  else if (calling->reply)
    return calling->reply;
  else if (ok)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the daemon went away during the call");
  else
    g_propagate_error (error, g_steal_pointer (&problem));
  return NULL;
}

json_t *
remote_tool (const json_t *question, void (*saw) (gpointer data, const struct tool_progress *progress),
             gpointer data, int cancel_fd, GError **error)
{
  static const char *const taken[] = {"arguments", "toolset", "conversation", "approval"};
  static const char *const local[] = {"role", "read_only", "accept_all"};
  g_autoptr (json_t) body = json_object ();
  struct calling calling = {saw, data, NULL};
  for (gsize i = 0; i < G_N_ELEMENTS (local); i++) {
    const json_t *value = json_object_get (question, local[i]);
    if (value && !json_is_null (value) && !json_is_false (value)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                   "%s is for a daemon of this machine: elsewhere the token identifies the caller", local[i]);
      return NULL;
    }
  }
  for (gsize i = 0; i < G_N_ELEMENTS (taken); i++)
    if (json_object_get (question, taken[i]))
      json_object_set (body, taken[i], json_object_get (question, taken[i]));
  const char *tool = json_member_text (question, "tool");
  if (!g_ascii_isalnum (tool[0]) && tool[0] != '_') { /* ".." would be another path */
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no such tool");
    return NULL;
  }
  g_autofree char *name = g_uri_escape_string (tool, NULL, FALSE);
  g_autofree char *path = g_strconcat ("/v1/tools/", name, NULL);
  return saw ? call_streamed (path, body, &calling, cancel_fd, error)
             : remote_ask ("POST", path, body, replies, cancel_fd, error);
}
