/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/attached_files.h"

#include <string.h>

#include "common/json.h"
#include "library/library.h"
#include "store/files.h"

/* A directory in /tmp has this name. */
#define TAKEN_NAME    "output"
#define INSTEAD_OF_IT "output-file"

/* Files for one run are kept under a key that begins with a control character, and those of a conversation,
 * which may have any name, after an equals sign. The caller's. */
static char *
attached_files_key_of (const struct call *call, const char *session)
{
  if (!session)
    return call->caller->conversation ? g_strconcat ("=", call->caller->conversation, NULL)
                                      : g_strdup ("\001");
  /* A session has an id and, where it outlives that, a name. */
  g_autoptr (json_t) shown =
      call_operation (call, "session.show", json_pack ("{s:s}", "session", session), NULL);
  const char *name = json_string_value (json_object_get (shown, "name"));
  const char *id = json_string_value (json_object_get (shown, "session_id"));
  return g_strconcat ("\001", name ? name : id ? id : session, NULL);
}

static gboolean
is_for_one_run (const char *key)
{
  return key[0] == '\001';
}

gboolean
attached_files_add (struct call *call, const char *session, const char *file_id, char **ret_name,
                    GError **error)
{
  const char *owner = call->caller->owner;
  g_autofree char *key = attached_files_key_of (call, session);
  struct file_row *row = library_find_file (call->tools->engine, owner, file_id, error);
  if (!row)
    return FALSE;
  g_autofree char *name = g_strdup (strcmp (row->name, TAKEN_NAME) == 0 ? INSTEAD_OF_IT : row->name);
  gboolean ok = conversation_states_set (call->tools->attached_files, owner, key, name, row->id, error);
  file_row_free (row);
  if (ok)
    *ret_name = g_steal_pointer (&name);
  return ok;
}

/* A file that expired or was removed would otherwise fail every run from now on. */
static gboolean
is_stored (struct call *call, const char *file_id)
{
  g_autoptr (GError) problem = NULL;
  struct file_row *row = files_find (call->tools->engine->store, call->caller->owner, file_id, &problem);
  file_row_free (row);
  return !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND);
}

json_t *
attached_files_list (struct call *call, const char *session)
{
  g_autofree char *key = attached_files_key_of (call, session);
  json_t *files = conversation_states_get (call->tools->attached_files, call->caller->owner, key, NULL);
  return files ? files : json_object ();
}

gboolean
attached_files_put (struct call *call, const char *session, AdderRequest *request, GError **error)
{
  struct conversation_states *states = call->tools->attached_files;
  const char *owner = call->caller->owner;
  /* Most runs have none, and the run itself reports errors with its session. */
  if (conversation_states_are_none (states))
    return TRUE;
  g_autofree char *key = attached_files_key_of (call, session);
  /* While a cluster's database is away, runs go on without. */
  g_autoptr (json_t) files = conversation_states_get (states, owner, key, NULL);
  const char *name;
  json_t *id;
  json_object_foreach (files, name, id)
  {
    if (!is_stored (call, json_string_value (id)))
      conversation_states_unset (states, owner, key, name);
    else if (!adder_request_add_stored_file (request, json_string_value (id), name, "tmp", error))
      return FALSE;
  }
  if (json_object_size (files) > 0 && is_for_one_run (key)) {
    g_free (call->attached);
    call->attached = g_steal_pointer (&key);
  }
  return TRUE;
}

void
attached_files_end (struct call *call)
{
  if (call->attached)
    conversation_states_drop (call->tools->attached_files, call->caller->owner, call->attached);
  g_clear_pointer (&call->attached, g_free);
}
