/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on tokens: who has access over HTTP. A token made with another never has more rights than that
 * (policy/token_rights.h), and its secret is in the answer alone. */
#include <string.h>

#include "common/config.h"
#include "common/field_rows.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"
#include "policy/profile.h"
#include "policy/profile_list.h"
#include "policy/roots.h"
#include "policy/token_place.h"
#include "policy/token_rights.h"

#define TOKEN_ROOTS_MAX    100
#define TOKEN_PROFILES_MAX 100

/* ---- the functions ---- */

/* The configuration of CALL, or that of this user, which *RET_OWNED has then, to be freed. */
static const struct config *
token_config (const struct operation_call *call, struct config **ret_owned, GError **error)
{
  *ret_owned = call->caller->engine ? NULL : config_load (NULL, error);
  return call->caller->engine ? call->caller->engine->engine->host->config : *ret_owned;
}

/* Where they are; the caller's. */
static struct token_place *
locate_tokens (const struct operation_call *call, GError **error)
{
  AdderEngine *engine = call->caller->engine;
  struct config *owned;
  const struct config *config = token_config (call, &owned, error);
  struct token_place *place = config ? token_place_new (config, engine ? engine->store : NULL, error) : NULL;
  config_free (owned);
  return place;
}

static GPtrArray *
read_tokens (const struct operation_call *call, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (token_place_auto) place = locate_tokens (call, error);
  GPtrArray *tokens = place ? token_place_read (place, &problem) : NULL;
  /* The error is not the caller's. */
  if (problem)
    g_set_error_literal (error, ADDER_ERROR,
                         g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE)
                             ? ADDER_ERROR_UNAVAILABLE
                             : ADDER_ERROR_FAILED,
                         store_told (call->caller->owner, problem));
  return tokens;
}

static json_t *
token_list (const struct operation_call *call, GError **error)
{
  g_autoptr (GPtrArray) tokens = read_tokens (call, error);
  json_t *list = tokens ? json_array () : NULL;
  for (guint i = 0; tokens && i < tokens->len; i++)
    json_array_append_new (list, token_to_json (tokens->pdata[i]));
  return list ? json_pack ("{s:o}", "tokens", list) : NULL;
}

static json_t *
token_show (const struct operation_call *call, GError **error)
{
  g_autoptr (GPtrArray) tokens = read_tokens (call, error);
  const struct token *token =
      tokens ? tokens_find_name (tokens, operation_text (call, "token"), error) : NULL;
  return token ? token_to_json (token) : NULL;
}

/* ---- making one ---- */

/* The texts of the list NAME; NULL for null. The caller's. */
static GStrv
token_words (const struct operation_call *call, const char *name)
{
  const json_t *list = json_object_get (call->params, name);
  gsize index;
  json_t *each;
  if (!json_is_array (list))
    return NULL;
  GPtrArray *words = g_ptr_array_new ();
  json_array_foreach (list, index, each)
  {
    g_ptr_array_add (words, g_strdup (json_string_value (each)));
  }
  g_ptr_array_add (words, NULL);
  return (GStrv)g_ptr_array_free (words, FALSE);
}

/* A name without wildcards that matches no profile is a typo, and would make a token that cannot run
 * anything. */
static gboolean
token_check_profiles (const struct token *token, GError **error)
{
  g_auto (GStrv) known = profile_names ();
  for (gsize i = 0; token->profiles && token->profiles[i]; i++)
    if (!token->profiles[i][0] || strlen (token->profiles[i]) > PROFILE_LIST_WORD_BYTES) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "profiles: a pattern has 1 to %d bytes",
                   PROFILE_LIST_WORD_BYTES);
      return FALSE;
    }
  for (gsize i = 0; token->profiles && token->profiles[i]; i++)
    if (!strpbrk (token->profiles[i], "*?") &&
        !g_strv_contains ((const char *const *)known, token->profiles[i])) {
      g_autofree char *shown = text_one_line (token->profiles[i], TOKEN_NAME_MAX);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                   "profiles: there is no profile \"%s\" (see adder profile list)", shown);
      return FALSE;
    }
  return TRUE;
}

static gboolean
token_check_roots (const struct token *token, const struct config *config, GError **error)
{
  for (gsize i = 0; token->roots && token->roots[i]; i++)
    if (!root_exists (config, token->roots[i])) {
      g_autofree char *shown = text_one_line (token->roots[i], TOKEN_NAME_MAX);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "roots: [http] roots of adder.conf has no \"%s\"",
                   shown);
      return FALSE;
    }
  return TRUE;
}

/* What the parameters ask for. The caller's; NULL with ERROR. */
static struct token *
token_read (const struct operation_call *call, const struct config *config, GError **error)
{
  g_autoptr (token_auto) token = g_new0 (struct token, 1);
  token->name = g_strdup (operation_text (call, "name"));
  token->toolset = g_strdup (operation_text (call, "toolset"));
  token->profiles = token_words (call, "profiles");
  token->roots = token_words (call, "roots");
  token->read_only = operation_flag (call, "read_only");
  token->may_decide = operation_flag (call, "may_decide");
  token->acts_for_users = operation_flag (call, "acts_for_users");
  token->rate = operation_number (call, "rate");
  token->concurrent = operation_number (call, "concurrent");
  token->created_ms = g_get_real_time () / 1000;
  const char *expires = operation_text (call, "expires");
  gboolean ok = role_parse (operation_text (call, "role"), &token->role, error) &&
                token_check_profiles (token, error) && token_check_roots (token, config, error) &&
                (!expires || token_parse_expiry (expires, &token->expires_ms, error));
  return ok ? g_steal_pointer (&token) : NULL;
}

/* DATA: the token, which is taken from there. */
static gboolean
token_add (GPtrArray *tokens, gpointer data, GError **error)
{
  struct token **token = data;
  if (tokens_find_name (tokens, (*token)->name, NULL)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_EXISTS,
                 "there is a token %s already: adder token rotate gives it a new secret", (*token)->name);
    return FALSE;
  }
  g_ptr_array_add (tokens, g_steal_pointer (token));
  return TRUE;
}

/* TOKEN, which is taken, with a secret that nobody else will ever see again. */
static json_t *
token_enter (const struct token_place *place, struct token *token, const char *maker, GError **error)
{
  g_autoptr (token_auto) entered = token;
  char *secret = token_new_secret (error);
  if (!secret)
    return NULL;
  token->digest = token_digest (secret);
  json_t *shown = token_to_json (token);
  if (token_place_change (place, token_add, &entered, error)) {
    json_object_set_new (shown, "secret", json_string (secret));
    log_info ("the token %s, with the role %s, was made by %s", json_member_text (shown, "name"),
              json_member_text (shown, "role"), maker ? maker : "this account");
  } else
    g_clear_pointer (&shown, json_decref);
  explicit_bzero (secret, strlen (secret));
  g_free (secret);
  return shown;
}

static json_t *
token_make (const struct operation_call *call, GError **error)
{
  const struct operation_caller *caller = call->caller;
  if (caller->is_exposed) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                         "a token's secret does not go over a network without encryption: use https://, or "
                         "adder token new on the daemon's machine");
    return NULL;
  }
  struct config *owned = NULL;
  const struct config *config = token_config (call, &owned, error);
  g_autoptr (token_place_auto) place = config ? locate_tokens (call, error) : NULL;
  g_autoptr (token_auto) token = place ? token_read (call, config, error) : NULL;
  gboolean ok = token && token_rights_bound (token, caller->who, config, error);
  config_free (owned);
  return ok ? token_enter (place, g_steal_pointer (&token), caller->owner, error) : NULL;
}

/* ---- ending one ---- */

struct revoking {
  const char *name;
  json_t *shown; /* what it was */
};

static gboolean
drop_token (GPtrArray *tokens, gpointer data, GError **error)
{
  struct revoking *revoking = data;
  struct token *token = tokens_find_name (tokens, revoking->name, error);
  if (!token)
    return FALSE;
  revoking->shown = token_to_json (token);
  /* There may be one in the file and one in the table. */
  do
    g_ptr_array_remove (tokens, token);
  while ((token = tokens_find_name (tokens, revoking->name, NULL)));
  return TRUE;
}

static json_t *
token_revoke (const struct operation_call *call, GError **error)
{
  struct revoking revoking = {.name = operation_text (call, "token")};
  g_autoptr (token_place_auto) place = locate_tokens (call, error);
  if (place && token_place_change (place, drop_token, &revoking, error))
    return revoking.shown;
  json_decref (revoking.shown);
  return NULL;
}

/* ---- the fields ---- */

/* clang-format off */
#define TOKEN_ROWS \
    TEXT ("name", "Its name."), \
    TEXT ("owner", \
          "The owner of what its holder makes: token:NAME, or uid:NUMBER for a browser that acts as an " \
          "account."), \
    TEXT ("role", "The caller's role."), \
    TEXT_0 ("toolset", "The only toolset that it may use."), \
    {.name = "profiles", \
     .types = FIELD_LIST | FIELD_NULL, \
     .items = FIELD_TEXT, \
     .text = "Patterns of the profiles that it may use; null: all of its role."}, \
    {.name = "roots", \
     .types = FIELD_LIST | FIELD_NULL, \
     .items = FIELD_TEXT, \
     .text = "The directories in which its runs may work."}, \
    FLAG ("read_only", "Whether it may only read, and run and change nothing."), \
    FLAG ("may_decide", "Whether it may decide for a person."), \
    FLAG ("acts_for_users", "Whether it belongs to a service whose users are owners."), \
    WHOLE ("rate", "Requests per minute; 0: as configured."), \
    WHOLE ("concurrent", "Concurrent requests; 0: as configured."), \
    TEXT_0 ("created", "In UTC."), \
    TEXT_0 ("expires", "In UTC; null: never."), \
    FLAG ("expired", "Whether it has expired.")
/* clang-format on */

static const struct field token_fields[] = {
    TOKEN_ROWS,
    FIELD_END ("Token"),
};
static const struct field new_token_fields[] = {
    TOKEN_ROWS,
    TEXT ("secret", "What its holder sends. It is in this answer alone."),
    FIELD_END ("NewToken"),
};
static const struct field list_fields[] = {
    LIST ("tokens", token_fields, "By name."),
    FIELD_END ("TokenList"),
};

/* clang-format off */
#define TOKEN_NAME(member, says) \
  {.name = (member), .types = FIELD_TEXT, .pattern = "^[A-Za-z][A-Za-z0-9_.-]{0,63}$", \
   .pattern_words = "a token's name: a letter, then letters, digits, _, - and .", .text = (says)}
#define ASK_WORDS(member, most, says) \
  {.name = (member), .types = FIELD_LIST, .items = FIELD_TEXT, .optional = TRUE, .maximum = (most), \
   .text = (says)}
#define ASK_NUMBER(member, most, says) \
  {.name = (member), .types = FIELD_INTEGER, .optional = TRUE, .standard = "0", .maximum = (most), \
   .text = (says)}
/* clang-format on */

static const struct field token_params[] = {TOKEN_NAME ("token", "Its name."), {0}};
static const struct field new_token_params[] = {
    TOKEN_NAME ("name", "Its name; its owner is token:NAME."),
    {.name = "role",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"user\"",
     .words = config_roles,
     .text = "Its role, at most the caller's."},
    {.name = "toolset",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .pattern = "^[a-z][a-z0-9_]{0,63}$",
     .pattern_words = "the name of a toolset",
     .text = "The only toolset that it may use, as the caller's has to be. Runs without a tool then need "
             "profiles."},
    ASK_WORDS ("profiles", TOKEN_PROFILES_MAX,
               "Patterns, with * and ?, of the profiles that it may use. The caller's by default."),
    ASK_WORDS ("roots", TOKEN_ROOTS_MAX,
               "The caller's directories in which its runs may work. None by "
               "default."),
    ASK_FLAG ("read_only", "Whether it may only read, and run and change nothing."),
    ASK_FLAG ("may_decide", "Whether it may decide for a person."),
    ASK_FLAG ("acts_for_users", "Whether it belongs to a service whose users are owners."),
    ASK_NUMBER ("rate", 6000000, "Requests per minute; 0: the caller's."),
    ASK_NUMBER ("concurrent", 65536, "Concurrent requests; 0: the caller's."),
    ASK_TEXT (
        "expires", 80,
        "When it ends, at the latest with the caller's own: a time from now (90d), a day (2027-01-31) or "
        "a moment. By default with the caller's own, or never."),
    {0},
};
static const struct field *const list_replies[] = {list_fields, NULL};
static const struct field *const token_replies[] = {token_fields, NULL};
static const struct field *const new_token_replies[] = {new_token_fields, NULL};

/* ---- the table ---- */

#define TOKENS "/v1/tokens"

const struct operation token_operations[] = {
    {
        .name = "token.list",
        .title = "List the tokens",
        .text = "Those by which callers come over HTTP, and what each may. No secret is kept.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_OWN_FILES,
        .params = no_params,
        .replies = list_replies,
        .run = token_list,
        .http = {"GET", TOKENS, "listTokens", 200},
    },
    {
        .name = "token.new",
        .title = "Make a token",
        .text =
            "With no more rights than the caller's own. The answer has its secret, which is kept nowhere. "
            "Refused over a network without encryption.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_OWN_FILES | OPERATION_DECIDES,
        .params = new_token_params,
        .replies = new_token_replies,
        .run = token_make,
        .http = {"POST", TOKENS, "newToken", 201, "name"},
    },
    {
        .name = "token.show",
        .title = "Show a token",
        .text = "What it may, and when it ends.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_OWN_FILES,
        .params = token_params,
        .replies = token_replies,
        .run = token_show,
        .http = {"GET", TOKENS "/{token}", "showToken", 200},
    },
    {
        .name = "token.revoke",
        .title = "Take a token back",
        .text = "Ends it at once, and what is under way for it. The answer is what it was.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_OWN_FILES | OPERATION_DECIDES,
        .params = token_params,
        .replies = token_replies,
        .run = token_revoke,
        .http = {"DELETE", TOKENS "/{token}", "revokeToken", 200},
    },
    {0},
};
