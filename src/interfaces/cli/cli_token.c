/* SPDX-License-Identifier: Apache-2.0 */
/* `adder token`: access over HTTP. A secret is printed once, alone on standard output, and only its digest is
 * kept; a running daemon rereads the file by itself. */
#include <errno.h>
#include <string.h>

#include "adder.h"
#include "common/config.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/text_table.h"
#include "interfaces/socket/client.h"
#include "policy/profile_list.h"
#include "policy/token_place.h"
#include "tools/table.h"

/* The options of `new`. */
struct create_options {
  char *role, *toolset, *profiles, *roots, *rate, *concurrent, *expires;
  gboolean read_only, may_decide, json, acts_for_users;
};

static void
create_options_clear (struct create_options *options)
{
  char *const texts[] = {options->role, options->toolset,    options->profiles, options->roots,
                         options->rate, options->concurrent, options->expires};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
}

/* ---- the parameters of token.new, from words ---- */

/* The words of a list, as an array. */
static json_t *
token_list_param (const char *word, G_GNUC_UNUSED const char *name, GError **error)
{
  g_auto (GStrv) words = profile_list_parse (word, error);
  return words ? json_of_texts ((const char *const *)words) : NULL;
}

static json_t *
token_text_param (const char *word, G_GNUC_UNUSED const char *name, G_GNUC_UNUSED GError **error)
{
  return json_text_or_null (word);
}

static json_t *
token_role_param (const char *word, G_GNUC_UNUSED const char *name, GError **error)
{
  enum role role;
  return role_parse (word, &role, error) ? json_string (role_name (role)) : NULL;
}

/* The operation cannot know the toolsets, since those call operations. */
static json_t *
token_toolset_param (const char *word, G_GNUC_UNUSED const char *name, GError **error)
{
  const struct toolset *toolset = toolset_find (word, error);
  return toolset ? json_string (toolset->name) : NULL;
}

static json_t *
token_count_param (const char *word, const char *name, GError **error)
{
  guint64 value, most = config_maximum ("http", name);
  if (!count_parse (word, &value, error))
    return NULL;
  if (value >= 1 && value <= most)
    return json_integer ((json_int_t)value);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is not between 1 and %" G_GUINT64_FORMAT, word,
               most);
  return NULL;
}

/* ---- a new secret ---- */

struct rotation {
  const char *name;
  char *digest;      /* taken over */
  gint64 expires_ms; /* 0: as before */
  json_t *shown;     /* the resulting token; the caller's */
};

static gboolean
cli_token_exchange (GPtrArray *tokens, gpointer data, GError **error)
{
  struct rotation *rotation = data;
  struct token *token = tokens_find_name (tokens, rotation->name, error);
  if (!token)
    return FALSE;
  g_free (token->digest);
  token->digest = g_steal_pointer (&rotation->digest);
  if (rotation->expires_ms > 0)
    token->expires_ms = rotation->expires_ms;
  rotation->shown = token_to_json (token);
  /* Another of the name, in the file beside the table, ends as the old secret does. */
  for (guint i = tokens->len; i-- > 0;) {
    const struct token *other = tokens->pdata[i];
    if (other != token && strcmp (other->name, token->name) == 0)
      g_ptr_array_remove_index (tokens, i);
  }
  return TRUE;
}

/* ---- commands ---- */

/* The secret, once. SHOWN is taken over. */
static int
print_secret (char *secret, json_t *shown, gboolean json)
{
  g_autoptr (json_t) value = shown;
  if (json) {
    json_object_set_new (value, "secret", json_string (secret));
    cli_print_json (value);
  } else
    printf ("%s\n", secret);
  explicit_bzero (secret, strlen (secret));
  if (fflush (stdout) == 0)
    return 0;
  g_autoptr (GError) problem = NULL;
  error_from_errno (&problem, errno, "cannot print the token; rotate it to get a new one");
  return cli_fail (problem);
}

/* The parameters of token.new, the caller's; NULL with ERROR. */
static json_t *
token_create_params (const char *name, const struct create_options *options, GError **error)
{
  const struct {
    const char *name, *word;
    json_t *(*read) (const char *word, const char *name, GError **error);
  } rows[] = {
      {"role", options->role, token_role_param},
      {"toolset", options->toolset, token_toolset_param},
      {"profiles", options->profiles, token_list_param},
      {"roots", options->roots, token_list_param},
      {"rate", options->rate, token_count_param},
      {"concurrent", options->concurrent, token_count_param},
      {"expires", options->expires, token_text_param},
  };
  g_autoptr (json_t) params =
      json_pack ("{s:o, s:b, s:b, s:b}", "name", json_text_or_null (name), "read_only", options->read_only,
                 "may_decide", options->may_decide, "acts_for_users", options->acts_for_users);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    json_t *value = rows[i].word ? rows[i].read (rows[i].word, rows[i].name, error) : NULL;
    if (rows[i].word && !value) {
      g_prefix_error (error, "--%s: ", rows[i].name);
      return NULL;
    }
    if (value)
      json_object_set_new (params, rows[i].name, value);
  }
  return json_incref (params);
}

/* The answer, with the secret. The caller's. */
static json_t *
cli_token_create (const char *name, const struct create_options *options, GError **error)
{
  json_t *params = token_check_name (name, error) ? token_create_params (name, options, error) : NULL;
  return params ? client_call (NULL, "token.new", params, error) : NULL;
}

static int
token_create (int argc, char **argv)
{
  struct create_options options = {0};
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"role", 0, 0, G_OPTION_ARG_FILENAME, &options.role, "The caller's role: guest, user (default), admin",
       "ROLE"},
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &options.toolset,
       "The only toolset that it may use; runs without a tool then need --profiles", "NAME"},
      {"profiles", 0, 0, G_OPTION_ARG_FILENAME, &options.profiles,
       "The profiles that it may use, with * and ?, separated by commas (default: all of its role)", "NAMES"},
      {"roots", 0, 0, G_OPTION_ARG_FILENAME, &options.roots,
       "Directories of [http] roots in which its runs may work, separated by commas (default: none)",
       "NAMES"},
      {"read-only", 0, 0, G_OPTION_ARG_NONE, &options.read_only, "It may read, but run and change nothing",
       NULL},
      {"may-decide", 0, 0, G_OPTION_ARG_NONE, &options.may_decide,
       "It decides for a person: it may approve code and changes", NULL},
      {"acts-for-users", 0, 0, G_OPTION_ARG_NONE, &options.acts_for_users,
       "For a service that acts for its users, whom the header Adder-On-Behalf-Of names", NULL},
      {"rate", 0, 0, G_OPTION_ARG_FILENAME, &options.rate, "Requests per minute (default: [http] rate)",
       "NUMBER"},
      {"concurrent", 0, 0, G_OPTION_ARG_FILENAME, &options.concurrent,
       "Requests at once (default: [http] concurrent)", "NUMBER"},
      {"expires", 0, 0, G_OPTION_ARG_FILENAME, &options.expires,
       "Its expiry: a time from now (90d), or a date (2027-01-31)", "TIME"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object, with the secret", NULL},
      {NULL},
  };
  int code;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else {
    json_t *answer = cli_token_create (argv[1], &options, &problem);
    g_autofree char *secret = answer ? g_strdup (json_member_text (answer, "secret")) : NULL;
    code = secret ? print_secret (secret, answer, options.json) : cli_fail (problem);
  }
  create_options_clear (&options);
  return code;
}

static gboolean
rotate (struct rotation *rotation, char **ret_secret, GError **error)
{
  struct config *config = config_load (NULL, error);
  g_autoptr (token_place_auto) place = config ? token_place_new (config, NULL, error) : NULL;
  config_free (config);
  g_autofree char *secret = place ? token_new_secret (error) : NULL;
  if (!secret)
    return FALSE;
  rotation->digest = token_digest (secret);
  gboolean ok = token_place_change (place, cli_token_exchange, rotation, error);
  g_free (rotation->digest);
  if (ok)
    *ret_secret = g_steal_pointer (&secret);
  return ok;
}

static int
token_rotate (int argc, char **argv)
{
  gboolean json = FALSE;
  g_autofree char *expires = NULL, *secret = NULL;
  const GOptionEntry entries[] = {
      {"expires", 0, 0, G_OPTION_ARG_FILENAME, &expires, "When the new one ends (default: as the old one)",
       "TIME"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object, with the secret", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct rotation rotation = {.name = argv[1]};
  if (expires && !token_parse_expiry (expires, &rotation.expires_ms, &problem))
    return cli_fail_usage (problem);
  return rotate (&rotation, &secret, &problem) ? print_secret (secret, rotation.shown, json)
                                               : cli_fail (problem);
}

/* ---- what there is ---- */

/* The texts of the list MEMBER of TOKEN, or NONE where it is null. The caller's. */
static char *
list_text (const json_t *token, const char *member, const char *none)
{
  const json_t *list = json_object_get (token, member);
  return json_is_array (list) ? json_join (list, " ") : g_strdup (none);
}

static const char *
toolset_text (const json_t *token)
{
  const char *toolset = json_string_value (json_object_get (token, "toolset"));
  return toolset ? toolset : "any";
}

static char *
expiry_text (const json_t *token)
{
  const char *expires = json_string_value (json_object_get (token, "expires"));
  gboolean over = json_is_true (json_object_get (token, "expired"));
  return g_strdup_printf ("%.*s%s", (int)strlen ("2026-11-22"), expires ? expires : "never",
                          over ? ", is over" : "");
}

static char *
rights_text (const json_t *token)
{
  return g_strdup_printf ("%s%s%s", json_is_true (json_object_get (token, "read_only")) ? "looks" : "acts",
                          json_is_true (json_object_get (token, "may_decide")) ? ", decides" : "",
                          json_is_true (json_object_get (token, "acts_for_users")) ? ", for its users" : "");
}

static void
cli_token_print_table (const json_t *tokens)
{
  static const char *const heads[] = {"NAME", "ROLE", "TOOLSET", "PROFILES", "ROOTS", "RIGHTS", "EXPIRES"};
  struct text_table table;
  gsize i;
  json_t *token;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (tokens, i, token)
  {
    text_table_add (&table, g_strdup (json_member_text (token, "name")));
    text_table_add (&table, g_strdup (json_member_text (token, "role")));
    text_table_add (&table, g_strdup (toolset_text (token)));
    text_table_add (&table, list_text (token, "profiles", "any"));
    text_table_add (&table, list_text (token, "roots", "none"));
    text_table_add (&table, rights_text (token));
    text_table_add (&table, expiry_text (token));
  }
  text_table_print (&table);
}

static void
print_number (const json_t *token, const char *member, const char *after)
{
  json_int_t number = json_integer_value (json_object_get (token, member));
  if (number > 0)
    printf ("%-12s %" JSON_INTEGER_FORMAT "%s\n", member, number, after);
}

static void
print_token (const json_t *token)
{
  g_autofree char *profiles = list_text (token, "profiles", "any that the role may use");
  g_autofree char *roots = list_text (token, "roots", "none"), *expires = expiry_text (token);
  g_autofree char *rights = rights_text (token);
  cli_print_line ("name         %s", json_member_text (token, "name"));
  cli_print_line ("role         %s", json_member_text (token, "role"));
  cli_print_line ("toolset      %s", toolset_text (token));
  cli_print_line ("profiles     %s", profiles);
  cli_print_line ("roots        %s", roots);
  cli_print_line ("rights       %s", rights);
  print_number (token, "rate", " a minute");
  print_number (token, "concurrent", "");
  cli_print_line ("created      %s", json_member_text (token, "created"));
  cli_print_line ("expires      %s", expires);
}

/* All must exist before any ends; duplicates count once. */
static gboolean
revoke_all (char **names, GError **error)
{
  static const char *const operations[] = {"token.show", "token.revoke"};
  for (gsize i = 0; i < G_N_ELEMENTS (operations); i++) {
    g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
    for (char **name = names; *name; name++) {
      if (!g_hash_table_add (seen, *name))
        continue;
      g_autoptr (json_t) answer =
          client_call (NULL, operations[i], json_pack ("{s:s}", "token", *name), error);
      if (!answer)
        return FALSE;
    }
  }
  return TRUE;
}

static int
cli_token_revoke (int argc, char **argv)
{
  const GOptionEntry entries[] = {{NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, G_MAXINT, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  return revoke_all (argv + 1, &problem) ? 0 : cli_fail (problem);
}

static const struct cli_command commands[] = {
    {"new", "NAME", "create a token for HTTP and print it, once", token_create,
     .examples = "adder token new ci --role guest --expires 90d"},
    {"list", "", "list the tokens and their permissions",
     ASKS ("token.list", .list = "tokens", .view = cli_token_print_table, .things = "tokens",
           .makes = "adder token new NAME"),
     .examples = "adder token list"},
    {"show", "NAME", "show what a token may", ASKS ("token.show", {"token"}, 1, print_token),
     .examples = "adder token show ci"},
    {"rotate", "NAME", "give a token a new secret and print it, once; the old one ends", token_rotate,
     .stays = TRUE, .examples = "adder token rotate ci"},
    {"rm", "NAME...", "revoke tokens, at once", cli_token_revoke, .examples = "adder token rm ci"},
    {0},
};

int
cli_token (int argc, char **argv)
{
  return cli_dispatch ("adder token", "Makes and takes back the tokens by which callers come over HTTP.",
                       commands, argc, argv);
}
