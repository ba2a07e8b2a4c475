/* SPDX-License-Identifier: Apache-2.0 */
/* `adder token`: access over HTTP. A secret is printed once, alone on standard output, and only its digest is
 * kept; a running daemon rereads the file by itself. */
#include <errno.h>
#include <string.h>

#include "adder.h"
#include "common/config.h"
#include "common/error.h"
#include "common/json.h"
#include "common/moment.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/text_table.h"
#include "interfaces/socket/client.h"
#include "policy/profile.h"
#include "policy/profile_list.h"
#include "policy/roots.h"
#include "policy/tokens_file.h"
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

/* ---- a token's rights, from words ---- */

static gboolean
set_role (struct token *token, const char *word, const struct config *config, GError **error)
{
  (void)config;
  return role_parse (word, &token->role, error);
}

static gboolean
set_toolset (struct token *token, const char *word, const struct config *config, GError **error)
{
  (void)config;
  const struct toolset *toolset = toolset_find (word, error);
  token->toolset = toolset ? g_strdup (toolset->name) : NULL;
  return toolset != NULL;
}

/* A name without wildcards that matches no profile is a typo, and would make a token that cannot run
 * anything. */
static gboolean
set_profiles (struct token *token, const char *word, const struct config *config, GError **error)
{
  (void)config;
  token->profiles = profile_list_parse (word, error);
  g_auto (GStrv) known = profile_names ();
  for (gsize i = 0; token->profiles && token->profiles[i]; i++)
    if (!strpbrk (token->profiles[i], "*?") &&
        !g_strv_contains ((const char *const *)known, token->profiles[i])) {
      g_autofree char *shown = text_one_line (token->profiles[i], TOKEN_NAME_MAX);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
                   "there is no profile \"%s\" (see adder profile list)", shown);
      return FALSE;
    }
  return token->profiles != NULL;
}

static gboolean
set_roots (struct token *token, const char *word, const struct config *config, GError **error)
{
  token->roots = profile_list_parse (word, error);
  for (gsize i = 0; token->roots && token->roots[i]; i++)
    if (!root_exists (config, token->roots[i])) {
      g_autofree char *shown = text_one_line (token->roots[i], TOKEN_NAME_MAX);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "[http] roots of adder.conf has no \"%s\"",
                   shown);
      return FALSE;
    }
  return token->roots != NULL;
}

static gboolean
set_count (guint64 *field, const char *word, guint64 most, GError **error)
{
  guint64 value;
  if (!count_parse (word, &value, error))
    return FALSE;
  if (value < 1 || value > most) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is not between 1 and %" G_GUINT64_FORMAT, word,
                 most);
    return FALSE;
  }
  *field = value;
  return TRUE;
}

static gboolean
set_rate (struct token *token, const char *word, const struct config *config, GError **error)
{
  (void)config;
  return set_count (&token->rate, word, config_maximum ("http", "rate"), error);
}

static gboolean
set_concurrent (struct token *token, const char *word, const struct config *config, GError **error)
{
  (void)config;
  return set_count (&token->concurrent, word, config_maximum ("http", "concurrent"), error);
}

/* "90d" from now on, or a moment. */
static gboolean
set_expires (struct token *token, const char *word, const struct config *config, GError **error)
{
  (void)config;
  guint64 after_ms;
  gint64 now_ms = g_get_real_time () / 1000, moment_ms = 0;
  if (duration_parse (word, 1000, &after_ms, NULL) && after_ms < G_MAXINT64 / 2)
    moment_ms = now_ms + (gint64)after_ms;
  else if (!moment_parse (word, &moment_ms, NULL)) {
    g_autofree char *shown = text_one_line (word, 80);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "\"%s\" is not a time: write how long from now (90d, 12h), a day (2027-01-31) or a moment "
                 "(2027-01-31T12:00:00Z)",
                 shown);
    return FALSE;
  }
  if (moment_ms <= now_ms) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not in the future", word);
    return FALSE;
  }
  token->expires_ms = moment_ms;
  return TRUE;
}

/* ---- changes of the file ---- */

/* DATA: the token, which is taken from there. */
static gboolean
cli_token_add (GPtrArray *tokens, gpointer data, GError **error)
{
  struct token **token = data;
  if (tokens_find_name (tokens, (*token)->name, NULL)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "there is a token %s already: adder token rotate gives it a new secret", (*token)->name);
    return FALSE;
  }
  g_ptr_array_add (tokens, g_steal_pointer (token));
  return TRUE;
}

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
  return TRUE;
}

/* ---- commands ---- */

/* The path of the file; *RET_CONFIG is the caller's to free either way. */
static char *
cli_token_locate (struct config **ret_config, GError **error)
{
  *ret_config = config_load (NULL, error);
  return *ret_config ? tokens_file (*ret_config, error) : NULL;
}

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

static gboolean
cli_token_fill (struct token *token, const struct create_options *options, const struct config *config,
                GError **error)
{
  const struct {
    const char *option, *word;
    gboolean (*set) (struct token *token, const char *word, const struct config *config, GError **error);
  } rows[] = {
      {"--role", options->role, set_role},
      {"--toolset", options->toolset, set_toolset},
      {"--profiles", options->profiles, set_profiles},
      {"--roots", options->roots, set_roots},
      {"--rate", options->rate, set_rate},
      {"--concurrent", options->concurrent, set_concurrent},
      {"--expires", options->expires, set_expires},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].word && !rows[i].set (token, rows[i].word, config, error)) {
      g_prefix_error (error, "%s: ", rows[i].option);
      return FALSE;
    }
  token->read_only = options->read_only;
  token->may_decide = options->may_decide;
  token->acts_for_users = options->acts_for_users;
  return TRUE;
}

/* NULL with ERROR; else the secret, which the caller shows. */
static char *
cli_token_create (const char *name, const struct create_options *options, json_t **ret_shown, GError **error)
{
  struct config *config = NULL;
  g_autofree char *path = cli_token_locate (&config, error);
  g_autoptr (token_auto) token = g_new0 (struct token, 1);
  token->name = g_strdup (name);
  token->role = ROLE_USER;
  token->created_ms = g_get_real_time () / 1000;
  gboolean ok = path && token_check_name (name, error) && cli_token_fill (token, options, config, error);
  char *secret = ok ? token_new_secret (error) : NULL;
  if (secret) {
    token->digest = token_digest (secret);
    *ret_shown = token_to_json (token);
    if (!tokens_file_change (path, cli_token_add, &token, error)) {
      g_clear_pointer (ret_shown, json_decref);
      g_clear_pointer (&secret, g_free);
    }
  }
  config_free (config);
  return secret;
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
  json_t *shown = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else {
    g_autofree char *secret = cli_token_create (argv[1], &options, &shown, &problem);
    code = secret ? print_secret (secret, shown, options.json) : cli_fail (problem);
  }
  create_options_clear (&options);
  return code;
}

static gboolean
rotate (struct rotation *rotation, char **ret_secret, GError **error)
{
  struct config *config = NULL;
  g_autofree char *path = cli_token_locate (&config, error);
  config_free (config);
  g_autofree char *secret = path ? token_new_secret (error) : NULL;
  if (!secret)
    return FALSE;
  rotation->digest = token_digest (secret);
  gboolean ok = tokens_file_change (path, cli_token_exchange, rotation, error);
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
  struct token until = {0};
  struct rotation rotation = {.name = argv[1]};
  if (expires && !set_expires (&until, expires, NULL, &problem))
    return cli_fail_usage (problem);
  rotation.expires_ms = until.expires_ms;
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
    {"new", "NAME", "create a token for HTTP and print it, once", token_create, .stays = TRUE,
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
