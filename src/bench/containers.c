/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in containers, and what one would do without Adder: the engine's own `run`, for which its command has
 * to be installed. */
#include <string.h>

#include "bench/bench.h"
#include "common/config.h"
#include "common/json.h"
#include "containers/client.h"
#include "containers/image.h"
#include "library/library.h"

/* One may take so long to be ready on a busy machine. */
#define READY_US (60 * G_USEC_PER_SEC)
#define LOOK_US  1000

/* ---- what there is ---- */

/* It has in common with a run of Adder's: no network, nothing that stays, one thread, the fonts that were
 * found when the image was made. */
static GStrv
run_command (const struct container_client *client, const char *image)
{
  const char *name = container_client_name (client);
  g_autofree char *program = g_find_program_in_path (name);
  g_autofree char *address = g_strdup_printf ("unix://%s", container_client_socket (client));
  const char *words[] = {program,
                         strcmp (name, "podman") == 0 ? "--url" : "--host",
                         address,
                         "run",
                         "--rm",
                         "--network",
                         "none",
                         "--user",
                         "65534:65534",
                         "--env",
                         "HOME=/tmp",
                         "--env",
                         "MPLCONFIGDIR=/usr/share/adder/cache",
                         "--env",
                         "OPENBLAS_NUM_THREADS=1",
                         "--tmpfs",
                         "/run/workspace/tmp:mode=1777",
                         "--entrypoint",
                         "/usr/bin/python3",
                         image,
                         "-c",
                         NULL};
  return program ? g_strdupv ((char **)words) : g_new0 (char *, 1);
}

/* FALSE with ADDER_ERROR_UNSUPPORTED: no run can be in a container here, and why. */
static gboolean
containers_look (struct bench *bench, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if (bench->docker_run)
    return TRUE;
  struct config *config = config_load (NULL, &problem);
  struct container_client *client = config ? container_client_new (config, &problem) : NULL;
  struct container_image *image =
      client ? container_image_look (client, config->container_image, &problem) : NULL;
  if (image)
    bench->docker_run = run_command (client, image->name);
  else
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, problem->message);
  container_image_free (image);
  container_client_free (client);
  if (config)
    config_free (config);
  return image != NULL;
}

static gboolean
containers_need_engine (struct bench *bench, AdderEngine **engine, const char *file, GError **error)
{
  if (!containers_look (bench, error))
    return FALSE;
  if (*engine)
    return TRUE;
  g_autofree char *path = g_build_filename (bench->directory, "config", file, NULL);
  *engine = adder_engine_new (path, error);
  return *engine != NULL;
}

/* ---- running ---- */

static gboolean
run_in (AdderEngine *engine, const char *code, double *ret_ms, char **ret_stdout, GError **error)
{
  g_autoptr (AdderRequest) request = adder_request_new (code, -1);
  adder_request_set_isolation (request, "container");
  return bench_run_request (engine, request, ret_ms, ret_stdout, error);
}

/* Whether a container waits and none is on its way: the engine that makes one would take turns with the run.
 * Before the first run there is no pool. */
static gboolean
is_settled (AdderEngine *engine)
{
  g_autoptr (json_t) status = library_status (engine);
  gboolean settled = TRUE;
  gsize index;
  json_t *pool;
  json_array_foreach (json_object_get (status, "pools"), index, pool) settled =
      settled && json_integer_value (json_object_get (pool, "parked")) > 0 &&
      json_integer_value (json_object_get (pool, "parking")) == 0;
  return settled;
}

gboolean
bench_run_container_pooled (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout,
                            GError **error)
{
  if (!containers_need_engine (bench, &bench->contained, BENCH_CONFIG_FILE, error))
    return FALSE;
  gint64 until = g_get_monotonic_time () + READY_US;
  while (!is_settled (bench->contained) && g_get_monotonic_time () < until)
    g_usleep (LOOK_US);
  return run_in (bench->contained, code, ret_ms, ret_stdout, error);
}

gboolean
bench_run_container_cold (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout,
                          GError **error)
{
  return containers_need_engine (bench, &bench->uncontained, BENCH_UNPARKED_FILE, error) &&
         run_in (bench->uncontained, code, ret_ms, ret_stdout, error);
}

gboolean
bench_run_docker (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout, GError **error)
{
  if (!containers_look (bench, error))
    return FALSE;
  if (!bench->docker_run[0]) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                         "the command of the container engine is not installed");
    return FALSE;
  }
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  for (char **word = bench->docker_run; *word; word++)
    g_ptr_array_add (words, *word);
  g_ptr_array_add (words, (char *)(guintptr)code);
  g_ptr_array_add (words, NULL);
  return bench_process ((const char *const *)words->pdata, bench->plain_variables, bench->directory, ret_ms,
                        ret_stdout, error);
}
