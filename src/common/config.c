/* SPDX-License-Identifier: Apache-2.0 */
/* adder.conf: one table of keys (config_keys.c). Reading, showing and documenting (config_show.c) are three
 * loops over it; a default is text that goes through the same parser as a file's value, so it cannot be out
 * of its own bounds. */
#include "common/config.h"

#include <string.h>
#include <unistd.h>

#include "adder_types.h"
#include "build-config.h"
#include "common/config_private.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/text.h"
#include "sandbox/host_memory.h"

gboolean
config_is_text (const struct config_row *row)
{
  return row->type == CONFIG_TEXT || row->type == CONFIG_URL || row->type == CONFIG_PATH ||
         row->type == CONFIG_CHOICE;
}

enum limit_unit
config_unit (const struct config_row *row)
{
  if (row->type == CONFIG_SIZE)
    return UNIT_BYTES;
  return row->type == CONFIG_DURATION ? UNIT_MS : UNIT_COUNT;
}

/* ---- reading ---- */

static gboolean
config_set_text (const struct config_row *row, struct config *config, const char *value, GError **error)
{
  if (row->type == CONFIG_PATH && !g_path_is_absolute (value)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not an absolute path", value);
    return FALSE;
  }
  if (row->type == CONFIG_CHOICE && !g_strv_contains (row->choices, value)) {
    g_autofree char *known = g_strjoinv (", ", (GStrv)row->choices);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is none of: %s", value, known);
    return FALSE;
  }
  if (value[0] == '\0') {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the value is empty");
    return FALSE;
  }
  char **field = CONFIG_FIELD (config, row, char *);
  g_free (*field);
  *field = g_strdup (value);
  return TRUE;
}

static gboolean
config_set_boolean (const struct config_row *row, struct config *config, const char *value, GError **error)
{
  gboolean yes = strcmp (value, "true") == 0;
  if (!yes && strcmp (value, "false") != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is neither true nor false", value);
    return FALSE;
  }
  *CONFIG_FIELD (config, row, gboolean) = yes;
  return TRUE;
}

static gboolean
config_set_number (const struct config_row *row, struct config *config, const char *value, GError **error)
{
  guint64 number;
  if (!quantity_parse (value, config_unit (row), &number, error))
    return FALSE;
  if (number < row->minimum || number > row->maximum) {
    g_autofree char *least = quantity_format (row->minimum, config_unit (row));
    g_autofree char *most = quantity_format (row->maximum, config_unit (row));
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is not between %s and %s", value, least, most);
    return FALSE;
  }
  *CONFIG_FIELD (config, row, guint64) = number;
  return TRUE;
}

static gboolean
config_set_value (const struct config_row *row, struct config *config, const char *value, GError **error)
{
  if (config_is_text (row))
    return config_set_text (row, config, value, error);
  if (row->type == CONFIG_BOOLEAN)
    return config_set_boolean (row, config, value, error);
  return config_set_number (row, config, value, error);
}

static const struct config_row *
config_find_row (const char *group, const char *key)
{
  for (gsize i = 0; i < config_rows; i++)
    if (strcmp (config_table[i].group, group) == 0 && strcmp (config_table[i].key, key) == 0)
      return &config_table[i];
  return NULL;
}

static gboolean
config_read_key (struct config *config, GKeyFile *keys, const char *file, const char *group, const char *key,
                 GError **error)
{
  const struct config_row *row = config_find_row (group, key);
  if (!row) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s: [%s] %s: there is no such key (see adder config show)", file, group, key);
    return FALSE;
  }
  g_autoptr (GError) problem = NULL;
  g_autofree char *value = g_key_file_get_string (keys, group, key, &problem);
  if (problem || !config_set_value (row, config, g_strstrip (value), &problem)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s: [%s] %s: %s", file, group, key,
                 problem->message);
    return FALSE;
  }
  char **source = &config->sources[row - config_table];
  g_free (*source);
  *source = g_strdup (file);
  return TRUE;
}

static gboolean
config_read_file (struct config *config, const char *file, gboolean required, GError **error)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_autoptr (GError) problem = NULL;
  if (!g_key_file_load_from_file (keys, file, G_KEY_FILE_NONE, &problem)) {
    gboolean missing = g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
                       g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOTDIR);
    if (missing && !required)
      return TRUE;
    g_set_error (error, ADDER_ERROR, missing ? ADDER_ERROR_NOT_FOUND : ADDER_ERROR_INVALID,
                 "cannot read the configuration %s: %s", file, problem->message);
    return FALSE;
  }
  g_auto (GStrv) groups = g_key_file_get_groups (keys, NULL);
  for (gsize i = 0; groups[i]; i++) {
    g_auto (GStrv) names = g_key_file_get_keys (keys, groups[i], NULL, NULL);
    for (gsize j = 0; names && names[j]; j++)
      if (!config_read_key (config, keys, file, groups[i], names[j], error))
        return FALSE;
  }
  return TRUE;
}

static void
set_defaults (struct config *config)
{
  config->sources = g_new0 (char *, config_rows + 1);
  for (gsize i = 0; i < config_rows; i++) {
    const struct config_row *row = &config_table[i];
    config->sources[i] = g_strdup ("default");
    g_autofree char *value = row->computed ? row->computed () : g_strdup (row->standard);
    g_autoptr (GError) problem = NULL;
    if (value && !config_set_value (row, config, value, &problem))
      g_error ("the default of [%s] %s is wrong: %s", row->group, row->key, problem->message);
  }
}

struct config *
config_load (const char *file, GError **error)
{
  struct config *config = g_new0 (struct config, 1);
  set_defaults (config);

  g_autofree char *directory = paths_config_dir ();
  g_autofree char *user = g_build_filename (directory, "adder.conf", NULL);
  const char *system = ADDER_SYSCONFDIR "/adder.conf";
  const char *given = g_getenv ("ADDER_CONFIG_DIR");
  gboolean alone = (given && given[0] != '\0') || strcmp (user, system) == 0;

  gboolean ok = file ? config_read_file (config, file, TRUE, error)
                     : (alone || config_read_file (config, system, FALSE, error)) &&
                           config_read_file (config, user, FALSE, error);
  if (!ok) {
    error_make_printable (error);
    g_clear_pointer (&config, config_free);
  }
  return config;
}

void
config_free (struct config *config)
{
  if (!config)
    return;
  for (gsize i = 0; i < config_rows; i++)
    if (config_is_text (&config_table[i]))
      g_free (*CONFIG_FIELD (config, &config_table[i], char *));
  g_strfreev (config->sources);
  g_free (config);
}

char *
config_socket (const struct config *config, GError **error)
{
  if (config->socket)
    return g_strdup (config->socket);
  g_autofree char *directory = paths_runtime_dir (error);
  return directory ? g_build_filename (directory, "adder.sock", NULL) : NULL;
}

guint64
config_max_memory (const struct config *config)
{
  return config->max_memory ? config->max_memory : MAX (host_memory_bytes () / 4 * 3, CONFIG_MEMORY_MIN);
}

guint64
config_maximum (const char *group, const char *key)
{
  const struct config_row *row = config_find_row (group, key);
  g_assert (row);
  return row->maximum;
}
