/* SPDX-License-Identifier: Apache-2.0 */
/* Replays: the cells that a session has on record, one run each, in a new session. */
#include "common/json.h"
#include "engine/sessions.h"
#include "library/library.h"

struct adder_replay {
  AdderEngine *engine;
  AdderRequest *options; /* owner and watch of all cells */
  char *session;         /* id of the new one */
  json_t *cells;         /* [{"cell", "code"}] */
  gsize next;
  char *json;
};

/* The cells of SESSION from FROM on. */
static json_t *
cells_from (struct session *session, guint64 from, GError **error)
{
  g_autoptr (json_t) history = sessions_history (session);
  guint64 dropped = (guint64)json_integer_value (json_object_get (history, "dropped"));
  json_t *cells = json_array ();
  gsize i;
  json_t *cell;
  json_array_foreach (json_object_get (history, "cells"), i, cell)
  {
    json_t *number = json_object_get (cell, "cell"), *code = json_object_get (cell, "code");
    if ((guint64)json_integer_value (number) >= from)
      json_array_append_new (cells, json_pack ("{s:O, s:O}", "cell", number, "code", code));
  }
  g_autofree char *fault = NULL;
  if (json_array_size (cells) == 0)
    fault = from > 1 ? g_strdup_printf ("no cell %" G_GUINT64_FORMAT " or later is on record", from)
                     : g_strdup ("the session has no cells on record");
  else if (dropped > 0 && from <= dropped)
    fault = g_strdup_printf (
        "the first %" G_GUINT64_FORMAT " cells are no longer on record: begin with a later one", dropped);
  if (fault) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, fault);
    g_clear_pointer (&cells, json_decref);
  }
  return cells;
}

/* A session as OLD was made, but for what OPTIONS says. The caller's reference. */
static struct session *
make_like (AdderEngine *engine, const AdderRequest *options, const struct session *old, const char *name,
           GError **error)
{
  struct run_request *request = library_resolve_like (engine, options, old->options);
  library_fetch_inputs (engine, request, TRUE);
  struct session *made = session_create (engine->engine, request, name, error);
  request_free (request);
  return made;
}

AdderReplay *
adder_session_replay (AdderEngine *engine, const AdderRequest *options, const char *session, guint64 from,
                      const char *name, GError **error)
{
  g_return_val_if_fail (engine != NULL && options != NULL && session != NULL, NULL);
  struct session *old = sessions_find (engine->engine->sessions, library_owner (options), session, error);
  json_t *cells = old ? cells_from (old, from, error) : NULL;
  struct session *made = cells ? make_like (engine, options, old, name, error) : NULL;
  session_unref (old);
  if (!made) {
    json_decref (cells);
    return NULL;
  }
  g_autoptr (json_t) whole = json_pack ("{s:o, s:O}", "session", sessions_show (made), "cells", cells);
  struct adder_replay *replay = g_new0 (struct adder_replay, 1);
  *replay = (struct adder_replay){
      .engine = engine,
      .options = library_cell (options, made->id, ""),
      .session = g_strdup (made->id),
      .cells = cells,
      .json = json_to_text (whole),
  };
  session_unref (made);
  return replay;
}

const char *
adder_replay_json (const AdderReplay *replay)
{
  g_return_val_if_fail (replay != NULL, NULL);
  return replay->json;
}

AdderRun *
adder_replay_next (AdderReplay *replay)
{
  g_return_val_if_fail (replay != NULL, NULL);
  const json_t *cell = json_array_get (replay->cells, replay->next);
  if (!cell)
    return NULL;
  replay->next++;
  const char *code = json_string_value (json_object_get (cell, "code"));
  g_autoptr (AdderRequest) request = library_cell (replay->options, replay->session, code);
  return adder_run_start (replay->engine, request);
}

void
adder_replay_free (AdderReplay *replay)
{
  if (!replay)
    return;
  adder_request_free (replay->options);
  g_free (replay->session);
  json_decref (replay->cells);
  g_free (replay->json);
  g_free (replay);
}
