/* SPDX-License-Identifier: Apache-2.0 */
/* The operation on events: what changed lately, for readers that wait. */
#include "library/events.h"

#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "engine/session/sessions.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"
#include "operations/session_fields.h"

#define EVENTS_MAX 1000

/* ---- what an event is about, as it is now; NULL: it is gone ---- */

static json_t *
event_show_run (G_GNUC_UNUSED AdderEngine *engine, const struct event *event)
{
  return event_run_to_json (event);
}

static json_t *
event_show_session (AdderEngine *engine, const struct event *event)
{
  struct session *session = sessions_find (engine->engine->sessions, event->owner, event->id, NULL);
  json_t *shown = session ? sessions_show (session) : NULL;
  session_unref (session);
  return shown;
}

static json_t *
event_show_approval (AdderEngine *engine, const struct event *event)
{
  return approvals_show_short (engine->approvals, event->owner, event->id);
}

static json_t *
event_show_review (AdderEngine *engine, const struct event *event)
{
  const char *owner = event->owner[0] ? event->owner : NULL;
  return reviews_show_short (engine->reviews, owner, event->id);
}

static json_t *
event_show_daemon (G_GNUC_UNUSED AdderEngine *engine, G_GNUC_UNUSED const struct event *event)
{
  return json_pack ("{s:s, s:b}", "version", adder_version (), "program_replaced", 1);
}

static json_t *
event_to_json (AdderEngine *engine, const struct event *event)
{
  static json_t *(*const shows[]) (AdderEngine * engine, const struct event *event) = {
      [EVENT_RUN] = event_show_run,           [EVENT_SESSION] = event_show_session,
      [EVENT_APPROVAL] = event_show_approval, [EVENT_REVIEW] = event_show_review,
      [EVENT_DAEMON] = event_show_daemon,
  };
  g_autofree char *time = text_time (event->number);
  json_t *object = shows[event->kind](engine, event);
  return json_pack ("{s:I, s:s, s:s, s:s, s:s, s:o}", "seq", (json_int_t)event->number, "time", time, "kind",
                    event_kind_names[event->kind], "change", event_change_name (event), "id", event->id,
                    "object", object ? object : json_null ());
}

/* ---- the function ---- */

/* The bits of the words in TEXT, which its pattern has checked; NULL: all. */
static guint
event_kinds_of (const char *text)
{
  guint kinds = 0;
  g_auto (GStrv) words = text ? g_strsplit (text, ",", -1) : NULL;
  for (guint i = 0; i < EVENT_KINDS; i++)
    if (!words || g_strv_contains ((const char *const *)words, event_kind_names[i]))
      kinds |= 1u << i;
  return kinds;
}

static json_t *
event_list (const struct operation_call *call, GError **error)
{
  AdderEngine *engine = call->caller->engine;
  const json_t *after = json_object_get (call->params, "after");
  const struct event_query query = {
      .owner = call->owner,
      .kinds = event_kinds_of (operation_text (call, "kinds")),
      .after = json_is_integer (after) ? json_integer_value (after) : -1,
      .limit = (guint)operation_number (call, "limit"),
      .wait_ms = (gint64)operation_number (call, "wait_ms"),
      .watch_fd = call->caller->watch_fd,
  };
  gint64 next;
  gboolean missed;
  g_autoptr (GPtrArray) found = events_list (engine->events, &query, &next, &missed, error);
  if (!found)
    return NULL;
  json_t *list = json_array ();
  for (guint i = 0; i < found->len; i++)
    json_array_append_new (list, event_to_json (engine, found->pdata[i]));
  return json_pack ("{s:o, s:I, s:b}", "events", list, "next", (json_int_t)next, "missed", missed);
}

/* ---- the fields ---- */

static const struct field event_fields[] = {
    WHOLE ("seq", "Its number, which grows: the microsecond since 1970 at which it happened."),
    TEXT ("time", "In UTC."),
    TEXT ("kind", "run, session, approval, review or daemon."),
    TEXT ("change", "created, changed or ended."),
    TEXT ("id", "The id of the run, session, approval or review; \"daemon\"."),
    {.name = "object",
     .types = FIELD_OBJECT | FIELD_NULL,
     .items = FIELD_ANY,
     .text = "What it is about: a run as it was then, as in `run.list` without `can_follow`, with its "
             "`tool`, and `outcome` and `wall_ms` once it has ended; a session, an approval or a review as "
             "it is now, as in its list, or null if it is gone. The daemon, with its `version` and "
             "`program_replaced`: a newer one is installed, and sessions end when the daemon is restarted."},
    FIELD_END ("Event"),
};
static const struct field event_list_fields[] = {
    LIST ("events", event_fields, "Oldest first."),
    WHOLE ("next", "What to give as `after` next."),
    FLAG ("missed", "Whether events after `after` may be missing, because too many followed or the daemon "
                    "was restarted: read the lists again."),
    FIELD_END ("EventList"),
};

#define KIND "(run|session|approval|review|daemon)"

static const struct field event_list_params[] = {
    {.name = "after",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .maximum = G_MAXINT64,
     .text = "The events after this number, which is the `next` of an earlier answer; 0: all that are held. "
             "Without it there are none, only the present `next`."},
    ASK_WAIT,
    {.name = "kinds",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .pattern = "^" KIND "(," KIND "){0,4}$",
     .pattern_words = "words from run, session, approval, review and daemon, with commas between them",
     .text = "Only these kinds."},
    {.name = "limit",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .standard = "100",
     .minimum = 1,
     .maximum = EVENTS_MAX,
     .text = "Maximum number of events."},
    ASK_OWNER,
    {0},
};
static const struct field *const event_list_replies[] = {event_list_fields, NULL};

/* ---- the table ---- */

const struct operation event_operations[] = {
    {
        .name = "event.list",
        .title = "List what changed",
        .text =
            "The latest changes of the caller's runs, sessions, approvals and reviews, whatever interface "
            "made them. With `wait_ms` it is answered when there is one, when that time is over, or when "
            "tokens change. The daemon holds `[daemon] events` of them for all callers.",
        .flags = OPERATION_KEPT,
        .params = event_list_params,
        .replies = event_list_replies,
        .run = event_list,
        .http = {"GET", "/v1/events", "listEvents", 200},
    },
    {0},
};
