/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request/packages.h"

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "engine/host/host.h"
#include "engine/pool/pool.h"

#define ADVICE "Pass it with the run, or with the session when it is created: "

static const char *const advices[] = {
    [PACKAGES_NONE] = "Use what is there, or ask the user for an environment that has it.",
    [PACKAGES_OPTION] = ADVICE "--with NAME installs it before the code starts.",
    [PACKAGES_MEMBER] = ADVICE "its member packages has it installed before the code starts.",
};

const char *
packages_advice (enum packages_way way)
{
  return advices[way];
}

/* An interpreter runs the .pth files of packages when it starts: that must be confined. */
static gboolean
packages_check_isolation (const struct engine *engine, const struct run_request *request, GError **error)
{
  enum isolation isolation = request->isolation;
  if (isolation == ISOLATION_AUTO || (isolation == ISOLATION_CONTAINER && request->falls_back))
    isolation = engine->host->isolation;
  if (isolation == ISOLATION_NAMESPACES)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "packages of a run need isolation \"namespaces\" (level 2), and not \"%s\"",
               isolation_names[isolation]);
  return FALSE;
}

int
packages_begin (const struct engine *engine, const struct run_request *request, GError **error)
{
  const struct config *config = engine->host->config;
  const char *const *with = (const char *const *)request->with;
  gboolean ready = FALSE;
  if (!packages_check_isolation (engine, request, error))
    return -1;
  g_autofree char *name = environment_with_find (request->environment, with, config, &ready, error);
  const struct environment_with_order order = {name, request->environment, request->owner, with};
  return !name || ready ? -1 : environment_with_start (&order, config, error);
}

enum environment_with_said
packages_read (const struct engine *engine, int fd, char **ret_text, GError **error)
{
  *ret_text = NULL;
  enum environment_with_said said = environment_with_read (fd, ret_text, error);
  if (said != ENVIRONMENT_WITH_ROOM)
    return said;
  pools_rest_idle (engine->pools);
  return ENVIRONMENT_WITH_PROGRESS;
}

gboolean
packages_await (const struct engine *engine, const struct run_request *request, struct interrupt *interrupt,
                GError **error)
{
  g_autoptr (GError) problem = NULL;
  autoclose int fd = packages_begin (engine, request, &problem);
  enum environment_with_said said = problem ? ENVIRONMENT_WITH_FAILED : ENVIRONMENT_WITH_PROGRESS;
  while (fd >= 0 && said == ENVIRONMENT_WITH_PROGRESS) {
    g_autofree char *text = NULL;
    enum wait wait = interrupt_wait_one (interrupt, fd, POLLIN, -1);
    if (wait == WAIT_CANCELLED) {
      g_set_error_literal (&problem, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the run was cancelled");
      break;
    }
    if (wait == WAIT_READY)
      said = packages_read (engine, fd, &text, &problem);
  }
  if (!problem)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

char *
packages_environment (const struct engine *engine, const struct run_request *request, GError **error)
{
  gboolean ready = FALSE;
  if (!request->with || !request->with[0])
    return g_strdup (request->environment);
  g_autofree char *name = environment_with_find (request->environment, (const char *const *)request->with,
                                                 engine->host->config, &ready, error);
  if (!name || ready)
    return g_steal_pointer (&name);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
               "the environment %s changed while packages were installed, or they made room for others: ask "
               "again",
               request->environment);
  return NULL;
}
