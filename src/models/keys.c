/* SPDX-License-Identifier: Apache-2.0 */
#include "models/keys.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/replace.h"
#include "models/models_file.h"
#include "models/private_file.h"
#include "models/question.h"

static void
keys_wipe (char *secret)
{
  if (secret)
    explicit_bzero (secret, strlen (secret));
  g_free (secret);
}

char *
keys_clean (const char *text, GError **error)
{
  char *key = g_strstrip (g_strdup (text));
  gsize length = strlen (key);
  gboolean ok = length > 0 && length <= KEY_BYTES_MAX;
  for (const char *rest = key; *rest && ok; rest++)
    ok = g_ascii_isgraph (*rest);
  if (ok)
    return key;
  g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_KEY,
                       length == 0 ? "the key is empty"
                                   : "the key must be one word of printable ASCII characters");
  keys_wipe (key);
  return NULL;
}

/* The text that the key is in, the caller's, or NULL. */
static char *
read_variable (const struct model_settings *settings, GError **error)
{
  const char *value = g_getenv (settings->key_env);
  if (value && value[0] != '\0')
    return g_strdup (value);
  g_set_error (
      error, MODEL_ERROR, MODEL_ERROR_KEY,
      "the model %s takes its key from the variable %s, which is not set: set it, or keep a key with adder "
      "model new --replace --key-stdin",
      settings->name, settings->key_env);
  return NULL;
}

static char *
keys_read_file (const struct model_settings *settings, GError **error)
{
  gsize length;
  gboolean missing;
  g_autoptr (GError) problem = NULL;
  char *text =
      private_file_read (settings->key_file, KEY_BYTES_MAX, S_IRWXG | S_IRWXO, &length, &missing, &problem);
  if (!text)
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_KEY, "cannot read the key of the model %s: %s%s",
                 settings->name, missing ? "there is no file " : "",
                 missing ? settings->key_file : problem->message);
  return text;
}

gboolean
keys_resolve (struct model_settings *settings, GError **error)
{
  if (!settings->key_env && !settings->key_file)
    return TRUE;
  char *text = settings->key_file ? keys_read_file (settings, error) : read_variable (settings, error);
  if (!text)
    return FALSE;
  settings->key = keys_clean (text, error);
  keys_wipe (text);
  if (!settings->key)
    g_prefix_error (error, "%s%s: ", settings->key_file ? "" : "the variable ",
                    settings->key_file ? settings->key_file : settings->key_env);
  return settings->key != NULL;
}

char *
keys_describe (const struct model_settings *settings)
{
  if (settings->key_file)
    return g_strdup_printf ("in %s", settings->key_file);
  if (!settings->key_env)
    return g_strdup ("none");
  const char *value = g_getenv (settings->key_env);
  return g_strdup_printf ("$%s%s", settings->key_env, value && value[0] ? "" : ", which is not set");
}

/* ---- files of our own ---- */

char *
keys_own_file (const char *name)
{
  g_autofree char *conf = models_file_path (), *folder = g_path_get_dirname (conf);
  return g_build_filename (folder, "keys", name, NULL);
}

gboolean
keys_store (const char *name, const char *key, GError **error)
{
  g_autofree char *path = keys_own_file (name), *folder = g_path_get_dirname (path);
  if (g_mkdir_with_parents (folder, 0700) < 0)
    return error_from_errno (error, errno, "cannot make the folder %s", folder);
  char *line = g_strconcat (key, "\n", NULL);
  gboolean ok = replace_file (path, path, line, error);
  keys_wipe (line);
  return ok;
}

void
keys_forget (const char *name)
{
  g_autofree char *path = keys_own_file (name);
  (void)g_unlink (path);
}
