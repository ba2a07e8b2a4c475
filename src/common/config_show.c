/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration for people and programs: the effective settings, and all keys. */
#include <string.h>

#include "common/config_private.h"
#include "common/json.h"
#include "common/text.h"
#include "sandbox/limits.h"

/* ---- showing ---- */

/* Determined when needed. */
static gboolean
is_left_open (const struct config *config, const struct config_row *row)
{
  if (config_is_text (row))
    return *CONFIG_FIELD (config, row, char *) == NULL;
  return row->computed_as && !row->computed && *CONFIG_FIELD (config, row, guint64) == 0;
}

/* As people may see it, or NULL. The caller's. */
static char *
shown_text (const struct config *config, const struct config_row *row)
{
  const char *value = *CONFIG_FIELD (config, row, char *);
  return value && row->type == CONFIG_URL ? text_without_password (value) : g_strdup (value);
}

static json_t *
config_show_value_json (const struct config *config, const struct config_row *row)
{
  if (config_is_text (row)) {
    g_autofree char *value = shown_text (config, row);
    return json_text_or_null (value);
  }
  if (is_left_open (config, row))
    return json_null ();
  if (row->type == CONFIG_BOOLEAN)
    return json_boolean (*CONFIG_FIELD (config, row, gboolean));
  return json_integer ((json_int_t)*CONFIG_FIELD (config, row, guint64));
}

/* As in adder.conf, except for passwords. */
static char *
config_show_value_text (const struct config *config, const struct config_row *row)
{
  if (config_is_text (row))
    return shown_text (config, row);
  if (is_left_open (config, row))
    return NULL;
  if (row->type == CONFIG_BOOLEAN)
    return g_strdup (*CONFIG_FIELD (config, row, gboolean) ? "true" : "false");
  return g_strdup_printf ("%" G_GUINT64_FORMAT, *CONFIG_FIELD (config, row, guint64));
}

static void
show_json (const struct config *config, FILE *stream)
{
  g_autoptr (json_t) all = json_object ();
  for (gsize i = 0; i < config_rows; i++) {
    const struct config_row *row = &config_table[i];
    json_t *group = json_object_get (all, row->group);
    if (!group) {
      group = json_object ();
      json_object_set_new (all, row->group, group);
    }
    json_object_set_new (group, row->key,
                         json_pack ("{s:o, s:o}", "value", config_show_value_json (config, row), "source",
                                    json_text_or_null (config->sources[i])));
  }
  g_autofree char *text = json_to_text (all);
  fprintf (stream, "%s\n", text);
}

void
config_show (const struct config *config, gboolean json, FILE *stream)
{
  if (json) {
    show_json (config, stream);
    return;
  }
  const char *group = "";
  for (gsize i = 0; i < config_rows; i++) {
    const struct config_row *row = &config_table[i];
    if (strcmp (group, row->group) != 0)
      fprintf (stream, "%s[%s]\n", group[0] ? "\n" : "", row->group);
    group = row->group;
    g_autofree char *value = config_show_value_text (config, row);
    if (!value)
      fprintf (stream, "# %s is %s\n", row->key, row->computed_as);
    else
      fprintf (stream, "%s = %s\n", row->key, value);
    if (strcmp (config->sources[i], "default") != 0)
      fprintf (stream, "#   from %s\n", config->sources[i]);
  }
}

/* ---- documenting ---- */

static char *
kind_text (const struct config_row *row)
{
  switch (row->type) {
  case CONFIG_PATH:
    return g_strdup ("absolute path");
  case CONFIG_CHOICE: {
    g_autofree char *known = g_strjoinv ("`, `", (GStrv)row->choices);
    return g_strdup_printf ("`%s`", known);
  }
  case CONFIG_BOOLEAN:
    return g_strdup ("`true`, `false`");
  case CONFIG_COUNT:
  case CONFIG_DURATION:
  case CONFIG_SIZE: {
    g_autofree char *least = quantity_format (row->minimum, config_unit (row));
    g_autofree char *most = quantity_format (row->maximum, config_unit (row));
    return g_strdup_printf ("%s to %s", least, most);
  }
  case CONFIG_TEXT:
  case CONFIG_URL:
  default:
    return g_strdup ("text");
  }
}

static void
write_keys (FILE *stream)
{
  const char *group = "";
  for (gsize i = 0; i < config_rows; i++) {
    const struct config_row *row = &config_table[i];
    if (strcmp (group, row->group) != 0)
      fprintf (stream, "\n### [%s]\n\n| key | default | values | what it is |\n|---|---|---|---|\n",
               row->group);
    const char *mark = row->live ? " ↻" : "";
    group = row->group;
    g_autofree char *kind = kind_text (row);
    if (row->computed_as)
      fprintf (stream, "| `%s`%s | %s | %s | %s |\n", row->key, mark, row->computed_as, kind, row->text);
    else
      fprintf (stream, "| `%s`%s | `%s` | %s | %s |\n", row->key, mark, row->standard, kind, row->text);
  }
}

static void
write_limits (FILE *stream)
{
  fputs ("\n| limit | default | least | most | what is bounded |\n|---|---|---|---|---|\n", stream);
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *row = &limit_table[i];
    g_autofree char *standard = quantity_format (row->standard, row->unit);
    g_autofree char *least = quantity_format (row->minimum, row->unit);
    g_autofree char *most = quantity_format (row->maximum, row->unit);
    fprintf (stream, "| `%s` | %s | %s | %s | %s%s |\n", row->name, standard, least, most, row->text,
             row->in_spec ? " *" : "");
  }
}

void
config_write_documentation (FILE *stream)
{
  fputs ("<!-- Made by `adder config document`; a test compares the two. Change src/common/config_keys.c "
         "instead. "
         "-->\n"
         "# Configuration\n"
         "\n"
         "Adder needs no configuration. To change defaults, create `adder.conf`, a file of groups and\n"
         "keys. The system's (`/etc/adder/adder.conf` for a package, below the prefix of the build "
         "otherwise) is read first,\n"
         "then the user's (`$XDG_CONFIG_HOME/adder/adder.conf`, so `~/.config/adder/adder.conf`); a key in "
         "the later one takes precedence.\n"
         "If `$ADDER_CONFIG_DIR` is set, only `adder.conf` in that folder is read. An unknown key or a value "
         "out of range\n"
         "is an error that names file, line and key. `adder config show` prints the values in force and "
         "their origins.\n"
         "\n"
         "A daemon reads it when it starts. `adder serve reload`, or SIGHUP, applies changes of the keys "
         "that are marked ↻ and lists\n"
         "the others that have changed: these need a restart. Tokens, profiles and the enablement of tools "
         "are read when they\n"
         "are used. `adder serve status` shows if the file has changed.\n"
         "\n"
         "A duration is a number with `ms`, `s`, `min`, `h` or `d`, a size one with `K`, `M`, `G` or `T` (or "
         "`KiB` ..., powers of\n"
         "1024; `kB`, `MB` ..., powers of 1000). Without a unit, a number is in the unit at the end of the "
         "key's name: "
         "`_ms`, `_bytes`; `max_memory` is in bytes.\n"
         "\n"
         "## adder.conf\n",
         stream);
  write_keys (stream);
  fputs (
      "\n"
      "## Profiles\n"
      "\n"
      "A profile is a named set of limits and rules, one file `NAME.conf`: [profiles.md](profiles.md) and, "
      "key "
      "for key,\n"
      "[profile-keys.md](profile-keys.md). Some come with Adder (`adder profile list`); your own are in "
      "`profiles/` beside\n"
      "`adder.conf`, and replace those of the same name.\n"
      "\n"
      "## Limits\n"
      "\n"
      "Set for one run with `adder run --limit NAME=VALUE`, or `adder_request_set_limit`. A value above the "
      "maximum is an error, never\n"
      "a silent cut. A limit marked * that differs from the default needs a new sandbox, so the run starts\n"
      "some milliseconds later.\n",
      stream);
  write_limits (stream);
  fputs ("\n"
         "## Environment variables\n"
         "\n"
         "| variable | what it is |\n"
         "|---|---|\n"
         "| `ADDER_CONFIG_DIR` | Folder with `adder.conf` and `profiles/`, instead of the default ones. |\n"
         "| `ADDER_RUNTIME_DIR` | Folder for socket, lock and log of the daemon; by default `/run/adder` for "
         "root, "
         "`$XDG_RUNTIME_DIR/adder`, `/run/user/UID/adder`, or `/tmp/adder-UID`. |\n"
         "| `ADDER_URL` | The daemon that the command line uses over HTTP, instead of this machine's "
         "([http.md](http.md)); `--url` takes precedence. |\n"
         "| `ADDER_TOKEN` | The token for it. |\n"
         "| `ADDER_CA_FILE` | CA certificates to trust, instead of the system's. |\n"
         "| `ADDER_MODEL` | The default model, instead of that of "
         "`models.conf` ([models.md](models.md)). |\n"
         "| `ADDER_CACHE_DIR` | Folder for downloads of `adder env image build`; by default "
         "`$XDG_CACHE_HOME/adder`. |\n"
         "| `ADDER_STATE_DIR` | Folder for data that outlives the daemon, such as pending reviews; by "
         "default `/var/lib/adder` for root, `$XDG_STATE_HOME/adder`. |\n"
         "| `ADDER_ENVIRONMENTS_DIR` | Folder with environments, instead of the default ones. |\n"
         "| `ADDER_LIBEXECDIR` | Folder with the runner's programs, when Adder was moved. |\n"
         "| `ADDER_DATADIR` | Folder with the profiles and environments that come with Adder. |\n"
         "| `NO_COLOR` | Set to anything: no colours at a terminal. |\n",
         stream);
}
