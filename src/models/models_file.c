/* SPDX-License-Identifier: Apache-2.0 */
#include "models/models_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/replace.h"
#include "common/text.h"
#include "models/private_file.h"
#include "models/question.h"
#include "models/replay.h"

gboolean
model_name_check (const char *name, GError **error)
{
  gboolean ok = g_ascii_isalnum (name[0]) && strlen (name) <= MODEL_NAME_MAX &&
                strcmp (name, MODELS_GROUP) != 0 && !g_str_has_prefix (name, REPLAY_PREFIX);
  for (const char *rest = name; *rest && ok; rest++)
    ok = g_ascii_isalnum (*rest) || strchr ("_-.:", *rest);
  if (ok)
    return TRUE;
  g_autofree char *shown = text_one_line (name, MODEL_NAME_MAX);
  g_set_error (
      error, MODEL_ERROR, MODEL_ERROR_INVALID,
      "\"%s\" is no name of a model: a letter or digit, then letters, digits, \"_\", \"-\", \".\" and \":\", "
      "at most %d, but neither \"" MODELS_GROUP "\" nor \"" REPLAY_PREFIX "...\"",
      shown, MODEL_NAME_MAX);
  return FALSE;
}

char *
models_file_path (void)
{
  g_autofree char *folder = paths_config_dir ();
  return g_build_filename (folder, "models.conf", NULL);
}

/* ---- reading ---- */

static gboolean
models_file_wrong (GError **error, const char *path, const char *group, const char *what)
{
  g_autofree char *shown = text_one_line (group, MODEL_NAME_MAX);
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "%s: [%s]: %s", path, shown, what);
  return FALSE;
}

/* Those of a file that is not there are none. */
static GKeyFile *
models_file_load (const char *path, GError **error)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_autoptr (GError) problem = NULL;
  gsize length;
  gboolean missing;
  g_autofree char *text =
      private_file_read (path, MODELS_FILE_BYTES, S_IWGRP | S_IWOTH, &length, &missing, &problem);
  gboolean ok =
      missing || (text && (length == 0 || g_key_file_load_from_data (keys, text, length,
                                                                     G_KEY_FILE_KEEP_COMMENTS, &problem)));
  if (ok)
    return g_steal_pointer (&keys);
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "cannot read %s: %s", path, problem->message);
  return NULL;
}

/* The model that the group NAME is, or NULL. */
static struct model_settings *
models_file_read_group (GKeyFile *keys, const char *path, const char *name, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if (!model_name_check (name, &problem)) {
    models_file_wrong (error, path, name, problem->message);
    return NULL;
  }
  g_autoptr (model_settings_auto) settings = model_settings_new (name);
  g_auto (GStrv) members = g_key_file_get_keys (keys, name, NULL, NULL);
  for (gsize i = 0; members && members[i]; i++) {
    g_autofree char *value = g_key_file_get_string (keys, name, members[i], &problem);
    if (!value || !model_settings_set (settings, members[i], g_strstrip (value), &problem)) {
      models_file_wrong (error, path, name, problem->message);
      return NULL;
    }
  }
  if (model_settings_check (settings, &problem))
    return g_steal_pointer (&settings);
  models_file_wrong (error, path, name, problem->message);
  return NULL;
}

static const struct model_settings *
find (const GPtrArray *models, const char *name)
{
  for (guint i = 0; i < models->len; i++)
    if (strcmp (((struct model_settings *)models->pdata[i])->name, name) == 0)
      return models->pdata[i];
  return NULL;
}

/* *RET_DEFAULT is set where the group [models] names one. */
static gboolean
read_default (GKeyFile *keys, const char *path, const GPtrArray *models, char **ret_default, GError **error)
{
  g_auto (GStrv) members = g_key_file_get_keys (keys, MODELS_GROUP, NULL, NULL);
  for (gsize i = 0; members && members[i]; i++)
    if (strcmp (members[i], MODELS_DEFAULT) != 0)
      return models_file_wrong (error, path, MODELS_GROUP, "it has no key but " MODELS_DEFAULT);
  g_autofree char *name = g_key_file_get_string (keys, MODELS_GROUP, MODELS_DEFAULT, NULL);
  if (name && !find (models, g_strstrip (name)) && !g_str_has_prefix (name, REPLAY_PREFIX))
    return models_file_wrong (error, path, MODELS_GROUP, "its " MODELS_DEFAULT " is no model of the file");
  *ret_default = g_steal_pointer (&name);
  return TRUE;
}

static GPtrArray *
models_file_read_all (GKeyFile *keys, const char *path, char **ret_default, GError **error)
{
  g_autoptr (GPtrArray) models = g_ptr_array_new_with_free_func ((GDestroyNotify)model_settings_free);
  gsize count;
  g_auto (GStrv) groups = g_key_file_get_groups (keys, &count);
  if (count > MODELS_MAX + 1) {
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "%s has more than %d models: remove some", path,
                 MODELS_MAX);
    return NULL;
  }
  for (gsize i = 0; i < count; i++) {
    if (strcmp (groups[i], MODELS_GROUP) == 0)
      continue;
    struct model_settings *settings = models_file_read_group (keys, path, groups[i], error);
    if (!settings)
      return NULL;
    g_ptr_array_add (models, settings);
  }
  return read_default (keys, path, models, ret_default, error) ? g_steal_pointer (&models) : NULL;
}

GPtrArray *
models_file_read (char **ret_default, GError **error)
{
  g_autofree char *path = models_file_path ();
  g_autoptr (GKeyFile) keys = models_file_load (path, error);
  return keys ? models_file_read_all (keys, path, ret_default, error) : NULL;
}

struct model_settings *
models_file_find (const char *name, GError **error)
{
  g_autofree char *standard = NULL;
  g_autoptr (GPtrArray) models = models_file_read (&standard, error);
  if (!models)
    return NULL;
  struct text_guess guess = TEXT_GUESS_NONE;
  for (guint i = 0; i < models->len; i++) {
    struct model_settings *settings = models->pdata[i];
    if (strcmp (settings->name, name) == 0)
      return g_ptr_array_steal_index (models, i);
    text_consider (&guess, name, settings->name);
  }
  g_autofree char *shown = text_one_line (name, MODEL_NAME_MAX);
  g_autofree char *meant = guess.best ? g_strdup_printf ("; did you mean %s?", guess.best) : g_strdup ("");
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_UNKNOWN,
               "there is no model %s: adder model new adds one, replay:FILE plays one%s", shown, meant);
  return NULL;
}

/* ---- writing ---- */

gboolean
models_file_change (gboolean (*change) (GKeyFile *keys, gpointer data, GError **error), gpointer data,
                    GError **error)
{
  g_autofree char *path = models_file_path (), *folder = g_path_get_dirname (path), *standard = NULL;
  if (g_mkdir_with_parents (folder, 0700) < 0)
    return error_from_errno (error, errno, "cannot make the folder %s", folder);
  /* Beside it: the file itself is another one after each change. */
  g_autofree char *beside = g_strconcat (path, ".lock", NULL);
  autoclose int lock = open (beside, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0 || flock (lock, LOCK_EX) < 0)
    return error_from_errno (error, errno, "cannot lock %s", beside);
  g_autoptr (GKeyFile) keys = models_file_load (path, error);
  if (!keys || !change (keys, data, error))
    return FALSE;
  g_autoptr (GPtrArray) models = models_file_read_all (keys, path, &standard, error);
  g_autofree char *text = models ? g_key_file_to_data (keys, NULL, NULL) : NULL;
  return text && replace_file (path, path, text, error);
}
