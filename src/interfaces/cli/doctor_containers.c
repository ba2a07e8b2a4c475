/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/doctor_containers.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "containers/client.h"
#include "containers/find.h"
#include "containers/image.h"
#include "interfaces/cli/view/doctor_rows.h"
#include "library/library.h"

#define INFO_MS    10000
#define NONE_COST  "without it runs that ask for a container have a sandbox of the host's, and a warning"
#define TRIAL_CODE "6 * 7"

/* ---- looking ---- */

static void
add_check (json_t *told, const char *name, gboolean good, const char *text)
{
  json_array_append_new (
      json_object_get (told, "checks"),
      json_pack ("{s:s, s:b, s:o}", "name", name, "good", good, "text", json_text_or_null (text)));
}

static gboolean
is_rootless (const struct container_client *client, const json_t *info)
{
  gsize index;
  json_t *option;
  json_array_foreach (json_object_get (info, "SecurityOptions"), index,
                      option) if (g_strcmp0 (json_string_value (option), "name=rootless") == 0) return TRUE;
  return container_is_rootless (container_client_socket (client));
}

static struct container_client *
look_at_engine (const struct config *config, json_t *told, json_t **ret_info)
{
  g_autoptr (GError) problem = NULL;
  struct container_client *client = container_client_new (config, &problem);
  *ret_info = NULL;
  if (!client || !container_client_call (client, "GET", "/info", NULL, INFO_MS, ret_info, &problem)) {
    add_check (told, "engine", FALSE, problem->message);
    container_client_free (client);
    return NULL;
  }
  const char *name = container_client_name (client), *version = container_client_version (client);
  const char *socket = container_client_socket (client);
  gboolean rootless = is_rootless (client, *ret_info);
  json_object_set_new (told, "engine", json_text_or_null (name));
  json_object_set_new (told, "engine_version", json_text_or_null (version));
  json_object_set_new (told, "socket", json_text_or_null (socket));
  json_object_set_new (told, "rootless", json_boolean (rootless));
  g_autofree char *text =
      g_strdup_printf ("%s %s%s, on %s", name, version, rootless ? ", rootless" : "", socket);
  add_check (told, "engine", TRUE, text);
  return client;
}

/* Podman itself finds a runtime given as a path. */
static gboolean
doctor_containers_look_at_runtime (const struct config *config, const json_t *info, json_t *told)
{
  json_t *known = json_object_get (info, "Runtimes");
  const char *standard = json_string_value (json_object_get (info, "DefaultRuntime"));
  const char *wanted = config->container_runtime ? config->container_runtime : standard;
  json_t *names = json_array ();
  g_autoptr (GString) list = g_string_new (NULL);
  const char *name;
  json_t *runtime;
  json_object_foreach (known, name, runtime)
  {
    json_array_append_new (names, json_string (name));
    g_string_append_printf (list, "%s%s", list->len > 0 ? ", " : "", name);
  }
  gboolean good = !config->container_runtime || wanted[0] == '/' || json_object_get (known, wanted) != NULL;
  g_autofree char *text =
      good
          ? g_strdup_printf ("%s (of %s)", wanted ? wanted : "the engine's", list->len > 0 ? list->str : "it")
          : g_strdup_printf ("the engine knows no runtime %s, only %s: name it in the engine's configuration "
                             "(Docker: \"runtimes\" in /etc/docker/daemon.json), and start the engine anew",
                             wanted, list->str);
  json_object_set_new (told, "runtime", json_text_or_null (wanted));
  json_object_set_new (told, "runtimes", names);
  add_check (told, "runtime", good, text);
  return good;
}

/* An outdated image is still usable. */
static gboolean
look_at_image (const struct config *config, struct container_client *client, json_t *told)
{
  g_autoptr (GError) problem = NULL;
  struct container_image *image = container_image_look (client, config->container_image, &problem);
  if (!image) {
    add_check (told, "image", FALSE, problem->message);
    return FALSE;
  }
  g_autofree char *built = image->built_us ? text_time (image->built_us) : NULL;
  g_autofree char *warning = container_image_warning (image, config->container_image_age_ms);
  json_object_set_new (told, "image",
                       json_pack ("{s:o, s:o, s:o, s:o, s:I, s:o}", "name", json_text_or_null (image->name),
                                  "version", json_text_or_null (image->version), "digest",
                                  json_text_or_null (image->digest), "built", json_text_or_null (built),
                                  "bytes", (json_int_t)image->bytes, "warning", json_text_or_null (warning)));
  g_autofree char *text = g_strdup_printf ("%s, adder %s, packages of %.10s, %.19s", image->name,
                                           image->version, built ? built : "an unknown day", image->digest);
  add_check (told, "image", !warning, warning ? warning : text);
  container_image_free (image);
  return TRUE;
}

static gboolean
doctor_containers_try_run (json_t *told)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (AdderEngine) engine = adder_engine_new (NULL, &problem);
  g_autoptr (AdderRequest) request = adder_request_new (TRIAL_CODE, -1);
  if (!engine) {
    add_check (told, "run", FALSE, problem->message);
    return FALSE;
  }
  adder_request_set_isolation (request, "container");
  g_autoptr (AdderResult) result = adder_run (engine, request);
  g_autoptr (json_t) object = library_result (result);
  const json_t *isolation = json_object_get (object, "isolation");
  const json_t *message = json_object_get (json_object_get (object, "error"), "message");
  const char *outcome = adder_outcome_name (adder_result_outcome (result));
  gboolean well = adder_result_outcome (result) == ADDER_OUTCOME_OK;
  json_t *level = json_object_get (isolation, "level");
  json_object_set_new (told, "trial",
                       json_pack ("{s:s, s:O?, s:O?, s:O?}", "outcome", outcome, "level", level, "missing",
                                  json_object_get (isolation, "missing"), "message", message));
  g_autofree char *text =
      g_strdup_printf ("a run in a container reached isolation level %d", (int)json_integer_value (level));
  const char *words = json_string_value (message);
  add_check (told, "run", well, well ? text : words ? words : outcome);
  return well;
}

json_t *
doctor_look_at_containers (const struct config *config)
{
  json_t *told = json_pack ("{s:b, s:s, s:n, s:n, s:n, s:n, s:n, s:[], s:n, s:[], s:n}", "ready", 0, "wanted",
                            config->container_engine, "engine", "engine_version", "socket", "rootless",
                            "runtime", "runtimes", "image", "checks", "trial");
  json_t *info;
  struct container_client *client = look_at_engine (config, told, &info);
  gboolean ready = client && doctor_containers_look_at_runtime (config, info, told) &&
                   look_at_image (config, client, told);
  container_client_free (client);
  json_decref (info);
  ready = ready && doctor_containers_try_run (told);
  json_object_set_new (told, "ready", json_boolean (ready));
  return told;
}

/* ---- telling ---- */

void
doctor_print_containers (const json_t *containers)
{
  if (!containers)
    return;
  printf ("\ncontainers\n");
  doctor_print_rows (json_object_get (containers, "checks"), "to get it");
  if (!json_is_true (json_object_get (containers, "ready")))
    printf ("    %-16s %s\n", "", NONE_COST);
}
