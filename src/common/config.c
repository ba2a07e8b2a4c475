/* SPDX-License-Identifier: Apache-2.0 */
/* adder.conf: one table of keys (config_keys.c). Reading, showing and documenting (config_show.c) are three
 * loops over it; a default is text that goes through the same parser as a file's value, so it cannot be out
 * of its own bounds. */
#include "common/config.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "build-config.h"
#include "common/config_private.h"
#include "common/error.h"
#include "common/ini.h"
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
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not one of: %s", value, known);
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
config_has_group (const char *group)
{
  for (gsize i = 0; i < config_rows; i++)
    if (strcmp (config_table[i].group, group) == 0)
      return TRUE;
  return FALSE;
}

static void
config_unknown_group (struct ini *ini, const struct ini_line *line)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  for (gsize i = 0; i < config_rows; i++)
    text_consider (&guess, line->group, config_table[i].group);
  if (guess.best)
    ini_complain (ini, line->number, NULL, NULL, "there is no group [%s]; did you mean [%s]?", line->group,
                  guess.best);
  else
    ini_complain (ini, line->number, NULL, NULL, "there is no group [%s] (adder config show lists them)",
                  line->group);
}

/* The key that resembles LINE's, of the same group or else of another one; or NULL. */
static const struct config_row *
config_like (const struct ini_line *line, gboolean same_group)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  const struct config_row *like = NULL;
  for (gsize i = 0; i < config_rows; i++) {
    const struct config_row *row = &config_table[i];
    if ((strcmp (row->group, line->group) == 0) != same_group)
      continue;
    text_consider (&guess, line->key, row->key);
    if (guess.best == row->key)
      like = row;
  }
  return like;
}

static void
config_unknown_key (struct ini *ini, const struct ini_line *line)
{
  const struct config_row *here = config_like (line, TRUE), *there = config_like (line, FALSE);
  g_autofree char *what = here    ? g_strdup_printf ("; did you mean %s?", here->key)
                          : there ? g_strdup_printf ("; did you mean %s of [%s]?", there->key, there->group)
                                  : g_strdup (" (adder config show lists them)");
  ini_complain (ini, line->number, line->group, line->key, "there is no such key%s", what);
}

static void
config_unknown (struct ini *ini, const struct ini_line *line)
{
  gboolean has_group = config_has_group (line->group);
  if (has_group && line->key)
    config_unknown_key (ini, line);
  else if (!has_group && !line->key) /* its keys are not told one by one */
    config_unknown_group (ini, line);
}

static void
config_take_line (struct ini *ini, const struct ini_line *line, const char *path, struct config *config)
{
  const struct config_row *row = line->key ? config_find_row (line->group, line->key) : NULL;
  g_autoptr (GError) problem = NULL;
  if (!row)
    config_unknown (ini, line);
  else if (!config_set_value (row, config, line->value, &problem))
    ini_complain (ini, line->number, line->group, line->key, "%s", problem->message);
  else {
    char **source = &config->sources[row - config_table];
    g_free (*source);
    *source = g_strdup (path);
  }
}

/* All valid settings in PATH are in CONFIG, even if ERROR reports a mistake. */
static gboolean
config_read_file (struct config *config, const char *path, gboolean required, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct ini *ini = ini_read_file ("the configuration", path, &problem);
  if (!ini) {
    if (!required && g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
      return TRUE;
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  for (guint i = 0; i < ini->lines->len; i++)
    config_take_line (ini, ini->lines->pdata[i], path, config);
  ini_sort_problems (ini);
  gboolean ok = ini->problems->len == 0;
  if (!ok)
    ini_fail (ini->problems, path, error);
  ini_free (ini);
  return ok;
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

/* PATH is taken. */
static void
config_note_file (struct config_file *file, char *path)
{
  struct stat st;
  *file = (struct config_file){.path = path};
  if (stat (path, &st) < 0)
    return;
  file->inode = st.st_ino;
  file->bytes = (guint64)st.st_size;
  file->changed_ns = (gint64)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* The files to read, in order, into config->files: noted before they are read, so that a change in between is
 * noticed later. */
static void
config_note_files (struct config *config, const char *file)
{
  g_autofree char *directory = paths_config_dir ();
  g_autofree char *user = g_build_filename (directory, "adder.conf", NULL);
  const char *system = ADDER_SYSCONFDIR "/adder.conf";
  const char *given = g_getenv ("ADDER_CONFIG_DIR");
  gboolean alone = (given && given[0] != '\0') || strcmp (user, system) == 0;
  if (!file && !alone)
    config_note_file (&config->files[0], g_strdup (system));
  config_note_file (&config->files[1], g_strdup (file ? file : user));
}

/* The configuration, even if ERROR reports a mistake. */
static struct config *
config_read (const char *file, GError **error)
{
  struct config *config = g_new0 (struct config, 1);
  set_defaults (config);
  config_note_files (config, file);
  for (gsize i = 0; i < G_N_ELEMENTS (config->files); i++) {
    g_autoptr (GError) problem = NULL;
    if (config->files[i].path && !config_read_file (config, config->files[i].path, file != NULL, &problem) &&
        error && !*error)
      g_propagate_error (error, g_steal_pointer (&problem));
  }
  if (g_strcmp0 (g_getenv (CONFIG_GATEWAY), "1") == 0)
    config->cluster_gateway = TRUE;
  return config;
}

struct config *
config_load (const char *file, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct config *config = config_read (file, &problem);
  if (problem) {
    g_propagate_error (error, g_steal_pointer (&problem));
    g_clear_pointer (&config, config_free);
  }
  return config;
}

struct config *
config_load_anyway (GError **error)
{
  return config_read (NULL, error);
}

gboolean
config_is_stale (const struct config *config)
{
  for (gsize i = 0; i < G_N_ELEMENTS (config->files); i++) {
    const struct config_file *then = &config->files[i];
    struct config_file now = {0};
    if (!then->path)
      continue;
    config_note_file (&now, then->path); /* which stays THEN's */
    if (now.inode != then->inode || now.bytes != then->bytes || now.changed_ns != then->changed_ns)
      return TRUE;
  }
  return FALSE;
}

/* ---- changing ---- */

static char *
config_name_of (const struct config_row *row)
{
  return g_strdup_printf ("[%s] %s", row->group, row->key);
}

static gboolean
config_differs (const struct config_row *row, const struct config *left, const struct config *right)
{
  if (config_is_text (row))
    return g_strcmp0 (*CONFIG_FIELD (left, row, char *), *CONFIG_FIELD (right, row, char *)) != 0;
  if (row->type == CONFIG_BOOLEAN)
    return *CONFIG_FIELD (left, row, gboolean) != *CONFIG_FIELD (right, row, gboolean);
  return *CONFIG_FIELD (left, row, guint64) != *CONFIG_FIELD (right, row, guint64);
}

static void
config_take (const struct config_row *row, struct config *config, const struct config *from)
{
  if (config_is_text (row)) {
    char **place = CONFIG_FIELD (config, row, char *);
    if (!config->replaced)
      config->replaced = g_ptr_array_new_with_free_func (g_free);
    g_ptr_array_add (config->replaced, *place);
    __atomic_store_n (place, g_strdup (*CONFIG_FIELD (from, row, char *)), __ATOMIC_SEQ_CST);
  } else if (row->type == CONFIG_BOOLEAN)
    __atomic_store_n (CONFIG_FIELD (config, row, gboolean), *CONFIG_FIELD (from, row, gboolean),
                      __ATOMIC_SEQ_CST);
  else
    __atomic_store_n (CONFIG_FIELD (config, row, guint64), *CONFIG_FIELD (from, row, guint64),
                      __ATOMIC_SEQ_CST);
}

static void
config_take_stamps (struct config *config, const struct config *from)
{
  for (gsize i = 0; i < G_N_ELEMENTS (config->files); i++) {
    config->files[i].inode = from->files[i].inode;
    config->files[i].bytes = from->files[i].bytes;
    config->files[i].changed_ns = from->files[i].changed_ns;
  }
}

struct config *
config_copy (const struct config *config)
{
  struct config *copy = g_new0 (struct config, 1);
  for (gsize i = 0; i < config_rows; i++)
    config_take (&config_table[i], copy, config);
  copy->sources = g_strdupv (config->sources);
  config_take_stamps (copy, config);
  return copy;
}

void
config_reload (struct config *config, const struct config *fresh, char ***ret_applied, char ***ret_restart)
{
  g_autoptr (GStrvBuilder) applied = g_strv_builder_new (), restart = g_strv_builder_new ();
  for (gsize i = 0; i < config_rows; i++) {
    const struct config_row *row = &config_table[i];
    if (!config_differs (row, config, fresh))
      continue;
    g_autofree char *name = config_name_of (row);
    g_strv_builder_add (row->live ? applied : restart, name);
    if (row->live)
      config_take (row, config, fresh);
  }
  config_take_stamps (config, fresh);
  *ret_applied = g_strv_builder_end (applied);
  *ret_restart = g_strv_builder_end (restart);
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
  for (gsize i = 0; i < G_N_ELEMENTS (config->files); i++)
    g_free (config->files[i].path);
  if (config->replaced)
    g_ptr_array_unref (config->replaced);
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
config_packages_build_bytes (const struct config *config)
{
  return config->packages_build_bytes ? config->packages_build_bytes : 2 * config->packages_environment_bytes;
}

guint64
config_packages_owner_bytes (const struct config *config)
{
  return config->packages_cache_bytes_owner
             ? config->packages_cache_bytes_owner
             : MAX (config->packages_cache_bytes / 2, config->packages_environment_bytes);
}

guint64
config_maximum (const char *group, const char *key)
{
  const struct config_row *row = config_find_row (group, key);
  g_assert (row);
  return row->maximum;
}
