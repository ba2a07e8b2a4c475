/* SPDX-License-Identifier: Apache-2.0 */
/* Who the caller is to the daemon, what it may do there, and what the daemon has. */
#include <pwd.h>
#include <string.h>

#include "common/field_rows.h"
#include "common/json.h"
#include "common/text.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"
#include "policy/principal.h"
#include "policy/roots.h"

#define ACCOUNT       "uid:"
#define ACCOUNT_BYTES 16384 /* of the entry of an account in the list of users */

/* The name of an account, the caller's; its number where it has none. */
static char *
account_name (const char *number)
{
  char buffer[ACCOUNT_BYTES];
  struct passwd entry, *found = NULL;
  guint64 uid;
  if (g_ascii_string_to_unsigned (number, 10, 0, G_MAXUINT32, &uid, NULL) &&
      getpwuid_r ((uid_t)uid, &entry, buffer, sizeof buffer, &found) == 0 && found &&
      g_utf8_validate (found->pw_name, -1, NULL))
    return g_strdup (found->pw_name);
  return g_strdup (number);
}

/* What people call OWNER: "ci" of "token:ci". The caller's. */
static char *
caller_name (const char *owner)
{
  if (!owner)
    return g_strdup ("");
  if (g_str_has_prefix (owner, ACCOUNT))
    return account_name (owner + strlen (ACCOUNT));
  const char *colon = strchr (owner, ':');
  return g_strdup (colon ? colon + 1 : owner);
}

static json_t *
caller_roots (const struct config *config, const struct principal *who)
{
  if (!who)
    return json_array ();
  g_autoptr (json_t) listed = roots_list (config, who);
  return json_incref (json_object_get (listed, "roots"));
}

static json_t *
caller_expires (const struct principal *who)
{
  g_autofree char *text = who && who->expires_ms > 0 ? text_time (who->expires_ms * 1000) : NULL;
  return json_text_or_null (text);
}

static json_t *
caller_show (const struct operation_call *call, G_GNUC_UNUSED GError **error)
{
  const struct operation_caller *caller = call->caller;
  const struct principal *who = caller->who;
  const struct config *config = caller->engine->engine->host->config;
  const struct store *store = caller->engine->store;
  g_autofree char *name = caller_name (caller->owner);
  return json_pack ("{s:o, s:o, s:o, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:s, s:s, s:b, s:b, s:b}", "owner",
                    json_text_or_null (caller->owner), "name", json_text_or_null (name), "token",
                    json_text_or_null (who ? who->token : NULL), "role", role_name (caller->role),
                    "may_decide", who ? who->may_decide : caller->role == ROLE_ADMIN, "read_only",
                    who && who->read_only, "toolset", json_text_or_null (who ? who->toolset : NULL),
                    "profiles", caller->profiles ? json_of_texts (caller->profiles) : json_null (), "roots",
                    caller_roots (config, who), "expires", caller_expires (who), "version", adder_version (),
                    "node", store_node (store), "models", config->models_for_tools != NULL, "keeps_records",
                    store_keeps_records (store), "keeps_files", store_keeps_files (store));
}

/* ---- the fields ---- */

static const struct field root_fields[] = {
    TEXT ("name", "Its name."),
    TEXT ("mode", "The most that a run may request there: read, overlay or rw."),
    FIELD_END ("CallerRoot"),
};
static const struct field caller_fields[] = {
    TEXT_0 ("owner", "The owner of what the caller makes: uid:NUMBER, token:NAME, oauth:SUBJECT."),
    TEXT ("name", "The same for people."),
    TEXT_0 ("token",
            "The name of the token that identifies it, in a browser as well; null: an account of the "
            "daemon's machine, or a token of the authorization server."),
    TEXT ("role", "The caller's role: guest, user or admin."),
    FLAG ("may_decide", "Whether it may decide for a person."),
    FLAG ("read_only", "Whether it may only read, and run and change nothing."),
    TEXT_0 ("toolset", "The only toolset that it may use."),
    {.name = "profiles",
     .types = FIELD_LIST | FIELD_NULL,
     .items = FIELD_TEXT,
     .text = "Patterns of the profiles that its runs may use; null: all of its role."},
    LIST ("roots", root_fields, "The directories in which its runs may work."),
    TEXT_0 ("expires", "When what identifies it ends, in UTC; null: unknown, or never."),
    TEXT ("version", "Of Adder."),
    TEXT ("node", "The daemon's machine, as records name it."),
    FLAG ("models", "Whether a language model may be asked ([models] for_tools)."),
    FLAG ("keeps_records", "Whether records of runs are kept."),
    FLAG ("keeps_files", "Whether files are kept."),
    FIELD_END ("Caller"),
};
const struct field *const caller_replies[] = {caller_fields, NULL};

/* ---- the table ---- */

const struct operation caller_operations[] = {
    {
        .name = "caller.show",
        .title = "Show who is asking",
        .text = "Who the caller is to the daemon, what it may do there, and what the daemon offers.",
        .role = ROLE_GUEST,
        .params = no_params,
        .replies = caller_replies,
        .run = caller_show,
        .http = {"GET", "/v1/caller", "showCaller", 200},
    },
    {0},
};
