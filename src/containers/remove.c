/* SPDX-License-Identifier: Apache-2.0 */
#include "containers/remove.h"

#include "adder_types.h"
#include "common/json.h"
#include "containers/labels.h"
#include "containers/origin.h"

#define REMOVE_MS (30 * 1000)
#define LIST_MS   (30 * 1000)

/* Between two tries, doubled with each; and when it is left to the sweep of a later daemon. */
#define AGAIN_US     (G_USEC_PER_SEC / 20)
#define AGAIN_MAX_US (5 * G_USEC_PER_SEC)
#define PATIENCE_US  (10 * 60 * G_USEC_PER_SEC)

/* How long an engine may take for what it was asked to create before its answer was lost. */
#define UNSURE_US (60 * G_USEC_PER_SEC)

/* The container NAME (its name or id), whatever state it is in. TRUE as well where there is none. */
static gboolean
remove_once (struct container_client *client, const char *name, GError **error)
{
  g_autofree char *path = g_strdup_printf ("/containers/%s?force=true&v=true", name);
  g_autoptr (GError) problem = NULL;
  if (container_client_call (client, "DELETE", path, NULL, REMOVE_MS, NULL, &problem))
    return TRUE;
  if (container_client_status (client) == 404)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

void
container_remove_surely (struct container_client *client, const char *name, gboolean unsure)
{
  gint64 begun_us = g_get_monotonic_time ();
  for (gint64 again_us = AGAIN_US;; again_us = MIN (again_us * 2, AGAIN_MAX_US)) {
    /* 409: it is being removed already, perhaps by a call of ours that was not answered in time. That may
     * fail yet. */
    gboolean gone = remove_once (client, name, NULL);
    gint64 spent_us = g_get_monotonic_time () - begun_us;
    gboolean none = container_client_status (client) == 404;
    if (gone && !(unsure && none && spent_us < UNSURE_US))
      return;
    if (spent_us >= PATIENCE_US)
      return;
    g_usleep ((gulong)again_us);
  }
}

static gboolean
is_left (const json_t *container)
{
  const json_t *labels = json_object_get (container, "Labels");
  return container_origin_is_gone (json_string_value (json_object_get (labels, LABEL_DAEMON)),
                                   json_string_value (json_object_get (labels, LABEL_OWNER)),
                                   json_string_value (json_object_get (labels, LABEL_HOST)));
}

int
container_sweep (struct container_client *client, GError **error)
{
  g_autofree char *filters = g_uri_escape_string ("{\"label\":[\"" LABEL_DAEMON "\"]}", NULL, FALSE);
  g_autofree char *path = g_strconcat ("/containers/json?all=true&filters=", filters, NULL);
  g_autoptr (json_t) answer = NULL;
  if (!container_client_call (client, "GET", path, NULL, LIST_MS, &answer, error))
    return -1;
  int removed = 0;
  gsize index;
  json_t *container;
  json_array_foreach (answer, index, container)
  {
    const char *id = json_member_text (container, "Id");
    if (id[0] == '\0' || !is_left (container))
      continue;
    /* The others need not stay because of one; 409: somebody removes it already. */
    g_clear_error (error);
    removed += remove_once (client, id, error);
    if (container_client_status (client) == 409)
      g_clear_error (error);
  }
  return error && *error ? -1 : removed;
}
