/* SPDX-License-Identifier: Apache-2.0 */
/* `adder token`: who may come over HTTP. A secret is printed once, alone on standard output, and only its
 * digest is kept; a daemon that runs reads the file again by itself. */
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
#include "policy/profile.h"
#include "policy/profile_list.h"
#include "policy/roots.h"
#include "policy/tokens_file.h"
#include "tools/table.h"

/* What `create` was told. */
struct create_options {
  char *role, *toolset, *profiles, *roots, *rate, *concurrent, *expires;
  gboolean read_only, may_decide, json;
};

static void
create_options_clear (struct create_options *options)
{
  char *const texts[] = {options->role, options->toolset,    options->profiles, options->roots,
                         options->rate, options->concurrent, options->expires};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
}

/* ---- what a token may, from words ---- */

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

/* A name without wildcards that no profile has is a slip of the pen, which would be a token that cannot run
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
                 "\"%s\" is no time: write how long from now (90d, 12h), a day (2027-01-31) or a moment "
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

/* DATA: where the token is, which is taken from there. */
static gboolean
add (GPtrArray *tokens, gpointer data, GError **error)
{
  struct token **token = data;
  if (tokens_by_name (tokens, (*token)->name)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "there is a token %s already: adder token rotate gives it a new secret", (*token)->name);
    return FALSE;
  }
  g_ptr_array_add (tokens, g_steal_pointer (token));
  return TRUE;
}

static gboolean
no_such_token (const char *name, GError **error)
{
  g_autofree char *shown = text_one_line (name, TOKEN_NAME_MAX);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no token \"%s\" (see adder token list)",
               shown);
  return FALSE;
}

/* DATA: the names, all of which must be there. */
static gboolean
drop (GPtrArray *tokens, gpointer data, GError **error)
{
  for (char **name = data; *name; name++) {
    struct token *token = tokens_by_name (tokens, *name);
    if (!token)
      return no_such_token (*name, error);
    g_ptr_array_remove (tokens, token);
  }
  return TRUE;
}

struct rotation {
  const char *name;
  char *digest;      /* taken over */
  gint64 expires_ms; /* 0: as before */
  json_t *shown;     /* what it then is; the caller's */
};

static gboolean
exchange (GPtrArray *tokens, gpointer data, GError **error)
{
  struct rotation *rotation = data;
  struct token *token = tokens_by_name (tokens, rotation->name);
  if (!token)
    return no_such_token (rotation->name, error);
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
locate (struct config **ret_config, GError **error)
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
  error_from_errno (&problem, errno, "cannot print the token, which nobody knows now; rotate it");
  return cli_fail (problem);
}

static gboolean
fill (struct token *token, const struct create_options *options, const struct config *config, GError **error)
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
  return TRUE;
}

/* NULL with ERROR; else the secret, which the caller shows. */
static char *
create (const char *name, const struct create_options *options, json_t **ret_shown, GError **error)
{
  struct config *config = NULL;
  g_autofree char *path = locate (&config, error);
  g_autoptr (token_auto) token = g_new0 (struct token, 1);
  token->name = g_strdup (name);
  token->role = ROLE_USER;
  token->created_ms = g_get_real_time () / 1000;
  gboolean ok = path && token_check_name (name, error) && fill (token, options, config, error);
  char *secret = ok ? token_new_secret (error) : NULL;
  if (secret) {
    token->digest = token_digest (secret);
    *ret_shown = token_to_json (token);
    if (!tokens_file_change (path, add, &token, error)) {
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
      {"role", 0, 0, G_OPTION_ARG_FILENAME, &options.role, "As whom it asks: guest, user (default), admin",
       "ROLE"},
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &options.toolset,
       "The only toolset that it may use; runs of its own then need --profiles", "NAME"},
      {"profiles", 0, 0, G_OPTION_ARG_FILENAME, &options.profiles,
       "The profiles that it may use, with * and ?, between commas (default: all that its role may)",
       "NAMES"},
      {"roots", 0, 0, G_OPTION_ARG_FILENAME, &options.roots,
       "Directories of [http] roots in which its runs may work, between commas (default: none)", "NAMES"},
      {"read-only", 0, 0, G_OPTION_ARG_NONE, &options.read_only, "It may look, but run and change nothing",
       NULL},
      {"may-decide", 0, 0, G_OPTION_ARG_NONE, &options.may_decide,
       "It speaks for a person: may approve code and changes", NULL},
      {"rate", 0, 0, G_OPTION_ARG_FILENAME, &options.rate, "Requests in a minute (default: [http] rate)",
       "NUMBER"},
      {"concurrent", 0, 0, G_OPTION_ARG_FILENAME, &options.concurrent,
       "Requests at once (default: [http] concurrent)", "NUMBER"},
      {"expires", 0, 0, G_OPTION_ARG_FILENAME, &options.expires,
       "When it ends: after so long (90d), or at a moment (2027-01-31)", "TIME"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object, with the secret", NULL},
      {NULL},
  };
  int code;
  json_t *shown = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else {
    g_autofree char *secret = create (argv[1], &options, &shown, &problem);
    code = secret ? print_secret (secret, shown, options.json) : cli_fail (problem);
  }
  create_options_clear (&options);
  return code;
}

static GPtrArray *
read_all (GError **error)
{
  struct config *config = NULL;
  g_autofree char *path = locate (&config, error);
  config_free (config);
  return path ? tokens_file_read (path, NULL, error) : NULL;
}

static char *
words_text (char *const *words, const char *none)
{
  return words ? g_strjoinv (" ", (GStrv)(guintptr)words) : g_strdup (none);
}

static char *
expiry_text (const struct token *token)
{
  g_autofree char *moment = token->expires_ms ? text_time (token->expires_ms * 1000) : g_strdup ("never");
  if (token->expires_ms)
    moment[strlen ("2026-11-22")] = '\0';
  return token_has_expired (token) ? g_strdup_printf ("%s, is over", moment) : g_steal_pointer (&moment);
}

static const char *
rights_text (const struct token *token)
{
  if (token->read_only)
    return token->may_decide ? "looks, decides" : "looks";
  return token->may_decide ? "acts, decides" : "acts";
}

static void
print_table (const GPtrArray *tokens)
{
  static const char *const heads[] = {"NAME", "ROLE", "TOOLSET", "PROFILES", "ROOTS", "RIGHTS", "EXPIRES"};
  struct text_table table;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  for (guint i = 0; i < tokens->len; i++) {
    const struct token *token = tokens->pdata[i];
    text_table_add (&table, g_strdup (token->name));
    text_table_add (&table, g_strdup (role_name (token->role)));
    text_table_add (&table, g_strdup (token->toolset ? token->toolset : "any"));
    text_table_add (&table, words_text (token->profiles, "any"));
    text_table_add (&table, words_text (token->roots, "none"));
    text_table_add (&table, g_strdup (rights_text (token)));
    text_table_add (&table, expiry_text (token));
  }
  text_table_print (&table);
}

static int
token_list (int argc, char **argv)
{
  gboolean json = FALSE, names_only = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON array", NULL},
      {"names", 0, 0, G_OPTION_ARG_NONE, &names_only, "Print the names only", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (GPtrArray) tokens = read_all (&problem);
  if (!tokens)
    return cli_fail (problem);
  if (json) {
    g_autoptr (json_t) all = json_array ();
    for (guint i = 0; i < tokens->len; i++)
      json_array_append_new (all, token_to_json (tokens->pdata[i]));
    cli_print_json (all);
  } else if (names_only)
    for (guint i = 0; i < tokens->len; i++)
      printf ("%s\n", ((struct token *)tokens->pdata[i])->name);
  else if (tokens->len > 0)
    print_table (tokens);
  else
    fprintf (stderr, "adder: there are no tokens; adder token create NAME makes one\n");
  return 0;
}

static void
print_token (const struct token *token)
{
  g_autofree char *profiles = words_text (token->profiles, "any that the role may use");
  g_autofree char *roots = words_text (token->roots, "none");
  g_autofree char *created = text_time (token->created_ms * 1000), *expires = expiry_text (token);
  printf ("name         %s\nrole         %s\ntoolset      %s\nprofiles     %s\nroots        %s\n"
          "rights       %s\n",
          token->name, role_name (token->role), token->toolset ? token->toolset : "any", profiles, roots,
          rights_text (token));
  if (token->rate)
    printf ("rate         %" G_GUINT64_FORMAT " a minute\n", token->rate);
  if (token->concurrent)
    printf ("concurrent   %" G_GUINT64_FORMAT "\n", token->concurrent);
  printf ("created      %s\nexpires      %s\n", created, expires);
}

static int
token_show (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (GPtrArray) tokens = read_all (&problem);
  const struct token *token = tokens ? tokens_by_name (tokens, argv[1]) : NULL;
  if (!token) {
    if (tokens)
      no_such_token (argv[1], &problem);
    return cli_fail (problem);
  }
  if (json) {
    g_autoptr (json_t) value = token_to_json (token);
    cli_print_json (value);
  } else
    print_token (token);
  return 0;
}

static int
token_revoke (int argc, char **argv)
{
  const GOptionEntry entries[] = {{NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, G_MAXINT, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct config *config = NULL;
  g_autofree char *path = locate (&config, &problem);
  config_free (config);
  return path && tokens_file_change (path, drop, argv + 1, &problem) ? 0 : cli_fail (problem);
}

static gboolean
rotate (struct rotation *rotation, char **ret_secret, GError **error)
{
  struct config *config = NULL;
  g_autofree char *path = locate (&config, error);
  config_free (config);
  g_autofree char *secret = path ? token_new_secret (error) : NULL;
  if (!secret)
    return FALSE;
  rotation->digest = token_digest (secret);
  gboolean ok = tokens_file_change (path, exchange, rotation, error);
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

static const struct cli_command commands[] = {
    {"create", "NAME", "make a token for HTTP and print it, once", token_create},
    {"list", "", "list the tokens, and what each may", token_list},
    {"show", "NAME", "show what a token may", token_show},
    {"revoke", "NAME...", "take tokens back, at once", token_revoke},
    {"rotate", "NAME", "give a token a new secret and print it, once; the old one ends", token_rotate},
    {0},
};

int
cli_token (int argc, char **argv)
{
  return cli_dispatch ("adder token", "Makes and takes back the tokens by which callers come over HTTP.",
                       commands, argc, argv);
}
