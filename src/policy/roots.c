/* SPDX-License-Identifier: Apache-2.0 */
/* Roots: opened anew for each run, so that an administrator's changes to a folder take effect at once. */
#include "policy/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "common/error.h"
#include "common/text.h"
#include "engine/request/workdir.h"
#include "policy/profile_list.h"

#define SHOWN_BYTES 80

static const struct root_mode {
  const char *word;
  enum workdir_mode most;
} modes[] = {{"read", WORKDIR_READ}, {"overlay", WORKDIR_REVIEW}, {"rw", WORKDIR_WRITE}};

struct root {
  char *name, *folder;
  const struct root_mode *mode; /* the most that it allows */
};

static void
root_clear (struct root *root)
{
  g_clear_pointer (&root->name, g_free);
  g_clear_pointer (&root->folder, g_free);
}

static gboolean
roots_is_name (const char *name)
{
  return g_ascii_isalpha (name[0]) && strlen (name) <= 64 &&
         strspn (name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen (name);
}

static const struct root_mode *
parse_mode (const char *word)
{
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    if (strcmp (modes[i].word, word) == 0)
      return &modes[i];
  return NULL;
}

/* WORD is NAME=FOLDER:MODE. */
static gboolean
roots_parse (const char *word, struct root *ret_root, GError **error)
{
  const char *equals = strchr (word, '='), *colon = strrchr (word, ':');
  struct root root = {0};
  if (equals && colon && colon > equals) {
    root.name = g_strndup (word, (gsize)(equals - word));
    root.folder = g_strndup (equals + 1, (gsize)(colon - equals - 1));
    root.mode = parse_mode (colon + 1);
    if (roots_is_name (root.name) && g_path_is_absolute (root.folder) && root.mode) {
      *ret_root = root;
      return TRUE;
    }
  }
  root_clear (&root);
  g_autofree char *shown = text_one_line (word, SHOWN_BYTES);
  g_set_error (
      error, ADDER_ERROR, ADDER_ERROR_INVALID,
      "[http] roots: \"%s\" is not NAME=FOLDER:MODE, as data=/srv/data:read; MODE is read, overlay or "
      "rw",
      shown);
  return FALSE;
}

static GStrv
roots_words_of (const struct config *config, GError **error)
{
  const char *roots = config->http_roots; /* adder serve reload may change it in between */
  return profile_list_parse (roots ? roots : "", error);
}

static gboolean
roots_find (const struct config *config, const char *name, struct root *ret_root)
{
  g_auto (GStrv) words = roots_words_of (config, NULL);
  for (gsize i = 0; words && words[i]; i++) {
    struct root root;
    if (!roots_parse (words[i], &root, NULL))
      continue;
    if (strcmp (root.name, name) == 0) {
      *ret_root = root;
      return TRUE;
    }
    root_clear (&root);
  }
  return FALSE;
}

gboolean
root_exists (const struct config *config, const char *name)
{
  struct root root;
  if (!roots_find (config, name, &root))
    return FALSE;
  root_clear (&root);
  return TRUE;
}

static int
roots_open_folder (const struct root *root, GError **error)
{
  int fd = open (root->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    error_from_errno (error, errno, "[http] roots: cannot open the folder of %s", root->name);
  return fd;
}

gboolean
roots_check (const struct config *config, GError **error)
{
  g_auto (GStrv) words = roots_words_of (config, error);
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (gsize i = 0; words && words[i]; i++) {
    struct root root;
    if (!roots_parse (words[i], &root, error))
      return FALSE;
    autoclose int fd = roots_open_folder (&root, error);
    gboolean first = g_hash_table_add (names, g_strdup (root.name));
    if (fd >= 0 && !first)
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "[http] roots: %s occurs twice", root.name);
    root_clear (&root);
    if (fd < 0 || !first)
      return FALSE;
  }
  return words != NULL;
}

static gboolean
roots_is_of (const struct principal *who, const char *name)
{
  return who->is_browser || (who->roots && g_strv_contains ((const char *const *)who->roots, name));
}

static gboolean
allows (const struct root *root, const char *mode, GError **error)
{
  enum workdir_mode wanted;
  if (!workdir_mode_parse (mode, &wanted, error))
    return FALSE;
  if (wanted <= root->mode->most)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "the root %s allows runs to work in it as \"%s\" at most, and \"%s\" was requested",
               root->name, workdir_mode_name (root->mode->most), mode);
  return FALSE;
}

/* Messages use the caller's names, and never the path on this machine. */
static int
open_beneath (const struct root *root, const char *path, const char *shown, GError **error)
{
  g_autoptr (GError) problem = NULL;
  autoclose int folder = roots_open_folder (root, &problem);
  if (folder < 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "the root %s cannot be opened", root->name);
    return -1;
  }
  int fd = sys_openat2 (folder, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (fd >= 0)
    return fd;
  if (errno == EXDEV || errno == ELOOP)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "%s leads through a link, or out of its root",
                 shown);
  else if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no folder %s", shown);
  else
    error_from_errno (error, errno, "cannot open the folder %s", shown);
  return -1;
}

int
root_open (const struct config *config, const struct principal *who, const char *name, const char *path,
           const char *mode, char **ret_path, GError **error)
{
  struct root root = {0};
  if (!roots_is_of (who, name) || !roots_find (config, name, &root)) {
    g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
                 "there is no root \"%s\" for this caller: [http] roots has them, and a token may have some "
                 "of them alone",
                 shown);
    return -1;
  }
  path = path && path[0] ? path : ".";
  g_autofree char *said = text_one_line (path, SHOWN_BYTES);
  g_autofree char *shown = g_strdup_printf ("\"%s\" of the root %s", said, name);
  int fd = -1;
  if (g_path_is_absolute (path) || !g_utf8_validate (path, -1, NULL))
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is no path below it", shown);
  else if (allows (&root, mode, error))
    fd = open_beneath (&root, path, shown, error);
  if (fd >= 0) {
    g_autofree char *whole = g_build_filename ("/", name, path, NULL);
    *ret_path = g_canonicalize_filename (whole, "/");
  }
  root_clear (&root);
  return fd;
}

json_t *
roots_list (const struct config *config, const struct principal *who)
{
  json_t *list = json_array ();
  g_auto (GStrv) words = roots_words_of (config, NULL);
  for (gsize i = 0; words && words[i]; i++) {
    struct root root;
    if (!roots_parse (words[i], &root, NULL))
      continue;
    if (roots_is_of (who, root.name))
      json_array_append_new (list, json_pack ("{s:s, s:s}", "name", root.name, "mode", root.mode->word));
    root_clear (&root);
  }
  return json_pack ("{s:o}", "roots", list);
}
