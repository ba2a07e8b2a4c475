/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a run on a stream: each an object on one line. Output comes in pieces that may end within a
 * character; its first bytes wait for the rest. */
#include <string.h>

#include "common/json.h"
#include "engine/request/capture.h"
#include "interfaces/http/run_reply.h"
#include "library/library.h"
#include "library/run_log.h"

enum { OUTPUT, ERRORS, OUTPUTS };

struct run_events {
  struct http_stream *stream; /* or NULL */
  struct run_log *log;
  guint64 count; /* of the events sent */
  gboolean numbered;
  GByteArray *held[OUTPUTS]; /* less than a character */
};

static const char *const names[OUTPUTS] = {"stdout", "stderr"};

struct run_events *
run_events_new (struct http_stream *stream, gboolean numbered, struct run_log *log)
{
  struct run_events *events = g_new0 (struct run_events, 1);
  events->stream = stream ? http_stream_ref (stream) : NULL;
  events->numbered = numbered;
  events->log = log ? run_log_ref (log) : NULL;
  for (int i = 0; i < OUTPUTS; i++)
    events->held[i] = g_byte_array_new ();
  return events;
}

void
run_events_free (struct run_events *events)
{
  for (int i = 0; i < OUTPUTS; i++)
    g_byte_array_unref (events->held[i]);
  http_stream_unref (events->stream);
  run_log_unref (events->log);
  g_free (events);
}

gboolean
run_events_tell (struct http_stream *stream, const char *name, json_t *value)
{
  g_autoptr (json_t) taken = value;
  g_autofree char *text = json_to_text (taken);
  return http_stream_send (stream, name, NULL, text);
}

static gboolean
run_events_say (struct run_events *events, const char *name, const char *text)
{
  char id[24];
  if (events->log) {
    run_log_add (events->log, name, text);
    return TRUE;
  }
  g_snprintf (id, sizeof id, "%" G_GUINT64_FORMAT, ++events->count);
  return http_stream_send (events->stream, name, events->numbered ? id : NULL, text);
}

static gboolean
run_events_say_value (struct run_events *events, const char *name, json_t *value)
{
  g_autoptr (json_t) taken = value;
  g_autofree char *text = json_to_text (taken);
  return run_events_say (events, name, text);
}

static gboolean
run_events_tell_text (struct run_events *events, int which, const char *bytes, gsize length)
{
  if (length == 0)
    return TRUE;
  g_autofree char *text = capture_clean (bytes, length);
  return run_events_say_value (events, names[which], json_pack ("{s:s}", "text", text));
}

static gboolean
run_events_send_output (struct run_events *events, int which, const char *data, gsize length)
{
  GByteArray *held = events->held[which];
  if (held->len == 0) {
    gsize whole = capture_whole_length (data, length);
    g_byte_array_append (held, (const guint8 *)data + whole, (guint)(length - whole));
    return run_events_tell_text (events, which, data, whole);
  }
  g_byte_array_append (held, (const guint8 *)data, (guint)length);
  gsize whole = capture_whole_length ((const char *)held->data, held->len);
  gboolean sent = run_events_tell_text (events, which, (const char *)held->data, whole);
  g_byte_array_remove_range (held, 0, (guint)whole);
  return sent;
}

static gboolean
send_display (struct run_events *events, const AdderRun *run, const AdderEvent *event)
{
  return run_events_say_value (events, "display",
                               json_pack ("{s:o, s:o, s:b}", "data", library_display (run), "display_id",
                                          json_text_or_null (event->display_id), "update", event->update));
}

gboolean
run_events_flush (struct run_events *events)
{
  gboolean sent = TRUE;
  for (int i = 0; i < OUTPUTS; i++) {
    sent =
        sent && run_events_tell_text (events, i, (const char *)events->held[i]->data, events->held[i]->len);
    g_byte_array_set_size (events->held[i], 0);
  }
  return sent;
}

gboolean
run_events_end (struct run_events *events, const AdderResult *result)
{
  return run_events_flush (events) && run_events_say (events, "result", adder_result_json (result));
}

gboolean
run_events_send (struct run_events *events, AdderRun *run, const AdderEvent *event)
{
  switch (event->kind) {
  case ADDER_EVENT_STARTED:
    return run_events_say_value (events, "started", json_pack ("{s:s}", "run_id", adder_run_id (run)));
  case ADDER_EVENT_STDOUT:
    return run_events_send_output (events, OUTPUT, event->data, event->length);
  case ADDER_EVENT_STDERR:
    return run_events_send_output (events, ERRORS, event->data, event->length);
  case ADDER_EVENT_DISPLAY:
    return send_display (events, run, event);
  case ADDER_EVENT_PROGRESS: {
    const char *text = event->data ? event->data : "bytes read";
    const struct tool_progress progress = {text, (gint64)event->done, (gint64)event->of};
    return run_events_say_value (events, "progress", tool_progress_to_json (&progress));
  }
  case ADDER_EVENT_RESULT:
  default:
    return TRUE;
  }
}
