/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that move to another node of the cluster. The first node writes the session as a JSON object; the
 * second makes it again by replaying its cells.
 *
 * Only a session that a replay reproduces, without effects outside its sandbox, is handed over. The first
 * node checks what it can know beforehand: all cells are on record and ran to their end, there is no network,
 * and there is nothing that a replay does not make, such as branches or threads. The second node compares
 * what comes out: the results of all cells, and one digest of variables and files. */
#include "library/handover.h"

#include <poll.h>
#include <string.h>

#include "common/json.h"
#include "engine/host/id.h"
#include "engine/run/run.h"
#include "engine/session/questions.h"
#include "engine/session/sessions.h"
#include "library/library.h"

#define FRONT_END "handover"

/* ---- as an object ---- */

static json_t *
handover_write_files (const GArray *given)
{
  json_t *list = json_array ();
  for (guint i = 0; given && i < given->len; i++) {
    const struct input *file = &g_array_index (given, struct input, i);
    json_array_append_new (
        list, json_pack ("{s:o, s:s, s:I, s:o, s:o}", "name", json_text_or_null (file->name), "place",
                         input_place_name (file->place), "bytes", (json_int_t)file->bytes, "sha256",
                         json_text_or_null (file->sha256), "key", json_text_or_null (file->key)));
  }
  return list;
}

static json_t *
handover_write_cells (const struct history *history)
{
  json_t *list = json_array ();
  for (const GList *link = history->cells.head; link; link = link->next) {
    const struct history_cell *cell = link->data;
    gsize length = 0;
    const char *result = cell->result ? g_bytes_get_data (cell->result, &length) : NULL;
    json_array_append_new (list, json_pack ("{s:o, s:i, s:I, s:I, s:o, s:o, s:O, s:o}", "code",
                                            json_stringn (cell->code, cell->length), "outcome",
                                            (int)cell->outcome, "started_us", (json_int_t)cell->started_us,
                                            "wall_us", (json_int_t)cell->wall_us, "limits",
                                            request_limits_to_json (&cell->limits, cell->limits_set), "given",
                                            handover_write_files (cell->given), "digests", cell->digests,
                                            "result", result ? json_stringn (result, length) : json_null ()));
  }
  return list;
}

/* The settled options of a session that library_resolve_like reads. */
static json_t *
handover_write_options (const struct run_request *options)
{
  json_t *variables = json_object ();
  GHashTableIter iter;
  gpointer name, value;
  g_hash_table_iter_init (&iter, options->variables);
  while (g_hash_table_iter_next (&iter, &name, &value))
    json_object_set_new (variables, name, json_text_or_null (value));
  return json_pack (
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:b, s:O?, s:i, s:b}", "role",
      json_text_or_null (options->origin.role), "profile", json_text_or_null (options->profile),
      "environment", json_text_or_null (options->environment), "with", json_of_texts_or_null (options->with),
      "arguments", json_of_texts_or_null (options->arguments), "variables", variables, "limits",
      request_limits_to_json (&options->limits, REQUEST_LIMITS_ALL), "asked",
      request_limits_to_json (&options->limits, options->limits_set), "min_isolation",
      (int)options->min_isolation, "tables", (int)options->tables, "svg", options->svg, "values",
      options->values, "isolation", (int)options->isolation, "falls_back", options->falls_back);
}

/* ---- which sessions may leave ---- */

static gboolean
handover_is_kept (const GArray *given)
{
  for (guint i = 0; given && i < given->len; i++)
    if (!g_array_index (given, struct input, i).key)
      return FALSE;
  return TRUE;
}

/* Returns why HISTORY cannot be replayed, or NULL if it can. CELLS is how many cells the session began. */
static const char *
handover_check_history (const struct history *history, guint64 cells)
{
  if (history->dropped > 0 || history->cells.length != cells)
    return "not all of its cells are on record";
  for (const GList *link = history->cells.head; link; link = link->next) {
    const struct history_cell *cell = link->data;
    if (cell->outcome != ADDER_OUTCOME_OK && cell->outcome != ADDER_OUTCOME_ERROR)
      return "one of its cells was ended from outside";
    if (!cell->digests)
      return "the result of one of its cells is not known";
    if (!handover_is_kept (cell->given))
      return "a file that was given to one of its cells is not kept";
  }
  return NULL;
}

/* Returns why a session with OPTIONS cannot be replayed without effects, or NULL if it can. Both nodes check
 * this, since their profiles of the same name may differ. */
static const char *
handover_check_profile (const struct run_request *options)
{
  if (options->network && network_rules_needs (options->network) != NETWORK_NONE)
    return "its profile allows network access, and a replay would act there again";
  if (options->approval != APPROVAL_NEVER)
    return "its cells need approval";
  return NULL;
}

static const char *
handover_check (struct session *session, const json_t *shown, const struct history *history,
                const GArray *given)
{
  const char *obstacle = handover_check_profile (session->options);
  if (obstacle)
    return obstacle;
  /* On another machine the same number may be another user. */
  if (!session->owner[0] || g_str_has_prefix (session->owner, "uid:"))
    return "its owner is a user of this machine";
  if (session->parent)
    return "it is a branch";
  if (json_array_size (json_object_get (shown, "checkpoints")) > 0)
    return "it has checkpoints";
  if (sessions_has_threads (session))
    return "it has threads";
  if (!handover_is_kept (given))
    return "a file that was given to it is not kept";
  return handover_check_history (history, (guint64)json_integer_value (json_object_get (shown, "cells")));
}

json_t *
library_handover_write (struct session *session, guint64 *ret_edition, const char **ret_logged,
                        GError **error)
{
  struct history history;
  g_autoptr (GArray) given = NULL;
  g_autoptr (json_t) shown = sessions_show (session), whole = NULL;
  sessions_copy_history (session, &history, &given);
  *ret_edition = history.edition;
  const char *obstacle = handover_check (session, shown, &history, given);
  g_autoptr (json_t) state = obstacle ? NULL : session_state (session, error);
  const json_t *digest = json_object_get (state, "digest");
  *ret_logged = obstacle ? obstacle : state ? "something in it cannot be compared" : "it did not answer";
  if (obstacle)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, obstacle);
  else if (state && !json_is_string (digest))
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "%s cannot be compared",
                 json_member_text (state, "unknown"));
  else if (state)
    whole = json_pack ("{s:s, s:o, s:O, s:I, s:o, s:o, s:o, s:O}", "id", session->id, "owner",
                       json_text_or_null (session->owner), "name", json_object_get (shown, "name"),
                       "created_us", (json_int_t)session->created_us, "options",
                       handover_write_options (session->options), "given", handover_write_files (given),
                       "cells", handover_write_cells (&history), "state", digest);
  history_clear (&history);
  return g_steal_pointer (&whole);
}

/* ---- from an object ---- */

static guint32
handover_read_limits (const json_t *object, struct limits *limits)
{
  guint32 set = 0;
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)object, name, value)
  {
    int limit = limit_find (name);
    if (limit < 0)
      continue;
    limits->value[limit] = (guint64)json_integer_value (value);
    set |= 1u << limit;
  }
  return set;
}

static GArray *
handover_read_files (const json_t *list)
{
  GArray *given = inputs_new ();
  gsize i;
  json_t *file;
  json_array_foreach (list, i, file)
  {
    struct input input = {.name = g_strdup (json_member_text (file, "name")),
                          .fd = -1,
                          .bytes = (guint64)json_integer_value (json_object_get (file, "bytes")),
                          .sha256 = g_strdup (json_string_value (json_object_get (file, "sha256"))),
                          .key = g_strdup (json_string_value (json_object_get (file, "key")))};
    (void)input_place_parse (json_member_text (file, "place"), &input.place, NULL);
    g_array_append_val (given, input);
  }
  return given;
}

static void
handover_read_cells (const json_t *list, const struct config *config, struct history *ret_history)
{
  history_init (ret_history, config->history_bytes, config->result_bytes);
  gsize i;
  json_t *each;
  json_array_foreach (list, i, each)
  {
    const json_t *code = json_object_get (each, "code");
    const char *result = json_string_value (json_object_get (each, "result"));
    struct history_cell cell = {
        .number = i + 1,
        .code = g_strdup (json_member_text (each, "code")),
        .length = json_string_length (code),
        .outcome = (AdderOutcome)json_integer_value (json_object_get (each, "outcome")),
        .started_us = json_integer_value (json_object_get (each, "started_us")),
        .wall_us = json_integer_value (json_object_get (each, "wall_us")),
        .given = handover_read_files (json_object_get (each, "given")),
        .digests = json_incref (json_object_get (each, "digests")),
    };
    cell.limits_set = handover_read_limits (json_object_get (each, "limits"), &cell.limits);
    history_add (ret_history, &cell);
    if (result)
      history_keep_result (ret_history, cell.number, cell.started_us, result);
  }
}

static struct run_request *
handover_read_options (const json_t *object)
{
  struct run_request *like = request_new ();
  like->profile = g_strdup (json_string_value (json_object_get (object, "profile")));
  like->environment = g_strdup (json_string_value (json_object_get (object, "environment")));
  like->with = json_to_texts (json_object_get (object, "with"));
  like->arguments = json_to_texts (json_object_get (object, "arguments"));
  (void)handover_read_limits (json_object_get (object, "limits"), &like->limits);
  like->limits_set = handover_read_limits (json_object_get (object, "asked"), &like->limits);
  like->min_isolation = (guint)json_integer_value (json_object_get (object, "min_isolation"));
  like->tables = (guint)json_integer_value (json_object_get (object, "tables"));
  like->svg = json_is_true (json_object_get (object, "svg"));
  if (json_is_object (json_object_get (object, "values")))
    like->values = json_deep_copy (json_object_get (object, "values"));
  like->isolation = (enum isolation)json_integer_value (json_object_get (object, "isolation"));
  like->falls_back = json_is_true (json_object_get (object, "falls_back"));
  const char *name;
  json_t *value;
  json_object_foreach (json_object_get (object, "variables"), name, value)
      g_hash_table_replace (like->variables, g_strdup (name), g_strdup (json_string_value (value)));
  return like;
}

/* ---- taking one ---- */

/* The replay may do what the caller who made the session might: on this node the profile may need a higher
 * role. */
static AdderRequest *
handover_request (const json_t *whole, int watch_fd)
{
  const json_t *options = json_object_get (whole, "options");
  AdderRequest *request = adder_request_new ("", 0);
  adder_request_set_owner (request, json_member_text (whole, "owner"), NULL);
  adder_request_set_role (request, json_string_value (json_object_get (options, "role")));
  adder_request_set_origin (request, FRONT_END, NULL, NULL);
  adder_request_set_watch (request, watch_fd);
  return request;
}

static gboolean
handover_check_state (struct session *made, const char *digest, GError **error)
{
  g_autoptr (json_t) state = session_state (made, error);
  if (!state)
    return FALSE;
  if (strcmp (json_member_text (state, "digest"), digest) == 0)
    return TRUE;
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                       "its variables or files differ when its cells run again");
  return FALSE;
}

/* A node that no longer waits for the reply has gone on with the session. */
static gboolean
handover_check_asker (int watch_fd, GError **error)
{
  struct pollfd asker = {watch_fd, POLLRDHUP, 0};
  if (poll (&asker, 1, 0) <= 0)
    return TRUE;
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the node that hands it over is gone");
  return FALSE;
}

/* Another node may support what this one does not, such as the session's environment. */
static void
handover_blame_node (GError **error)
{
  if (error && g_error_matches (*error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED))
    (*error)->code = ADDER_ERROR_UNAVAILABLE;
}

gboolean
library_handover_read (AdderEngine *engine, const json_t *whole, int watch_fd, GError **error)
{
  const char *id = json_member_text (whole, "id");
  const json_t *cells = json_object_get (whole, "cells");
  if (id_node (id) == ID_NODES) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the object is not a session");
    return FALSE;
  }
  struct history history;
  handover_read_cells (cells, engine->engine->host->config, &history);
  g_autoptr (GArray) given = handover_read_files (json_object_get (whole, "given"));
  g_autoptr (AdderRequest) request = handover_request (whole, watch_fd);
  struct run_request *like = handover_read_options (json_object_get (whole, "options"));
  AdderReplay *replay = library_replay_like (engine, request, like, &history, given, error);
  request_free (like);
  history_clear (&history);
  if (!replay) {
    handover_blame_node (error);
    return FALSE;
  }
  const char *obstacle = handover_check_profile (library_replay_made (replay)->options);
  if (obstacle) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE, "on that node %s", obstacle);
    adder_replay_free (replay);
    return FALSE;
  }
  for (AdderRun *run; (run = adder_replay_next (replay)); adder_run_free (run)) {
    AdderEvent event = {0};
    while (adder_run_next (run, &event) && event.kind != ADDER_EVENT_RESULT)
      ;
    adder_result_free (event.result);
  }
  struct session_origin origin = {.id = id,
                                  .created_us = json_integer_value (json_object_get (whole, "created_us")),
                                  .cells = json_array_size (cells)};
  gboolean taken =
      library_replay_is_same (replay, error) &&
      handover_check_state (library_replay_made (replay), json_member_text (whole, "state"), error) &&
      handover_check_asker (watch_fd, error) &&
      library_replay_adopt (replay, json_string_value (json_object_get (whole, "name")), &origin, error);
  adder_replay_free (replay);
  return taken;
}
