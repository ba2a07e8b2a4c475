/* SPDX-License-Identifier: Apache-2.0 */
/* Records in include/adder.h: filters from JSON, answers to it. */
#include <string.h>

#include "common/json.h"
#include "library/library.h"
#include "store/records.h"

/* Takes VALUE; NULL stays NULL. */
static char *
text_of (json_t *value)
{
  char *text = value ? json_to_text (value) : NULL;
  json_decref (value);
  return text;
}

/* *RET_FILTERS is NULL where TEXT is. */
static gboolean
parse_filters (const char *text, json_t **ret_filters, GError **error)
{
  json_t *filters = text ? json_parse_object (text, strlen (text), "the filter of records", error) : NULL;
  if (text && !filters)
    return FALSE;
  *ret_filters = filters;
  return TRUE;
}

char *
adder_record_list (AdderEngine *engine, const char *owner, const char *filters, GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  g_autoptr (json_t) parsed = NULL;
  if (!parse_filters (filters, &parsed, error))
    return NULL;
  return text_of (records_list (engine->store, owner, parsed, error));
}

char *
adder_record_show (AdderEngine *engine, const char *owner, const char *run_id, GError **error)
{
  g_return_val_if_fail (engine != NULL && run_id != NULL, NULL);
  return text_of (records_show (engine->store, owner, run_id, error));
}

char *
adder_record_stats (AdderEngine *engine, const char *owner, const char *filters, GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  g_autoptr (json_t) parsed = NULL;
  if (!parse_filters (filters, &parsed, error))
    return NULL;
  return text_of (records_stats (engine->store, owner, parsed, error));
}

char *
adder_record_export (AdderEngine *engine, const char *owner, const char *filters, const char *format, int fd,
                     GError **error)
{
  g_return_val_if_fail (engine != NULL && format != NULL && fd >= 0, NULL);
  g_autoptr (json_t) parsed = NULL;
  if (!parse_filters (filters, &parsed, error))
    return NULL;
  return text_of (records_export (engine->store, owner, parsed, format, fd, error));
}

char *
adder_record_verify (AdderEngine *engine, const char *head, GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  return text_of (records_verify (engine->store, head, error));
}
