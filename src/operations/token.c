/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on tokens: who has access over HTTP. Tokens are made on the daemon's machine alone (`adder token
 * new`), so that a stolen token cannot make others. */
#include "common/field_rows.h"
#include "common/json.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"
#include "policy/tokens_file.h"

/* ---- the functions ---- */

/* The path of the file, the caller's. */
static char *
locate_file (const struct operation_caller *caller, GError **error)
{
  if (caller->engine)
    return tokens_file (caller->engine->engine->host->config, error);
  struct config *config = config_load (NULL, error);
  char *path = config ? tokens_file (config, error) : NULL;
  config_free (config);
  return path;
}

static GPtrArray *
read_tokens (const struct operation_call *call, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *path = locate_file (call->caller, error);
  GPtrArray *tokens = path ? tokens_file_read (path, NULL, &problem) : NULL;
  /* The error is not the caller's. */
  if (problem)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, problem->message);
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
  return g_ptr_array_remove (tokens, token);
}

static json_t *
token_revoke (const struct operation_call *call, GError **error)
{
  struct revoking revoking = {.name = operation_text (call, "token")};
  g_autofree char *path = locate_file (call->caller, error);
  if (path && tokens_file_change (path, drop_token, &revoking, error))
    return revoking.shown;
  json_decref (revoking.shown);
  return NULL;
}

/* ---- the fields ---- */

static const struct field token_fields[] = {
    TEXT ("name", "Its name."),
    TEXT ("owner",
          "The owner of what its holder makes: token:NAME, or uid:NUMBER for a browser that acts as an "
          "account."),
    TEXT ("role", "The caller's role."),
    TEXT_0 ("toolset", "The only toolset that it may use."),
    {.name = "profiles",
     .types = FIELD_LIST | FIELD_NULL,
     .items = FIELD_TEXT,
     .text = "Patterns of the profiles that it may use; null: all of its role."},
    {.name = "roots",
     .types = FIELD_LIST | FIELD_NULL,
     .items = FIELD_TEXT,
     .text = "The directories in which its runs may work."},
    FLAG ("read_only", "Whether it may only read, and run and change nothing."),
    FLAG ("may_decide", "Whether it may decide for a person."),
    FLAG ("acts_for_users", "Whether it belongs to a service whose users are owners."),
    WHOLE ("rate", "Requests per minute; 0: as configured."),
    WHOLE ("concurrent", "Concurrent requests; 0: as configured."),
    TEXT_0 ("created", "In UTC."),
    TEXT_0 ("expires", "In UTC; null: never."),
    FLAG ("expired", "Whether it has expired."),
    FIELD_END ("Token"),
};
static const struct field list_fields[] = {
    LIST ("tokens", token_fields, "By name."),
    FIELD_END ("TokenList"),
};

static const struct field token_params[] = {
    {.name = "token",
     .types = FIELD_TEXT,
     .pattern = "^[A-Za-z][A-Za-z0-9_.-]{0,63}$",
     .pattern_words = "a token's name: a letter, then letters, digits, _, - and .",
     .text = "Its name."},
    {0},
};
static const struct field *const list_replies[] = {list_fields, NULL};
static const struct field *const token_replies[] = {token_fields, NULL};

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
        .text = "Ends it at once. The answer is what it was.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_OWN_FILES | OPERATION_DECIDES,
        .params = token_params,
        .replies = token_replies,
        .run = token_revoke,
        .http = {"DELETE", TOKENS "/{token}", "revokeToken", 200},
    },
    {0},
};
