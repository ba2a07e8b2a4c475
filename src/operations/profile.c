/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on profiles: the named sets of limits and rules. */
#include "policy/profile.h"

#include "common/field_rows.h"
#include "common/json.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"

/* ---- the functions ---- */

static gboolean
profile_is_for (const struct profile *profile, const struct operation_caller *caller, GError **error)
{
  return !caller->engine || (role_may_use_profile (caller->engine->engine->host->config, caller->role,
                                                   profile->name, (enum role)profile->role, error) &&
                             library_allows_profile (caller->profiles, profile->name, error));
}

/* Files that are no profiles are for admins only. */
static json_t *
profile_list (const struct operation_call *call, G_GNUC_UNUSED GError **error)
{
  g_auto (GStrv) names = profile_names ();
  json_t *profiles = json_array (), *broken = json_array ();
  for (gsize i = 0; names[i]; i++) {
    g_autoptr (GError) problem = NULL;
    struct profile *profile = profile_load (names[i], &problem);
    if (profile && profile_is_for (profile, call->caller, NULL))
      json_array_append_new (profiles, json_pack ("{s:s, s:s, s:o}", "name", profile->name, "role",
                                                  role_name ((enum role)profile->role), "title",
                                                  json_text_or_null (profile->title)));
    else if (!profile && call->caller->role == ROLE_ADMIN)
      json_array_append_new (broken, json_pack ("{s:s, s:s}", "name", names[i], "problem", problem->message));
    profile_free (profile);
  }
  return json_pack ("{s:o, s:o}", "profiles", profiles, "broken", broken);
}

/* Its path and where its secrets are, for admins only. */
static void
hide_places (json_t *profile)
{
  static const char *const secrets[] = {"secret_file", "secret_variable"};
  json_object_set_new (profile, "file", json_null ());
  for (gsize i = 0; i < G_N_ELEMENTS (secrets); i++)
    json_object_set_new (json_object_get (profile, "network"), secrets[i], json_null ());
}

static json_t *
profile_show (const struct operation_call *call, GError **error)
{
  struct profile *profile = profile_load (operation_text (call, "profile"), error);
  json_t *value = profile && profile_is_for (profile, call->caller, error) ? profile_to_json (profile) : NULL;
  if (value && call->caller->role < ROLE_ADMIN)
    hide_places (value);
  profile_free (profile);
  return value;
}

/* ---- the fields ---- */

static const struct field listed_fields[] = {
    TEXT ("name", "The name for runs."),
    TEXT ("role", "The lowest role that may use it."),
    TEXT_0 ("title", "A title for people."),
    FIELD_END ("ProfileSummary"),
};
static const struct field broken_fields[] = {
    TEXT ("name", "Of the file, without its ending."),
    TEXT ("problem", "What is wrong with it, and where."),
    FIELD_END ("BrokenProfile"),
};
static const struct field list_fields[] = {
    LIST ("profiles", listed_fields, "By name."),
    LIST ("broken", broken_fields, "Profiles that cannot be read; for admins."),
    FIELD_END ("ProfileList"),
};

/* The keys are those of profiles: docs/profile-keys.md. */
static const struct field profile_fields[] = {
    TEXT ("name", "The name for runs."),
    TEXT_0 ("file", "Its path on the daemon's machine; for admins."),
    TEXT_0 ("title", "A title for people."),
    TEXT_0 ("environment", "The default environment."),
    WHOLE ("min_isolation", "The lowest isolation level at which it may be used."),
    TEXT ("role", "The lowest role that may use it."),
    TEXT ("approval", "Whether a person must approve: never, effect or always."),
    {.name = "mitigations",
     .types = FIELD_LIST | FIELD_NULL,
     .items = FIELD_TEXT,
     .text = "Mitigations against timing attacks."},
    TEXT ("tables", "The format in which displayed tables are stored, or none."),
    FLAG ("keep_files", "Whether output and files of its runs are stored."),
    TEXT ("backend", "native, or container."),
    MAP ("limits", FIELD_INTEGER, "Each limit."),
    MAP ("maxima", FIELD_INTEGER, "The most that a run may request, for each limit."),
    MAP ("session", FIELD_ANY, "The keys of [session]."),
    MAP ("packages", FIELD_ANY, "The keys of [packages]."),
    MAP ("variables", FIELD_TEXT, "Environment variables of its runs."),
    MAP ("blocked", FIELD_ANY, "The keys of [blocked]."),
    MAP ("guard", FIELD_ANY, "The keys of [guard]."),
    MAP ("workdir", FIELD_ANY, "The keys of [workdir]."),
    MAP ("network", FIELD_ANY, "The keys of [network]; where a secret is stored, for admins."),
    FIELD_END ("Profile"),
};

static const struct field show_params[] = {
    {.name = "profile",
     .types = FIELD_TEXT,
     .pattern = "^[A-Za-z0-9][a-z0-9_-]{0,63}$",
     .pattern_words = "a profile's name",
     .text = "Its name."},
    {0},
};
static const struct field *const list_replies[] = {list_fields, NULL};
static const struct field *const show_replies[] = {profile_fields, NULL};

/* ---- the table ---- */

#define PROFILES "/v1/profiles"

const struct operation profile_operations[] = {
    {
        .name = "profile.list",
        .title = "List the profiles",
        .text = "Those that the caller may use.",
        .flags = OPERATION_OWN_FILES,
        .params = no_params,
        .replies = list_replies,
        .run = profile_list,
        .http = {"GET", PROFILES, "listProfiles", 200},
    },
    {
        .name = "profile.show",
        .title = "Show a profile",
        .text = "All its keys, and the maxima of its limits. Those that the caller may use.",
        .flags = OPERATION_OWN_FILES,
        .params = show_params,
        .replies = show_replies,
        .run = profile_show,
        .http = {"GET", PROFILES "/{profile}", "showProfile", 200},
    },
    {0},
};
