/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on environments: Python interpreters with their packages. */
#include "engine/host/environment.h"

#include "common/field_rows.h"
#include "common/json.h"
#include "operations/fields.h"
#include "operations/operation.h"

/* Where it is on this machine is for admins only. */
static json_t *
environment_summary (const struct environment *environment, enum role role)
{
  gboolean tells = role == ROLE_ADMIN;
  json_t *modules = json_array ();
  for (gsize i = 0; environment->modules && environment->modules[i]; i++)
    json_array_append_new (modules, json_text_or_null (environment->modules[i]));
  json_t *with = json_array ();
  for (gsize i = 0; environment->with && environment->with[i]; i++)
    json_array_append_new (with, json_text_or_null (environment->with[i]));
  return json_pack ("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "name", environment->name, "version",
                    json_text_or_null (environment->version), "python",
                    json_text_or_null (tells ? environment->python : NULL), "directory",
                    json_text_or_null (tells ? environment->directory : NULL), "modules", modules, "base",
                    json_text_or_null (environment->base), "packages", with);
}

static json_t *
environments_list (const struct operation_call *call, G_GNUC_UNUSED GError **error)
{
  g_autoptr (GPtrArray) environments = environment_list ();
  json_t *list = json_array ();
  for (guint i = 0; i < environments->len; i++) {
    const struct environment *environment = environments->pdata[i];
    /* Not every caller may see what others' runs had installed. */
    if (call->caller->role == ROLE_ADMIN || !environment->base)
      json_array_append_new (list, environment_summary (environment, call->caller->role));
  }
  return json_pack ("{s:o}", "environments", list);
}

static const struct field environment_fields[] = {
    TEXT ("name", "The name for runs."),
    TEXT_0 ("version", "Of its Python."),
    TEXT_0 ("python", "The interpreter; for admins."),
    TEXT_0 ("directory", "Where it is; for admins. Null for `system`."),
    TEXTS ("modules", "Preloaded modules."),
    TEXT_0 ("base", "Of one with packages of runs: what it was made of; else null. Only admins see such."),
    TEXTS ("packages", "And those packages."),
    FIELD_END ("Environment"),
};
static const struct field list_fields[] = {
    LIST ("environments", environment_fields, "By name."),
    FIELD_END ("EnvironmentList"),
};

static const struct field *const list_replies[] = {list_fields, NULL};

const struct operation environment_operations[] = {
    {
        .name = "environment.list",
        .title = "List the environments",
        .text = "The Pythons in which code can run, with the modules that each loads ahead.",
        .flags = OPERATION_OWN_FILES,
        .params = no_params,
        .replies = list_replies,
        .run = environments_list,
        .http = {"GET", "/v1/environments", "listEnvironments", 200},
    },
    {0},
};
