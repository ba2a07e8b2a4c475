/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/work.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "apps/agent/external.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/approval_prompt.h"
#include "interfaces/cli/cli.h"

/* ---- options ---- */

void
agent_options_clear (struct agent_options *options)
{
  char *const texts[] = {options->toolset,    options->model,  options->conversation, options->role,
                         options->transcript, options->record, options->out,          options->wait_approval};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  for (gsize i = 0; i < BUDGET_ITEMS; i++)
    g_free (options->budget[i]);
  g_strfreev (options->tools);
}

GArray *
agent_options_entries (struct agent_options *options)
{
#define BUDGET_ENTRY(item)                                                                                   \
  {                                                                                                          \
    budget_rows[item].option, 0, 0, G_OPTION_ARG_FILENAME, &options->budget[item], budget_rows[item].text,   \
        budget_rows[item].argument                                                                           \
  }
  const GOptionEntry entries[] = {
      {"tool", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->tools,
       "Add a program as a tool, described by this file; may be repeated", "FILE"},
      {"model", 'm', 0, G_OPTION_ARG_FILENAME, &options->model,
       "The model: one of adder model list, or replay:FILE", "NAME"},
      BUDGET_ENTRY (BUDGET_STEPS),
      BUDGET_ENTRY (BUDGET_TOKENS),
      BUDGET_ENTRY (BUDGET_TIME),
      BUDGET_ENTRY (BUDGET_COST),
      {"conversation", 0, 0, G_OPTION_ARG_FILENAME, &options->conversation,
       "The conversation of its calls (default: a new one)", "ID"},
      {"role", 0, 0, G_OPTION_ARG_FILENAME, &options->role, "Call tools as a guest, user or admin", "ROLE"},
      {"read-only", 0, 0, G_OPTION_ARG_NONE, &options->read_only, "Only tools that change nothing", NULL},
      {"transcript", 0, 0, G_OPTION_ARG_FILENAME, &options->transcript,
       "Append each step to this file, as a line of JSON", "FILE"},
      {"record", 0, 0, G_OPTION_ARG_FILENAME, &options->record,
       "Append the model's answers to this file, for replay:FILE", "FILE"},
      {"wait-approval", 0, 0, G_OPTION_ARG_FILENAME, &options->wait_approval,
       "If approval is required, wait for this long and do not ask here", "TIME"},
      {"dangerously-accept-all", 0, 0, G_OPTION_ARG_NONE, &options->accept_all,
       "Approve everything without asking; this is logged", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options->no_daemon,
       "Call tools in this process, without a daemon", NULL},
  };
  GArray *all = g_array_new (TRUE, FALSE, sizeof (GOptionEntry));
  return g_array_append_vals (all, entries, G_N_ELEMENTS (entries));
}

/* ---- what they open ---- */

static gboolean
take_budget (struct agent_work *work, GError **error)
{
  budget_init (&work->budget);
  for (enum budget_item item = 0; item < BUDGET_ITEMS; item++)
    if (work->options->budget[item] && !budget_set (&work->budget, item, work->options->budget[item], error))
      return FALSE;
  return TRUE;
}

static gboolean
take_wait (struct agent_work *work, GError **error)
{
  if (!work->options->wait_approval ||
      duration_parse (work->options->wait_approval, 1000, &work->wait_ms, error))
    return TRUE;
  g_prefix_error (error, "--wait-approval: ");
  return FALSE;
}

static gboolean
load_tools (struct agent_work *work, GError **error)
{
  for (char **file = work->options->tools; file && *file; file++) {
    struct external *external = external_load (*file, error);
    if (!external)
      return FALSE;
    g_ptr_array_add (work->external, external);
  }
  if (work->external->len <= EXTERNAL_MAX)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there are more than %d tools", EXTERNAL_MAX);
  return FALSE;
}

static gboolean
open_out (struct agent_work *work, GError **error)
{
  const char *out = work->out;
  if (!out)
    return TRUE;
  if (g_mkdir_with_parents (out, 0777) < 0)
    return error_from_errno (error, errno, "cannot make the directory %s", out);
  work->out_fd = open (out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return work->out_fd >= 0 || error_from_errno (error, errno, "cannot open the directory %s", out);
}

static gboolean
open_model (struct agent_work *work, GError **error)
{
  const char *record = work->options->record;
  work->model = model_open (work->options->model, error);
  return work->model && (!record || model_record (work->model, record, error));
}

static gboolean
open_event_logs (struct agent_work *work, GError **error)
{
  return (!work->options->transcript ||
          (work->transcript = event_log_open (work->options->transcript, error))) &&
         (!work->options->json || (work->json = event_log_open (NULL, error)));
}

static enum approval_end
work_approve (gpointer data, const char *id, GError **error)
{
  struct agent_work *work = data;
  gint64 left_ms = MAX (agent_deadline_us (work->agent) - g_get_monotonic_time (), 0) / 1000;
  const struct approval_way way = {
      .call = call_backend_operation,
      .data = work->backend,
      .signals = work->signals,
      .prompt = TRUE,
      .quiet = work->options->json,
      .waits = work->options->wait_approval != NULL,
      .wait_ms = MIN (work->wait_ms, (guint64)left_ms),
  };
  enum approval_end end = approval_seek (&way, id, error);
  signal_handler_set_source (work->signals, work->ending);
  return end;
}

static gboolean
make_agent (struct agent_work *work, gboolean reports, GError **error)
{
  const struct agent_options *options = work->options;
  const struct agent_settings settings = {
      .model = work->model,
      .budget = work->budget,
      .typed = work->typed,
      .intro = work->intro,
      .tools =
          {
              .config = work->config,
              .backend = work->backend,
              .toolset = work->toolset,
              .external = work->external,
              .conversation = options->conversation,
              .role = options->role,
              .read_only = options->read_only,
              .accept_all = options->accept_all,
              .reports = reports,
              .context = &work->context,
              .place = {.out_fd = work->out_fd, .out = work->out},
              .approve = work_approve,
              .approve_data = work,
          },
  };
  work->agent = agent_new (&settings, error);
  return work->agent != NULL;
}

/* ---- from outside ---- */

void
agent_work_init (struct agent_work *work, const struct agent_options *options, struct event_source *ending)
{
  *work = (struct agent_work){
      .options = options,
      .out_fd = -1,
      .context = CALLER_CONTEXT_NONE,
      .ending = ending,
      .out = g_strdup (options->out),
  };
  work->signals = signal_handler_start ();
  work->external = g_ptr_array_new_with_free_func ((GDestroyNotify)external_free);
}

gboolean
agent_work_begin (struct agent_work *work, gboolean reports, GError **error)
{
  return take_budget (work, error) && take_wait (work, error) && load_tools (work, error) &&
         open_model (work, error) && (work->config = config_load (NULL, error)) &&
         caller_context_take (&work->context, work->toolset->name, NULL, error) && open_out (work, error) &&
         open_event_logs (work, error) &&
         (work->backend = call_backend_new (work->options->no_daemon, error)) &&
         make_agent (work, reports, error);
}

gboolean
agent_work_end (struct agent_work *work, GError **error)
{
  agent_free (work->agent);
  call_backend_free (work->backend);
  model_free (work->model);
  config_free (work->config);
  g_ptr_array_unref (work->external);
  caller_context_clear (&work->context);
  fd_close (&work->out_fd);
  g_free (work->out);
  gboolean written = event_log_close (work->transcript, error);
  return event_log_close (work->json, written ? error : NULL) && written;
}

void
agent_work_describe (const struct agent_work *work, json_t *line)
{
  const struct model_facts *facts = model_facts (work->model);
  g_autofree char *now = text_time (g_get_real_time ());
  g_autoptr (json_t) about =
      json_pack ("{s:s, s:o, s:o, s:b, s:s, s:s, s:o}", "started", now, "model",
                 json_text_or_null (facts->name), "provider", json_text_or_null (facts->provider), "replay",
                 facts->is_replay, "toolset", work->toolset->name, "steps", work->typed ? "typed" : "native",
                 "conversation", json_text_or_null (agent_conversation (work->agent)));
  json_object_update (line, about);
}

void
agent_work_warn (const struct agent_work *work)
{
  const struct model_facts *facts = model_facts (work->model);
  if (facts->is_replay && !work->json)
    fprintf (stderr, "%sadder: the answers come from %s%s\n", cli_colour (stderr, CLI_YELLOW),
             facts->provider, cli_colour (stderr, CLI_PLAIN));
}

void
agent_work_write (struct agent_work *work, json_t *line)
{
  if (work->transcript)
    event_log_write (work->transcript, line);
  if (work->json)
    event_log_write (work->json, line);
  json_decref (line);
}
