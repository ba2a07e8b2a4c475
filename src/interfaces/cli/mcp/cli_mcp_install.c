/* SPDX-License-Identifier: Apache-2.0 */
/* `adder mcp install`: registers Adder with an MCP client on this machine, in the client's own configuration
 * file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "adder.h"
#include "common/error.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/mcp/mcp_clients.h"
#include "tools/table.h"

#define LONGEST_FILE (64 << 20)
#define BACKUP       ".before-adder"
#define BACKUPS_MAX  100

struct install_options {
  char *client, *toolset, *scope, *url, *name;
  gboolean print;
};

/* These determine the daemon's socket and state. Clients start servers with few of their own variables. */
static const char *const passed_variables[] = {"ADDER_RUNTIME_DIR", "ADDER_CONFIG_DIR", "ADDER_STATE_DIR",
                                               "ADDER_ENVIRONMENTS_DIR", NULL};

static json_t *
setting (void)
{
  json_t *found = json_object ();
  for (gsize i = 0; passed_variables[i]; i++) {
    const char *value = g_getenv (passed_variables[i]);
    if (value && value[0] != '\0' && g_utf8_validate (value, -1, NULL))
      json_object_set_new (found, passed_variables[i], json_string (value));
  }
  return found;
}

/* ---- the requested entry ---- */

static gboolean
cli_mcp_install_invalid (GError **error, const char *message)
{
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, message);
  return FALSE;
}

static gboolean
cli_mcp_install_is_name (const char *name)
{
  gsize length = strlen (name);
  return length > 0 && length <= 64 && strspn (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-") == length;
}

static gboolean
check_options (const struct install_options *options, GError **error)
{
  if (options->name && !cli_mcp_install_is_name (options->name))
    return cli_mcp_install_invalid (error, "--name is of letters, digits, _ and -, at most 64");
  if (options->scope && strcmp (options->scope, "user") != 0 && strcmp (options->scope, "project") != 0)
    return cli_mcp_install_invalid (error, "--scope is user or project");
  if (options->toolset && options->url)
    return cli_mcp_install_invalid (
        error, "over HTTP the token says which toolset it is: adder token new --toolset");
  gboolean is_whole;
  return toolset_find_view (options->toolset, &is_whole, error) != NULL;
}

/* The caller's. A URL without a path means MCP's. */
static char *
complete_url (const char *url, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (GUri) uri = g_uri_parse (url, G_URI_FLAGS_ENCODED, &problem);
  const char *scheme = uri ? g_uri_get_scheme (uri) : "";
  if ((strcmp (scheme, "http") != 0 && strcmp (scheme, "https") != 0) || !g_uri_get_host (uri) ||
      g_uri_get_host (uri)[0] == '\0') {
    cli_mcp_install_invalid (error, "--url is one as http://127.0.0.1:7117/mcp");
    return NULL;
  }
  if (g_uri_get_userinfo (uri)) {
    cli_mcp_install_invalid (error,
                             "--url holds a name or password: the client has the token in its environment");
    return NULL;
  }
  const char *path = g_uri_get_path (uri);
  if (path[0] != '\0' && strcmp (path, "/") != 0)
    return g_strdup (url);
  return g_strdup_printf ("%.*s/mcp", (int)(strlen (url) - strlen (path)), url);
}

/* A project's file is shared with other machines, so it has the bare name. */
static char *
program_path (gboolean project, GError **error)
{
  if (project)
    return g_strdup ("adder");
  g_autoptr (GError) problem = NULL;
  char *path = g_file_read_link ("/proc/self/exe", &problem);
  if (!path)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot tell where this program is: %s",
                 problem->message);
  return path;
}

/* ---- the file ---- */

/* Writes to a link's target: such files are often links into a folder kept elsewhere. */
static char *
real_file (const char *file)
{
  char *resolved = realpath (file, NULL);
  char *own = g_strdup (resolved ? resolved : file);
  free (resolved);
  return own;
}

/* A checked-out folder may contain its authors' links to the user's own files: what is written for a project
 * stays in the current directory. FALSE with ERROR if FILE would leave it. */
static gboolean
check_inside (const char *file, GError **error)
{
  g_autofree char *current = g_get_current_dir ();
  g_autofree char *directory = g_path_get_dirname (file);
  /* A missing file leads nowhere, unless it is a link. */
  const char *const places[] = {directory, file};
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++) {
    struct stat st;
    if (lstat (places[i], &st) < 0 && errno == ENOENT)
      continue;
    g_autofree char *root = real_file (current);
    char *resolved = realpath (places[i], NULL);
    gsize length = strlen (root);
    gboolean inside = resolved && (strcmp (root, "/") == 0 || (strncmp (resolved, root, length) == 0 &&
                                                               strchr ("/", resolved[length]) != NULL));
    free (resolved);
    if (inside)
      continue;
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                 "%s is a link that leads out of the project: remove it, or put the entry in by hand "
                 "(--print shows it)",
                 places[i]);
    return FALSE;
  }
  return TRUE;
}

/* ret->text NULL: no file. */
typedef struct old_file {
  char *text;
  mode_t mode;
} old_file;

static void
old_file_clear (old_file *old)
{
  g_free (old->text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (old_file, old_file_clear)

static gboolean
read_old (const char *file, struct old_file *ret, GError **error)
{
  struct stat st;
  *ret = (struct old_file){.mode = 0600};
  if (stat (file, &st) < 0 && errno == ENOENT)
    return TRUE;
  if (stat (file, &st) < 0)
    return error_from_errno (error, errno, "cannot look at %s", file);
  if (!S_ISREG (st.st_mode) || st.st_size > LONGEST_FILE) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is no file, or too long for one of that kind",
                 file);
    return FALSE;
  }
  g_autoptr (GError) problem = NULL;
  gsize length;
  if (!g_file_get_contents (file, &ret->text, &length, &problem)) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, problem->message);
    return FALSE;
  }
  ret->mode = st.st_mode & 0777;
  if (memchr (ret->text, '\0', length)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s holds zero bytes", file);
    g_clear_pointer (&ret->text, g_free);
    return FALSE;
  }
  return TRUE;
}

static gboolean
cli_mcp_install_write_file (const char *file, const char *text, mode_t mode, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if (g_file_set_contents_full (file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                (int)mode, &problem))
    return TRUE;
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, problem->message);
  return FALSE;
}

/* The backup path for FILE, which must not overwrite earlier backups. The caller's; NULL with ERROR. */
static char *
backup_name (const char *file, GError **error)
{
  struct stat st;
  for (guint i = 1; i <= BACKUPS_MAX; i++) {
    g_autofree char *name =
        i == 1 ? g_strconcat (file, BACKUP, NULL) : g_strdup_printf ("%s" BACKUP "-%u", file, i);
    if (lstat (name, &st) < 0 && errno == ENOENT)
      return g_steal_pointer (&name);
  }
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
               "there are %d files as %s" BACKUP " already: remove those that you do not need", BACKUPS_MAX,
               file);
  return NULL;
}

/* *RET_BACKUP, the caller's: the path of the old file; NULL: there was none. */
static gboolean
replace_file (const char *file, const struct old_file *old, const char *text, char **ret_backup,
              GError **error)
{
  g_autofree char *directory = g_path_get_dirname (file);
  g_autofree char *backup = NULL;
  if (g_mkdir_with_parents (directory, 0700) < 0)
    return error_from_errno (error, errno, "cannot make %s", directory);
  if (old->text) {
    backup = backup_name (file, error);
    if (!backup || !cli_mcp_install_write_file (backup, old->text, old->mode, error))
      return FALSE;
  }
  *ret_backup = g_steal_pointer (&backup);
  return cli_mcp_install_write_file (file, text, old->mode, error);
}

static void
cli_mcp_install_tell (const struct mcp_client *client, const struct mcp_installation *installation,
                      const char *file, const char *backup)
{
  printf ("%s: \"%s\" is in %s now\n", file, installation->name, client->key);
  if (backup)
    printf ("The file as it was: %s\n", backup);
  if (installation->url)
    printf (client->asks
                ? "%s asks for the token; adder token new makes one.\n"
                : "%s takes the token from ADDER_TOKEN in its environment; adder token new makes one.\n",
            client->title);
  printf ("%s\n", client->after);
}

/* ---- the command ---- */

static gboolean
install (const struct install_options *options, GError **error)
{
  gboolean project = g_strcmp0 (options->scope, "project") == 0;
  const struct mcp_client *client = mcp_client_find (options->client, error);
  if (!client || !check_options (options, error))
    return FALSE;
  g_autofree char *named = mcp_client_file (client, project, error);
  g_autofree char *program = named ? program_path (project, error) : NULL;
  g_autofree char *url = options->url ? complete_url (options->url, error) : NULL;
  if (!program || (options->url && !url))
    return FALSE;
  if (project && !options->print && !check_inside (named, error))
    return FALSE;
  g_autofree char *file = real_file (named);
  g_autoptr (json_t) variables = project ? NULL : setting ();
  struct mcp_installation installation = {
      .name = options->name ? options->name : "adder",
      .program = program,
      .toolset = options->toolset,
      .url = url,
      .setting = variables,
  };
  g_auto (old_file) old = {0};
  if (!options->print && !read_old (file, &old, error))
    return FALSE;
  g_autofree char *text = mcp_client_merge (client, &installation, old.text, error);
  if (!text) {
    if (!options->print)
      g_prefix_error (error, "%s was left as it is (--print shows what to put in by hand): ", file);
    return FALSE;
  }
  if (options->print) {
    fprintf (stderr, "adder: %s reads %s\n", client->title, file);
    fputs (text, stdout);
    return TRUE;
  }
  if (g_strcmp0 (text, old.text) == 0) {
    printf ("%s: \"%s\" is in %s already\n", file, installation.name, client->key);
    return TRUE;
  }
  g_autofree char *backup = NULL;
  if (!replace_file (file, &old, text, &backup, error))
    return FALSE;
  cli_mcp_install_tell (client, &installation, file, backup);
  return TRUE;
}

int
cli_mcp_install (int argc, char **argv)
{
  struct install_options options = {0};
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"client", 0, 0, G_OPTION_ARG_FILENAME, &options.client,
       "claude-desktop, claude-code, vscode, cursor or codex", "NAME"},
      {"scope", 0, 0, G_OPTION_ARG_FILENAME, &options.scope,
       "user: for all that you do; project: for the current directory", "user|project"},
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &options.toolset,
       "The toolset that the client gets (default: adder)", "NAME"},
      {"url", 0, 0, G_OPTION_ARG_FILENAME, &options.url,
       "Over HTTP, to a daemon that serves it; otherwise the client starts adder mcp", "URL"},
      {"name", 0, 0, G_OPTION_ARG_FILENAME, &options.name, "What the server is called there; adder", "NAME"},
      {"print", 0, 0, G_OPTION_ARG_NONE, &options.print,
       "Print what the file would hold without anything else in it", NULL},
      {NULL},
  };
  int code = 0;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else if (!options.client) {
    g_autofree char *names = mcp_client_names ();
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_INVALID, "--client is missing: it is one of %s", names);
    code = cli_fail_usage (problem);
  } else if (!install (&options, &problem))
    code = cli_fail (problem);
  g_free (options.client);
  g_free (options.toolset);
  g_free (options.scope);
  g_free (options.url);
  g_free (options.name);
  return code;
}
