/* SPDX-License-Identifier: Apache-2.0 */
/* `adder serve status`, `stop`, `reload` and `logs`: none starts a daemon. */
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/size.h"
#include "engine/request/outcome.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/terminal_text.h"
#include "interfaces/remote/remote.h"
#include "interfaces/socket/client.h"

/* As for a service that is not running: LSB's code. */
#define NOT_RUNNING        3
#define LOG_LINES_STANDARD 100
#define LABEL_WIDTH        22 /* with what it is indented by */

/* Where the daemon listens; a configuration error is only reported. The caller's. */
static char *
socket_anyway (GError **error)
{
  g_autoptr (GError) mistake = NULL;
  struct config *config = config_load_anyway (&mistake);
  char *socket = config_socket (config, error);
  if (mistake)
    cli_warn (mistake);
  config_free (config);
  return socket;
}

/* ---- for people ---- */

static void print_value (const char *name, const json_t *value, int depth);

static void
print_members (const json_t *object, int depth)
{
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)object, name, value) print_value (name, value, depth);
}

/* A number in words, by the suffix of its name. */
static char *
cli_status_number_text (const char *name, json_int_t number)
{
  if (g_str_has_suffix (name, "_ms"))
    return duration_format ((guint64)MAX (number, 0));
  if (g_str_has_suffix (name, "_bytes"))
    return size_format ((guint64)MAX (number, 0));
  return g_strdup_printf ("%" JSON_INTEGER_FORMAT, number);
}

static void
print_value (const char *name, const json_t *value, int depth)
{
  g_autofree char *label = g_strdup (name);
  if (g_str_has_suffix (label, "_ms") || g_str_has_suffix (label, "_bytes"))
    *strrchr (label, '_') = '\0';
  g_strdelimit (label, "_", ' ');
  if (json_is_object (value)) {
    if (json_object_size (value) > 0) {
      cli_print_line ("%*s%s:", depth * 2, "", label);
      print_members (value, depth + 1);
    }
  } else if (json_is_array (value)) {
    gsize i;
    json_t *item;
    json_array_foreach (value, i, item)
    {
      /* "pools" is "pool 1", "pool 2", ... */
      int singular = (int)strlen (label) - g_str_has_suffix (label, "s");
      g_autofree char *numbered = g_strdup_printf ("%.*s %zu", singular, label, i + 1);
      print_value (numbered, item, depth);
    }
  } else if (json_is_integer (value)) {
    g_autofree char *text = cli_status_number_text (name, json_integer_value (value));
    cli_print_line ("%*s%-*s %s", depth * 2, "", LABEL_WIDTH - depth * 2, label, text);
  } else if (json_is_string (value))
    cli_print_line ("%*s%-*s %s", depth * 2, "", LABEL_WIDTH - depth * 2, label, json_string_value (value));
  else if (json_is_real (value))
    cli_print_line ("%*s%-*s %.1f", depth * 2, "", LABEL_WIDTH - depth * 2, label, json_real_value (value));
  else if (json_is_boolean (value))
    cli_print_line ("%*s%-*s %s", depth * 2, "", LABEL_WIDTH - depth * 2, label,
                    json_is_true (value) ? "yes" : "no");
}

static void
print_status (json_t *status, gboolean json)
{
  if (json) {
    cli_print_json (status);
    return;
  }
  /* Histograms for monitoring, with all their buckets. */
  json_object_del (json_object_get (status, "engine"), "totals");
  gboolean changed = json_is_true (json_object_get (status, "config_changed"));
  json_object_del (status, "config_changed");
  gboolean replaced = json_is_true (json_object_get (status, "program_replaced"));
  json_object_del (status, "program_replaced");
  if (json_integer_value (json_object_get (status, "idle_exit_ms")) == 0)
    json_object_set_new (status, "idle_exit_ms", json_string ("never"));
  print_members (status, 0);
  if (changed)
    printf ("the configuration has changed since the daemon read it: adder serve reload applies it\n");
  if (replaced)
    printf ("the program was replaced since the daemon started: a restart changes to the new one, and ends "
            "sessions\n");
}

static int
no_daemon (const char *socket, gboolean json)
{
  g_autoptr (json_t) status = json_pack ("{s:b, s:o}", "daemon", 0, "socket", json_text_or_null (socket));
  if (json)
    print_status (status, TRUE);
  else
    printf ("no daemon is running (nothing answers on %s)\n", socket);
  return NOT_RUNNING;
}

int
cli_serve_status (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autofree char *socket = remote_is_set () ? NULL : socket_anyway (&problem);
  g_autoptr (json_t) status = problem ? NULL : client_call (socket, "status.show", json_object (), &problem);
  if (!status && socket && g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
    return no_daemon (socket, json);
  if (!status)
    return cli_fail (problem);
  print_status (status, json);
  return 0;
}

static void
print_names_of (const json_t *answer, const char *member, const char *label, const char *none)
{
  gsize i;
  json_t *name;
  const json_t *names = json_object_get (answer, member);
  if (json_array_size (names) == 0 && none)
    cli_print_line ("%s", none);
  json_array_foreach (names, i, name)
      cli_print_line ("%-*s %s", LABEL_WIDTH, i == 0 ? label : "", json_string_value (name));
}

void
cli_serve_reload_view (const json_t *answer)
{
  print_names_of (answer, "applied", "changed", "no change to apply");
  print_names_of (answer, "restart", "needs a restart", NULL);
  print_names_of (answer, "http", "HTTP", NULL);
}

static int
say_stopped (const struct client_stopped *held)
{
  const char *sessions = held->sessions == 1 ? "" : "s";
  if (!held->stopped) {
    g_autoptr (GError) problem =
        g_error_new (ADDER_ERROR, ADDER_ERROR_BUSY,
                     "the daemon keeps %u session%s, whose variables would be lost (adder session list shows "
                     "them); adder serve stop --force ends them too",
                     held->sessions, sessions);
    cli_fail (problem);
    return outcome_exit_code (ADDER_OUTCOME_BUSY);
  }
  printf ("the daemon has ended");
  if (held->running > 0)
    printf ("; %u run%s cancelled", held->running, held->running == 1 ? " was" : "s were");
  if (held->sessions > 0)
    printf ("; %u session%s ended with it", held->sessions, sessions);
  printf ("\n");
  return 0;
}

int
cli_serve_stop (int argc, char **argv)
{
  gboolean force = FALSE;
  const GOptionEntry entries[] = {
      {"force", 0, 0, G_OPTION_ARG_NONE, &force, "Also if there are sessions, which end with the daemon",
       NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  struct client client;
  struct client_stopped held;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autofree char *socket = socket_anyway (&problem);
  if (!socket || !client_connect (socket, &client, &problem)) {
    if (!g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND) || !socket)
      return cli_fail (problem);
    printf ("no daemon is running\n");
    return 0;
  }
  gboolean ok = client_stop (&client, force ? CLIENT_STOP_ALL : CLIENT_STOP_KEEP_SESSIONS, &held, &problem);
  client_close (&client);
  return ok ? say_stopped (&held) : cli_fail (problem);
}

/* ---- the log ---- */

/* The last COUNT lines of TEXT, which ends with a newline if complete. */
static const char *
find_last_lines (const char *text, gsize length, gint64 count)
{
  const char *at = text + length;
  if (at > text && at[-1] == '\n')
    at--;
  while (at > text && (at[-1] != '\n' || --count > 0))
    at--;
  return at;
}

int
cli_serve_logs (int argc, char **argv)
{
  gint64 lines = LOG_LINES_STANDARD;
  const GOptionEntry entries[] = {
      {"limit", 'n', 0, G_OPTION_ARG_INT64, &lines,
       "The last N lines (default " G_STRINGIFY (LOG_LINES_STANDARD) ")", "N"},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  g_autofree char *text = NULL;
  gsize length = 0;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (lines < 1) {
    g_set_error_literal (&problem, ADDER_ERROR, ADDER_ERROR_INVALID, "--limit is at least 1");
    return cli_fail_usage (problem);
  }
  g_autofree char *path = client_log_path (&problem);
  if (!path)
    return cli_fail (problem);
  if (!g_file_get_contents (path, &text, &length, &problem)) {
    if (!g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
      return cli_fail (problem);
    fprintf (stderr,
             "adder: no daemon has run in the background here (%s is missing); one in the foreground logs to "
             "its standard error, and a service to the journal\n",
             path);
    return 0;
  }
  terminal_text_write (find_last_lines (text, length, lines), -1, stdout);
  return 0;
}
