/* SPDX-License-Identifier: Apache-2.0 */
/* Results as JSON: docs/results.md describes each field. */
#include "engine/request/result.h"

#include "base/fd.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/request/explain.h"
#include "engine/request/request.h"

#define SCHEMA_VERSION 1

static json_t *
own_or_null (json_t *value)
{
  return value ? json_incref (value) : json_null ();
}

static json_t *
strings (const GPtrArray *list)
{
  json_t *array = json_array ();
  for (guint i = 0; list && i < list->len; i++)
    json_array_append_new (array, json_text_or_null (list->pdata[i]));
  return array;
}

/* Sentences of ours that quote the code, such as names of files. */
static json_t *
lines (const GPtrArray *sentences)
{
  json_t *array = json_array ();
  for (guint i = 0; sentences && i < sentences->len; i++) {
    g_autofree char *line = text_one_line (sentences->pdata[i], -1);
    json_array_append_new (array, json_string (line));
  }
  return array;
}

static json_t *
ms_of (gint64 us)
{
  return json_real ((double)us / 1000);
}

/* ---- parts ---- */

static gboolean
result_is_kept (const struct spill *spill)
{
  return spill && spill->kept;
}

/* TEXT and its length become members named after NAME: "stdout", "stdout_bytes". Returns whether it was
 * cut. */
static gboolean
set_stream (json_t *result, const char *name, const struct capture *capture, const struct spill *spill,
            const struct result_parts *parts)
{
  gboolean cut = FALSE;
  gsize length = 0;
  const struct capture_kept kept = {parts->run_id, name, parts->voice == VOICE_TOOL};
  g_autofree char *text =
      capture ? capture_text (capture, result_is_kept (spill) ? &kept : NULL, &length, &cut) : g_strdup ("");
  json_object_set_new (result, name, json_stringn (text, length));
  return cut;
}

static void
set_streams (json_t *result, const struct result_parts *parts)
{
  gboolean kept = result_is_kept (parts->output_spill) || result_is_kept (parts->errors_spill);
  gboolean cut = set_stream (result, "stdout", parts->output, parts->output_spill, parts);
  cut |= set_stream (result, "stderr", parts->errors, parts->errors_spill, parts);
  json_object_set_new (result, "stdout_bytes",
                       json_integer (parts->output ? (json_int_t)parts->output->total : 0));
  json_object_set_new (result, "stderr_bytes",
                       json_integer (parts->errors ? (json_int_t)parts->errors->total : 0));
  json_object_set_new (result, "truncated", json_boolean (cut));
  json_object_set_new (result, "result_id", kept ? json_string (parts->run_id) : json_null ());
}

static json_t *
result_files (const GPtrArray *artifacts)
{
  json_t *array = json_array ();
  for (guint i = 0; artifacts && i < artifacts->len; i++) {
    const struct artifact *artifact = artifacts->pdata[i];
    json_array_append_new (array, json_pack ("{s:s?, s:o, s:s, s:I, s:s, s:o}", "file_id", artifact->file_id,
                                             "name", json_text_or_null (artifact->name), "mime",
                                             artifact->mime, "bytes", (json_int_t)artifact->bytes, "sha256",
                                             artifact->sha256, "url", json_text_or_null (artifact->url)));
  }
  return array;
}

static json_t *
usage (const struct result_parts *parts)
{
  return json_pack ("{s:o, s:o, s:o, s:I}", "queue_ms", ms_of (parts->queue_us), "wall_ms",
                    ms_of (parts->wall_us), "cpu_ms", ms_of ((gint64)parts->usage.cpu_us),
                    "peak_memory_bytes", (json_int_t)parts->usage.peak_bytes);
}

static json_t *
result_isolation (const struct result_parts *parts)
{
  if (!parts->has_isolation)
    return json_null ();
  const struct container_facts *container = parts->container;
  json_t *facts = container ? json_pack ("{s:s?, s:s?, s:s?, s:s?, s:s?, s:s?}", "engine", container->engine,
                                         "engine_version", container->engine_version, "runtime",
                                         container->runtime, "image", container->image, "version",
                                         container->version, "digest", container->digest)
                            : json_null ();
  return json_pack ("{s:i, s:o, s:s, s:o}", "level", (int)parts->isolation_level, "missing",
                    strings (parts->missing), "backend",
                    backend_names[container ? BACKEND_CONTAINER : BACKEND_NATIVE], "container", facts);
}

/* ---- the whole ---- */

json_t *
result_make (const struct result_parts *parts)
{
  const struct verdict *verdict = &parts->verdict;
  json_t *result = json_pack ("{s:i, s:s, s:s, s:i, s:s?}", "schema_version", SCHEMA_VERSION, "run_id",
                              parts->run_id, "outcome", adder_outcome_name (verdict->outcome), "exit_code",
                              verdict->exit_code, "signal", explain_signal (verdict->signal));
  set_streams (result, parts);
  const struct {
    const char *name;
    json_t *value;
  } fields[] = {
      {"value", own_or_null (parts->value)},
      {"displays", parts->displays ? json_incref (parts->displays) : json_array ()},
      {"charts", parts->charts ? json_incref (parts->charts) : json_array ()},
      {"error", own_or_null (parts->error)},
      {"violations", parts->violations ? json_incref (parts->violations) : json_array ()},
      {"denials", parts->denials ? json_incref (parts->denials) : json_array ()},
      {"network", parts->network ? json_incref (parts->network) : json_array ()},
      {"files", result_files (parts->artifacts)},
      {"changes", parts->changes ? json_incref (parts->changes) : json_array ()},
      {"warnings", lines (parts->warnings)},
      {"approval_id", json_text_or_null (parts->approval_id)},
      {"session", own_or_null (parts->session)},
      {"usage", usage (parts)},
      {"limits", request_limits_to_json (parts->limits, REQUEST_LIMITS_ALL)},
      {"isolation", result_isolation (parts)},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (fields); i++)
    json_object_set_new (result, fields[i].name, fields[i].value);
  return result;
}

const char *
result_text (const struct adder_result *result)
{
  struct adder_result *own = (struct adder_result *)(guintptr)result;
  if (!g_atomic_pointer_get (&own->text)) {
    char *text = json_to_text (own->value);
    if (!g_atomic_pointer_compare_and_exchange (&own->text, NULL, text))
      g_free (text);
  }
  return g_atomic_pointer_get (&own->text);
}

void
result_free (struct adder_result *result)
{
  if (!result)
    return;
  g_clear_pointer (&result->artifacts, g_ptr_array_unref);
  fd_close (&result->workspace_fd);
  scratch_place_free (result->place);
  json_decref (result->value);
  g_free (result->text);
  g_free (result);
}
