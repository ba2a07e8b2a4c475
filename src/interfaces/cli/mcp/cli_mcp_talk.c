/* SPDX-License-Identifier: Apache-2.0 */
/* A request is pending from when it is sent until it is answered or cancelled. Some requests and
 * notifications affect all later ones: the last of each is kept, and repeated to the next daemon under an id
 * of our own. A request is kept once it succeeds: one that failed, or was never answered, leaves the previous
 * one in place. */
#include "interfaces/cli/mcp/cli_mcp_talk.h"

#include <string.h>

#include "common/guarded.h"
#include "common/json.h"
#include "interfaces/mcp/server.h"

#define AGAIN_ID     "adder mcp, again, " /* and a number */
#define KEPT_MOST    4096                 /* as many as [mcp] max_subscribed allows */
#define SUBSCRIBE    "resources/subscribe"
#define UNSUBSCRIBE  "resources/unsubscribe"
#define NOTIFICATION "notifications/"

LOCK_CLASS (cli_mcp_talk);

/* A pending request. */
struct saying {
  json_t *id;
  char *key;       /* the key to keep MESSAGE under when it succeeds; NULL: not kept */
  json_t *message; /* or NULL */
  gboolean calls_tool, is_modern;
};

struct cli_mcp_talk {
  MUTEX (cli_mcp_talk) lock;
  GUARDED_BY (cli_mcp_talk) GHashTable *sayings; /* struct saying by id as text */
  GUARDED_BY (cli_mcp_talk) json_t *kept;        /* {KEY: {"method", "params"}}, in the order sent */
};

static void
saying_free (gpointer data)
{
  struct saying *saying = data;
  json_decref (saying->id);
  g_free (saying->key);
  json_decref (saying->message);
  g_free (saying);
}

struct cli_mcp_talk *
cli_mcp_talk_new (void)
{
  struct cli_mcp_talk *talk = g_new0 (struct cli_mcp_talk, 1);
  g_mutex_init (&talk->lock);
  UNSHARED (cli_mcp_talk);
  talk->sayings = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, saying_free);
  talk->kept = json_object ();
  return talk;
}

void
cli_mcp_talk_free (struct cli_mcp_talk *talk)
{
  UNSHARED (cli_mcp_talk);
  g_hash_table_destroy (talk->sayings);
  json_decref (talk->kept);
  g_mutex_clear (&talk->lock);
  g_free (talk);
}

/* ---- from the client ---- */

/* The id ID as text, distinguishing 1 and "1"; the caller's. NULL: invalid. */
static char *
talk_id_text (const json_t *id)
{
  return json_is_string (id) || json_is_integer (id) ? json_to_text (id) : NULL;
}

/* The key for keeping a message of METHOD with PARAMS, the caller's; NULL: not kept. What begins a
 * conversation is sent once. */
REQUIRES (cli_mcp_talk)
static char *
talk_key_of (const struct cli_mcp_talk *talk, const char *method, const json_t *params)
{
  static const char *const once[] = {"initialize", NOTIFICATION "initialized", NULL};
  if (g_strv_contains (once, method))
    return json_object_get (talk->kept, method) ? NULL : g_strdup (method);
  if (strcmp (method, "logging/setLevel") == 0)
    return g_strdup (method);
  const char *uri = json_string_value (json_object_get (params, "uri"));
  if (uri && strcmp (method, SUBSCRIBE) == 0)
    return g_strconcat (SUBSCRIBE " ", uri, NULL);
  return NULL;
}

REQUIRES (cli_mcp_talk)
static void
talk_forget (struct cli_mcp_talk *talk, const char *method, const json_t *params)
{
  if (strcmp (method, NOTIFICATION "cancelled") == 0) {
    g_autofree char *id = talk_id_text (json_object_get (params, "requestId"));
    if (id)
      g_hash_table_remove (talk->sayings, id);
  } else if (strcmp (method, UNSUBSCRIBE) == 0) {
    g_autofree char *key =
        g_strconcat (SUBSCRIBE " ", json_string_value (json_object_get (params, "uri")), NULL);
    json_object_del (talk->kept, key);
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init (&iter, talk->sayings);
    while (g_hash_table_iter_next (&iter, NULL, &value)) {
      struct saying *saying = value;
      if (g_strcmp0 (saying->key, key) == 0)
        g_clear_pointer (&saying->key, g_free);
    }
  }
}

/* Keeps MESSAGE, which is taken, under KEY. */
REQUIRES (cli_mcp_talk)
static void
talk_keep (struct cli_mcp_talk *talk, const char *key, json_t *message)
{
  if (json_object_size (talk->kept) < KEPT_MOST || json_object_get (talk->kept, key))
    json_object_set_new (talk->kept, key, message);
  else
    json_decref (message);
}

REQUIRES (cli_mcp_talk)
static void
talk_take_in (struct cli_mcp_talk *talk, const json_t *message)
{
  const char *method = json_string_value (json_object_get (message, "method"));
  json_t *id = json_object_get (message, "id"), *params = json_object_get (message, "params");
  if (!method)
    return;
  talk_forget (talk, method, params);
  g_autofree char *key = talk_key_of (talk, method, params);
  /* The message belongs to its thread. */
  json_t *kept = key ? json_pack ("{s:s, s:s, s:o*}", "jsonrpc", "2.0", "method", method, "params",
                                  json_deep_copy (params))
                     : NULL;
  g_autofree char *text = talk_id_text (id);
  if (!text) {
    if (kept)
      talk_keep (talk, key, kept);
    return;
  }
  struct saying *saying = g_new0 (struct saying, 1);
  *saying = (struct saying){
      .id = json_deep_copy (id),
      .key = g_steal_pointer (&key),
      .message = kept,
      .calls_tool = strcmp (method, "tools/call") == 0,
      .is_modern = json_object_get (json_object_get (params, "_meta"), MCP_META_VERSION) != NULL,
  };
  g_hash_table_replace (talk->sayings, g_steal_pointer (&text), saying);
}

void
cli_mcp_talk_say (struct cli_mcp_talk *talk, json_t *message)
{
  gsize index;
  json_t *item;
  g_mutex_lock (&talk->lock);
  if (!json_is_array (message))
    talk_take_in (talk, message);
  json_array_foreach (message, index, item) talk_take_in (talk, item);
  g_mutex_unlock (&talk->lock);
}

/* ---- from the daemon ---- */

/* Takes the answer MESSAGE. FALSE: it answers no request of the client. */
REQUIRES (cli_mcp_talk)
static gboolean
talk_settle (struct cli_mcp_talk *talk, const json_t *message)
{
  const json_t *id = json_object_get (message, "id");
  g_autofree char *key = talk_id_text (id);
  if (!key || json_object_get (message, "method"))
    return TRUE;
  if (json_is_string (id) && g_str_has_prefix (json_string_value (id), AGAIN_ID))
    return FALSE;
  const struct saying *saying = g_hash_table_lookup (talk->sayings, key);
  if (saying && saying->key && saying->message && !json_object_get (message, "error"))
    talk_keep (talk, saying->key, json_incref (saying->message));
  g_hash_table_remove (talk->sayings, key);
  return TRUE;
}

gboolean
cli_mcp_talk_hear (struct cli_mcp_talk *talk, const char *line, gsize length)
{
  g_autoptr (json_t) message = json_loadb (line, length, 0, NULL);
  gboolean is_theirs = TRUE;
  gsize index;
  json_t *item;
  g_mutex_lock (&talk->lock);
  if (json_is_object (message))
    is_theirs = talk_settle (talk, message);
  json_array_foreach (message, index, item) talk_settle (talk, item);
  g_mutex_unlock (&talk->lock);
  return is_theirs;
}

/* ---- the end of a daemon, and the next one ---- */

/* A tool's failure is a result, which a model reads, unlike protocol errors. */
static json_t *
saying_failure (const struct saying *saying, const char *reason)
{
  if (!saying->calls_tool)
    return mcp_error_message (saying->id, MCP_INTERNAL_ERROR, reason, NULL);
  json_t *result = json_pack ("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text",
                              json_text_or_null (reason), "isError", TRUE);
  if (saying->is_modern)
    json_object_update_new (result, json_pack ("{s:s, s:{s:o}}", "resultType", "complete", "_meta",
                                               MCP_META_SERVER, server_info (FALSE)));
  return json_pack ("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", saying->id, "result", result);
}

/* Appends MESSAGE, which is taken, as a line. */
static void
talk_add_line (GString *lines, json_t *message)
{
  g_autofree char *text = json_to_text (message);
  g_string_append (lines, text);
  g_string_append_c (lines, '\n');
  json_decref (message);
}

char *
cli_mcp_talk_give_up (struct cli_mcp_talk *talk, const char *reason)
{
  GString *lines = g_string_new (NULL);
  GHashTableIter iter;
  gpointer value;
  g_mutex_lock (&talk->lock);
  g_hash_table_iter_init (&iter, talk->sayings);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const struct saying *saying = value;
    talk_add_line (lines, saying_failure (saying, reason));
    g_hash_table_iter_remove (&iter);
  }
  g_mutex_unlock (&talk->lock);
  return g_string_free (lines, FALSE);
}

char *
cli_mcp_talk_again (struct cli_mcp_talk *talk)
{
  GString *lines = g_string_new (NULL);
  const char *key;
  json_t *kept;
  guint number = 0;
  g_mutex_lock (&talk->lock);
  json_object_foreach (talk->kept, key, kept)
  {
    json_t *message = json_copy (kept);
    if (!g_str_has_prefix (key, NOTIFICATION))
      json_object_set_new (message, "id", json_sprintf (AGAIN_ID "%u", ++number));
    talk_add_line (lines, message);
  }
  g_mutex_unlock (&talk->lock);
  return g_string_free (lines, FALSE);
}
