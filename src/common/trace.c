/* SPDX-License-Identifier: Apache-2.0 */
#include "common/trace.h"

#include <string.h>
#include <sys/eventfd.h>

#include "base/fd.h"
#include "build-config.h"
#include "common/guarded.h"
#include "common/http_client.h"
#include "common/json.h"
#include "common/log.h"
#include "common/random_bytes.h"

#define QUEUE_MAX   8192 /* spans, some 600 bytes each */
#define BATCH_MAX   512
#define PAUSE_US    G_USEC_PER_SEC
#define REQUEST_US  (10 * G_USEC_PER_SEC)
#define LAST_US     (2 * G_USEC_PER_SEC)
#define FLAG_SAMPLE 1 /* of a traceparent (W3C Trace Context, section 3.2.2.5) */

LOCK_CLASS (trace);

static struct {
  MUTEX (trace) lock;
  GCond changed;
  GUARDED_BY (trace) GQueue spans; /* of json_t, as OTLP has them */
  GUARDED_BY (trace) guint64 lost; /* since it was last said */
  GUARDED_BY (trace) gboolean ending;
  gint percent; /* of the traces that begin here; atomic; -1: it is off */
  GThread *thread;
  char *url, *node;
  struct http_client *client;
} tracer = {.percent = -1};

static _Thread_local char current[TRACE_PARENT_BYTES];

/* ---- contexts ---- */

gboolean
trace_is_parent (const char *text)
{
  if (!text || strlen (text) != TRACE_PARENT_BYTES - 1 || memcmp (text, "00-", 3) != 0)
    return FALSE;
  for (gsize i = 3; i < TRACE_PARENT_BYTES - 1; i++) {
    gboolean dash = i == 35 || i == 52;
    if (dash ? text[i] != '-' : !g_ascii_isdigit (text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
      return FALSE;
  }
  return TRUE;
}

void
trace_begin (struct trace_span *span, const char *parent, gint64 start_us)
{
  int percent = g_atomic_int_get (&tracer.percent);
  *span = (struct trace_span){.start_us = start_us ? start_us : g_get_real_time ()};
  if (percent < 0)
    return;
  if (trace_is_parent (parent)) {
    memcpy (span->trace, parent + 3, 32);
    memcpy (span->parent, parent + 36, 16);
    span->sampled = (g_ascii_xdigit_value (parent[54]) & FLAG_SAMPLE) != 0;
  } else {
    random_digits (span->trace, 16);
    span->sampled = g_random_int_range (0, 100) < percent;
  }
  random_digits (span->span, 8);
}

void
trace_parent_of (const struct trace_span *span, char ret_parent[TRACE_PARENT_BYTES])
{
  *ret_parent = '\0';
  if (*span->span)
    g_snprintf (ret_parent, TRACE_PARENT_BYTES, "00-%s-%s-%02x", span->trace, span->span,
                (guint)span->sampled);
}

void
trace_set_current (const char *parent)
{
  g_strlcpy (current, parent, sizeof current);
}

const char *
trace_current (void)
{
  return *current ? current : NULL;
}

/* ---- spans ---- */

/* As OTLP has attributes: [{"key", "value": {"stringValue": ...}}]. */
static json_t *
trace_attributes (const json_t *attributes)
{
  json_t *list = json_array ();
  const char *key;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)attributes, key, value)
  {
    json_t *typed = NULL;
    if (json_is_string (value))
      typed = json_pack ("{s:O}", "stringValue", value);
    else if (json_is_boolean (value))
      typed = json_pack ("{s:O}", "boolValue", value);
    else if (json_is_integer (value)) {
      g_autofree char *digits = g_strdup_printf ("%" JSON_INTEGER_FORMAT, json_integer_value (value));
      typed = json_pack ("{s:s}", "intValue", digits);
    }
    if (typed)
      json_array_append_new (list, json_pack ("{s:s, s:o}", "key", key, "value", typed));
  }
  return list;
}

static json_t *
trace_time (gint64 us)
{
  g_autofree char *digits = g_strdup_printf ("%" G_GINT64_FORMAT "000", us);
  return json_string (digits);
}

/* SPAN is taken: its count is of one thread at a time. */
static void
trace_add (json_t *span)
{
  g_mutex_lock (&tracer.lock);
  gboolean fits = g_queue_get_length (&tracer.spans) < QUEUE_MAX;
  if (fits)
    g_queue_push_tail (&tracer.spans, span);
  else
    tracer.lost++;
  if (g_queue_get_length (&tracer.spans) >= BATCH_MAX)
    g_cond_signal (&tracer.changed);
  g_mutex_unlock (&tracer.lock);
  if (!fits)
    json_decref (span);
}

void
trace_end (const struct trace_span *span, const char *name, enum trace_kind kind, gint64 end_us,
           json_t *attributes, const char *failure)
{
  if (span->sampled && g_atomic_int_get (&tracer.percent) >= 0) {
    json_t *made =
        json_pack ("{s:s, s:s, s:s, s:i, s:o, s:o}", "traceId", span->trace, "spanId", span->span, "name",
                   name, "kind", (int)kind, "startTimeUnixNano", trace_time (span->start_us),
                   "endTimeUnixNano", trace_time (end_us ? end_us : g_get_real_time ()));
    if (*span->parent)
      json_object_set_new (made, "parentSpanId", json_string (span->parent));
    if (attributes)
      json_object_set_new (made, "attributes", trace_attributes (attributes));
    if (failure)
      json_object_set_new (made, "status",
                           json_pack ("{s:i, s:o}", "code", 2, "message", json_text_or_null (failure)));
    trace_add (made);
  }
  json_decref (attributes);
}

/* ---- sending ---- */

static json_t *
trace_batch (GQueue *spans)
{
  json_t *list = json_array ();
  for (json_t *span; (span = g_queue_pop_head (spans));)
    json_array_append_new (list, span);
  g_autoptr (json_t) resource = json_pack ("{s:s, s:s, s:s}", "service.name", "adder", "service.version",
                                           ADDER_VERSION, "service.instance.id", tracer.node);
  return json_pack ("{s:[{s:{s:o}, s:[{s:{s:s, s:s}, s:o}]}]}", "resourceSpans", "resource", "attributes",
                    trace_attributes (resource), "scopeSpans", "scope", "name", "adder", "version",
                    ADDER_VERSION, "spans", list);
}

/* Whether the collector took them. */
static gboolean
trace_send (GQueue *spans, gint64 most_us, gboolean said)
{
  static const char *const headers[] = {"Content-Type: application/json", NULL};
  g_autoptr (json_t) batch = trace_batch (spans);
  g_autofree char *body = json_to_text (batch);
  const struct http_client_request request = {
      .url = tracer.url,
      .headers = headers,
      .body = body,
      .length = (gint64)strlen (body),
      .deadline_us = g_get_monotonic_time () + most_us,
      .answer_bytes = HTTP_REFUSAL_BYTES,
  };
  g_auto (http_response_t) response = {0};
  (void)http_client_perform (tracer.client, &request, -1, &response);
  gboolean took = response.end == HTTP_ARRIVED && http_response_is_yes (&response);
  if (!took && !said)
    log_warning ("traces are lost: the collector at %s answers %ld %s", tracer.url, response.status,
                 response.reason ? response.reason : "");
  return took;
}

/* Moves the next of them to RET_SPANS; waits for them. FALSE: it is the end. */
static gboolean
trace_take (GQueue *ret_spans, guint64 *ret_lost)
{
  gint64 until_us = g_get_monotonic_time () + PAUSE_US;
  g_mutex_lock (&tracer.lock);
  while (!tracer.ending && g_queue_get_length (&tracer.spans) < BATCH_MAX &&
         g_cond_wait_until (&tracer.changed, &tracer.lock, until_us))
    ;
  for (guint i = 0; i < BATCH_MAX && !g_queue_is_empty (&tracer.spans); i++)
    g_queue_push_tail (ret_spans, g_queue_pop_head (&tracer.spans));
  *ret_lost = tracer.lost;
  tracer.lost = 0;
  gboolean more = !tracer.ending || !g_queue_is_empty (ret_spans);
  g_mutex_unlock (&tracer.lock);
  return more;
}

static gboolean
trace_is_ending (void)
{
  g_mutex_lock (&tracer.lock);
  gboolean ending = tracer.ending;
  g_mutex_unlock (&tracer.lock);
  return ending;
}

static gpointer
trace_live (gpointer data)
{
  (void)data;
  GQueue spans = G_QUEUE_INIT;
  guint64 lost;
  gboolean said = FALSE;
  gint64 end_us = 0;
  while (trace_take (&spans, &lost)) {
    gboolean ending = trace_is_ending ();
    if (ending && end_us == 0)
      end_us = g_get_monotonic_time () + LAST_US;
    gint64 most_us = ending ? end_us - g_get_monotonic_time () : REQUEST_US;
    if (lost > 0)
      log_warning ("%" G_GUINT64_FORMAT " spans were lost: more came than the collector took", lost);
    if (g_queue_is_empty (&spans))
      continue;
    if (most_us <= 0) {
      g_queue_clear_full (&spans, (GDestroyNotify)json_decref);
      continue;
    }
    said = !trace_send (&spans, most_us, said);
  }
  return NULL;
}

gboolean
trace_start (const struct config *config, const char *node, GError **error)
{
  if (!config->tracing_endpoint)
    return TRUE;
  tracer.client = http_client_new (error);
  if (!tracer.client)
    return FALSE;
  gsize length = strlen (config->tracing_endpoint);
  gboolean slash = length > 0 && config->tracing_endpoint[length - 1] == '/';
  tracer.url = g_strconcat (config->tracing_endpoint, slash ? "v1/traces" : "/v1/traces", NULL);
  tracer.node = g_strdup (node);
  g_mutex_init (&tracer.lock);
  g_cond_init (&tracer.changed);
  tracer.thread = g_thread_new ("adder-traces", trace_live, NULL);
  g_atomic_int_set (&tracer.percent, (gint)config->tracing_percent);
  return TRUE;
}

void
trace_stop (void)
{
  if (!tracer.thread)
    return;
  g_atomic_int_set (&tracer.percent, -1);
  g_mutex_lock (&tracer.lock);
  tracer.ending = TRUE;
  g_cond_signal (&tracer.changed);
  g_mutex_unlock (&tracer.lock);
  g_thread_join (g_steal_pointer (&tracer.thread));
  http_client_free (g_steal_pointer (&tracer.client));
  g_clear_pointer (&tracer.url, g_free);
  g_clear_pointer (&tracer.node, g_free);
}
