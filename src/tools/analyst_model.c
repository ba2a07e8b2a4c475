/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's operator pays for its model, so each owner's questions are counted. */
#include "common/config.h"
#include "library/library.h"
#include "policy/rates.h"
#include "tools/analyst.h"

static gboolean
analyst_model_enter (struct call *call, GError **error)
{
  const struct config *config = call->tools->config;
  guint *again_s = &call->reply->again_s;
  switch (rates_enter (call->tools->engine->questions, call->caller->owner, config->models_rate,
                       config->models_concurrent, g_get_monotonic_time (), again_s)) {
  case RATES_YES:
    return TRUE;
  case RATES_TOO_MANY:
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "too many questions of yours to the model here are under way ([models] concurrent of "
                 "adder.conf): wait for their answers, or use scan_csv and run_analysis; again in %u s",
                 *again_s);
    return FALSE;
  case RATES_TOO_OFTEN:
  default:
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "you have asked the model here as often as you may ([models] rate of adder.conf): use "
                 "scan_csv and run_analysis, or wait; again in %u s",
                 *again_s);
    return FALSE;
  }
}

struct model *
analyst_model_open (struct call *call, GError **error)
{
  const char *name = call->tools->config->models_for_tools;
  if (!name) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
        "no model answers here ([models] for_tools of adder.conf names none): use scan_csv, write the code, "
        "and pass it to run_analysis, or to this tool as code");
    return NULL;
  }
  if (!analyst_model_enter (call, error))
    return NULL;
  struct model *model = model_open (name, error);
  if (!model)
    rates_leave (call->tools->engine->questions, call->caller->owner);
  return model;
}

void
analyst_model_close (struct call *call, struct model *model)
{
  if (!model)
    return;
  model_free (model);
  rates_leave (call->tools->engine->questions, call->caller->owner);
}
