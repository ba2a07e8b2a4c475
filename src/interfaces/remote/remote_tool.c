/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of tools. The caller's directory and interpreter stay where they are: there a tool works in the
 * sandbox's own. */
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/remote/remote.h"
#include "tools/tools.h"

struct calling {
  void (*saw) (gpointer data, const struct tool_progress *progress);
  gpointer data;
  json_t *reply;
};

static gboolean
take_event (gpointer data, const char *name, const char *text, gsize length)
{
  struct calling *calling = data;
  g_autoptr (json_t) value = json_loadb (text, length, 0, NULL);
  const struct tool_progress progress = {
      .text = json_member_text (value, "text"),
      .done = json_integer_value (json_object_get (value, "done")),
      .of = json_integer_value (json_object_get (value, "of")),
  };
  if (strcmp (name, "progress") == 0)
    calling->saw (calling->data, &progress);
  else if (strcmp (name, "reply") == 0 && !calling->reply)
    calling->reply = json_incref (value);
  return TRUE;
}

static json_t *
call_streamed (const char *path, json_t *body, struct calling *calling, int cancel_fd, GError **error)
{
  json_object_set_new (body, "stream", json_true ());
  if (remote_stream (path, body, cancel_fd, take_event, calling, error) && !calling->reply)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the daemon went away during the call");
  return calling->reply;
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
                   "%s is for a daemon of this machine: elsewhere the token says who asks", local[i]);
      return NULL;
    }
  }
  for (gsize i = 0; i < G_N_ELEMENTS (taken); i++)
    if (json_object_get (question, taken[i]))
      json_object_set (body, taken[i], json_object_get (question, taken[i]));
  g_autofree char *name = g_uri_escape_string (json_member_text (question, "tool"), NULL, FALSE);
  g_autofree char *path = g_strconcat ("/v1/tools/", name, NULL);
  return saw ? call_streamed (path, body, &calling, cancel_fd, error)
             : remote_ask ("POST", path, body, cancel_fd, error);
}
