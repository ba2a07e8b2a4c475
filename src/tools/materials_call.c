/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/materials_call.h"

const struct field materials_provider_fields[] = {
    TEXT ("name", "By which it is named in parameters and sources."),
    TEXT ("title", "For people."),
    TEXT ("url", "Where it was asked."),
    TEXT ("state", "ok, partial (it gave some, then failed or was cut off) or failed."),
    WHOLE ("records", "How many it gave."),
    WHOLE ("pages", "In so many answers."),
    WHOLE_0 ("available", "How many it says that it has; null: it does not say."),
    WHOLE ("duplicates", "Records that it gave more than once, left out."),
    WHOLE ("skipped", "Records that are no structures, left out."),
    WHOLE ("wall_ms", "How long it took, in milliseconds."),
    TEXT_0 ("error", "What went wrong."),
    TEXT_0 ("hint", "What to do about it."),
    {0},
};

const char **
call_texts (const struct call *call, const char *name)
{
  const json_t *list = json_object_get (call->arguments, name);
  gsize index;
  json_t *item;
  if (json_array_size (list) == 0)
    return NULL;
  const char **texts = g_new0 (const char *, json_array_size (list) + 1);
  json_array_foreach (list, index, item) texts[index] = json_string_value (item);
  return texts;
}

/* Models send empty texts and lists for omitted arguments. */
const char *
call_said (const struct call *call, const char *name)
{
  const char *text = call_text (call, name);
  return text && text[0] != '\0' ? text : NULL;
}

void
materials_call_read (const struct call *call, struct materials_call *ret_search)
{
  struct materials_call read = {.elements = call_texts (call, "elements"),
                                .providers = call_texts (call, "providers")};
  read.search = (struct materials_search){
      .config = call->tools->config,
      .query =
          {
              .elements = read.elements,
              .formula = call_said (call, "formula"),
              .nsites_least = (guint)call_integer (call, "nsites_min"),
              .nsites_most = (guint)call_integer (call, "nsites_max"),
              .filter = call_said (call, "filter"),
          },
      .providers = read.providers,
      .limit = (guint)call_integer (call, "limit"),
      .wait_ms = (guint64)call_integer (call, "timeout") * 1000,
      .raw = call_flag (call, "raw"),
  };
  *ret_search = read;
}

void
materials_call_clear (struct materials_call *search)
{
  g_clear_pointer (&search->elements, g_free);
  g_clear_pointer (&search->providers, g_free);
}

/* ---- progress ---- */

static void
materials_call_saw (gpointer data, const struct materials_progress *progress)
{
  g_autofree char *text = g_strdup_printf (
      "%u of %u providers done, %u page%s, %u row%s%s%s", progress->providers_done, progress->providers,
      progress->pages, progress->pages == 1 ? "" : "s", progress->rows, progress->rows == 1 ? "" : "s",
      progress->provider ? ", last from " : "", progress->provider ? progress->provider : "");
  call_progress (data, text, progress->providers_done, progress->providers);
}

void
materials_call_watch (struct call *call, struct materials_watch *ret_watch)
{
  *ret_watch =
      (struct materials_watch){.cancel_fd = call_cancel_fd (call), .saw = materials_call_saw, .data = call};
}
