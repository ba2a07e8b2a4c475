/* SPDX-License-Identifier: Apache-2.0 */
/* `adder run`: from options to a request, from a source of events to what a person or a program reads. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/config.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "engine/explain.h"
#include "engine/id.h"
#include "engine/result.h"
#include "frontends/cli.h"
#include "frontends/run_source.h"
#include "frontends/run_view.h"
#include "frontends/submission.h"
#include "policy/profile.h"

struct run_options {
  char *code, *out, *environment, *profile, *isolation, *timeout, *memory, *stdin_file, *conversation;
  char **files, **limits, **variables;
  gboolean json, no_daemon;
  const char *file; /* FILE or "-", or NULL */
  char **arguments; /* what follows "--"; argv's */
};

static void
run_options_clear (struct run_options *options)
{
  g_free (options->code);
  g_free (options->out);
  g_free (options->environment);
  g_free (options->profile);
  g_free (options->isolation);
  g_free (options->timeout);
  g_free (options->memory);
  g_free (options->stdin_file);
  g_free (options->conversation);
  g_strfreev (options->files);
  g_strfreev (options->limits);
  g_strfreev (options->variables);
}

static gboolean invalid (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
invalid (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *clean = g_utf8_make_valid (text, -1);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, clean);
  return FALSE;
}

/* ---- options ---- */

static gboolean
parse_options (int argc, char **argv, struct run_options *options, GError **error)
{
  const GOptionEntry entries[] = {
      {"code", 'c', 0, G_OPTION_ARG_FILENAME, &options->code, "Run CODE", "CODE"},
      {"file", 'f', 0, G_OPTION_ARG_FILENAME_ARRAY, &options->files,
       "Put a file into the current directory of the code, as NAME; may be repeated", "PATH[:NAME]"},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
       "Write the files that the code made to a directory", "DIR"},
      {"env", 'e', 0, G_OPTION_ARG_FILENAME, &options->environment, "Environment to run in (adder env list)",
       "NAME"},
      {"profile", 'p', 0, G_OPTION_ARG_FILENAME, &options->profile, "Set of limits (adder profile list)",
       "NAME"},
      {"timeout", 't', 0, G_OPTION_ARG_FILENAME, &options->timeout,
       "Wall clock limit in seconds, or as in 500ms, 2min", "TIME"},
      {"memory", 'm', 0, G_OPTION_ARG_FILENAME, &options->memory, "Memory limit, as in 512M, 2G", "SIZE"},
      {"limit", 'l', 0, G_OPTION_ARG_FILENAME_ARRAY, &options->limits,
       "Any limit (adder profile show); may be repeated", "NAME=VALUE"},
      {"stdin", 0, 0, G_OPTION_ARG_FILENAME, &options->stdin_file, "Standard input of the code; - is our own",
       "FILE"},
      {"set-env", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->variables,
       "Environment variable of the code; may be repeated", "NAME=VALUE"},
      {"isolation", 0, 0, G_OPTION_ARG_FILENAME, &options->isolation,
       "Kind of sandbox: auto, namespaces, process, or none (nothing is confined)", "KIND"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options->json,
       "Print the result as one JSON object, and nothing else", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options->no_daemon, "Run in this process, without a daemon",
       NULL},
      {"conversation", 0, 0, G_OPTION_ARG_FILENAME, &options->conversation,
       "Conversation that the run belongs to", "ID"},
      {NULL},
  };
  /* What follows "--" belongs to the code, whatever it looks like. */
  int own = 1;
  while (own < argc && strcmp (argv[own], "--") != 0)
    own++;
  options->arguments = own < argc ? argv + own + 1 : argv + argc;

  g_autofree char **left = g_new0 (char *, (gsize)own + 1);
  memcpy (left, argv, (gsize)own * sizeof *left);
  char **rest = left;
  if (!cli_parse (entries, 0, 1, &own, &rest, error))
    return FALSE;
  options->file = own > 1 ? rest[1] : NULL;

  if (options->code && options->file)
    return invalid (error, "either -c CODE or a FILE can be run, not both");
  if (!options->code && !options->file)
    return invalid (error, "nothing to run: give a FILE, - for standard input, or -c CODE");
  if (g_strcmp0 (options->file, "-") == 0 && g_strcmp0 (options->stdin_file, "-") == 0)
    return invalid (error, "standard input can be the code or the code's input, not both");
  return TRUE;
}

/* Whether --json is among the options, for when they cannot be parsed. */
static gboolean
wants_json (int argc, char **argv)
{
  for (int i = 1; i < argc && strcmp (argv[i], "--") != 0; i++)
    if (strcmp (argv[i], "--json") == 0)
      return TRUE;
  return FALSE;
}

/* ---- the request ---- */

static gboolean
set_text (struct submission *request, const char *field, const char *text, GError **error)
{
  if (!text)
    return TRUE;
  if (json_object_set_new (request->body, field, json_string (text)) < 0)
    return invalid (error, "the %s \"%s\" is not UTF-8", field, text);
  return TRUE;
}

/* All of FD up to PROTOCOL_CODE_MAX; what is longer than the limit code_bytes is cut, and refused by the
 * library. */
static gboolean
read_code (struct submission *request, int fd, const char *name, GError **error)
{
  g_autoptr (GByteArray) code = g_byte_array_new ();
  guint8 block[65536];
  while (code->len < PROTOCOL_CODE_MAX) {
    ssize_t got = read (fd, block, MIN (sizeof block, PROTOCOL_CODE_MAX - code->len));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return error_from_errno (error, errno, "cannot read %s", name);
    if (got == 0)
      break;
    g_byte_array_append (code, block, (guint)got);
  }
  request->code_length = code->len;
  request->code = (char *)g_byte_array_free (g_steal_pointer (&code), FALSE);
  return TRUE;
}

/* A descriptor that PATH names is duplicated: opening a pipe by name anew needs rights that who was given it
 * may lack. */
static int
open_or_duplicate (const char *path)
{
  guint64 number = STDIN_FILENO;
  if (strcmp (path, "/dev/stdin") == 0 ||
      (g_str_has_prefix (path, "/dev/fd/") && count_parse (path + strlen ("/dev/fd/"), &number, NULL) &&
       number <= G_MAXINT))
    return fcntl ((int)number, F_DUPFD_CLOEXEC, 0);
  return open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

static gboolean
open_input (const char *path, int *ret_fd, GError **error)
{
  int fd = open_or_duplicate (path);
  struct stat st;
  if (fd < 0)
    return error_from_errno (error, errno, "cannot open %s", path);
  /* /dev/null is a file to everybody; other devices and sockets have no end. */
  if (fstat (fd, &st) == 0 && !S_ISREG (st.st_mode) && !S_ISFIFO (st.st_mode) &&
      strcmp (path, "/dev/null") != 0) {
    close (fd);
    return invalid (error, "%s is %s, not a file", path,
                    S_ISDIR (st.st_mode) ? "a directory" : "a device or a socket");
  }
  *ret_fd = fd;
  return TRUE;
}

static gboolean
take_code (struct submission *request, const struct run_options *options, GError **error)
{
  if (options->code) {
    request->code = g_strdup (options->code);
    request->code_length = strlen (options->code);
    return TRUE;
  }
  if (strcmp (options->file, "-") == 0)
    return read_code (request, STDIN_FILENO, "standard input", error);
  autoclose int fd = -1;
  g_autofree char *name = g_path_get_basename (options->file);
  return open_input (options->file, &fd, error) && read_code (request, fd, options->file, error) &&
         set_text (request, "name", name, error);
}

/* PATH[:NAME]: a path that is there as a whole may hold colons. */
static gboolean
add_file (struct submission *request, json_t *names, const char *text, GError **error)
{
  g_autofree char *path = g_strdup (text);
  g_autofree char *name = NULL;
  char *colon = strrchr (path, ':');
  if (colon && !g_file_test (path, G_FILE_TEST_EXISTS)) {
    name = g_strdup (colon + 1);
    *colon = '\0';
  } else
    name = g_path_get_basename (path);
  autoclose int fd = -1;
  if (!open_input (path, &fd, error))
    return FALSE;
  if (json_array_append_new (names, json_string (name)) < 0)
    return invalid (error, "the file name \"%s\" is not UTF-8: give it another with %s:NAME", name, path);
  return submission_take_fd (request, &fd, error);
}

static gboolean
add_files (struct submission *request, const struct run_options *options, GError **error)
{
  json_t *names = json_array ();
  json_object_set_new (request->body, "files", names);
  for (gsize i = 0; options->files && options->files[i]; i++)
    if (!add_file (request, names, options->files[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
add_stdin (struct submission *request, const struct run_options *options, GError **error)
{
  if (!options->stdin_file)
    return TRUE;
  autoclose int fd = -1;
  if (strcmp (options->stdin_file, "-") != 0) {
    if (!open_input (options->stdin_file, &fd, error))
      return FALSE;
  } else if ((fd = fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) < 0)
    return error_from_errno (error, errno, "cannot use our own standard input");
  json_object_set_new (request->body, "stdin", json_true ());
  return submission_take_fd (request, &fd, error);
}

static gboolean
add_directory (struct submission *request, const struct run_options *options, GError **error)
{
  if (!options->out)
    return TRUE;
  if (g_mkdir_with_parents (options->out, 0777) < 0)
    return error_from_errno (error, errno, "cannot make the directory %s", options->out);
  autoclose int fd = open (options->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return error_from_errno (error, errno, "cannot open the directory %s", options->out);
  /* Better said before the code ran than after. */
  if (faccessat (fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
    return error_from_errno (error, errno, "cannot write to the directory %s", options->out);
  json_object_set_new (request->body, "save", json_true ());
  return submission_take_fd (request, &fd, error);
}

static gboolean
set_limit (json_t *limits, const char *name, guint64 value)
{
  return json_object_set_new (limits, name, json_integer ((json_int_t)MIN (value, (guint64)G_MAXINT64))) == 0;
}

static gboolean
add_limit (json_t *limits, const char *text, GError **error)
{
  const char *equals = strchr (text, '=');
  if (!equals)
    return invalid (error, "--limit takes NAME=VALUE, not \"%s\"", text);
  g_autofree char *name = g_strndup (text, (gsize)(equals - text));
  int index = limit_find (name);
  guint64 value;
  if (index < 0)
    return invalid (error, "there is no limit \"%s\" (adder profile show lists them)", name);
  if (!quantity_parse (equals + 1, limit_table[index].unit, &value, error)) {
    g_prefix_error (error, "--limit %s: ", name);
    return FALSE;
  }
  return set_limit (limits, name, value);
}

/* Who asks for a longer time means a busy one as well: the processor time follows, unless the profile keeps
 * it below the wall clock on purpose or --limit cpu_ms says otherwise. */
static gboolean
add_timeout (json_t *limits, const struct run_options *options, GError **error)
{
  guint64 wall_ms;
  if (!duration_parse (options->timeout, 1000, &wall_ms, error)) {
    g_prefix_error (error, "--timeout: ");
    return FALSE;
  }
  struct profile *profile = profile_load (options->profile ? options->profile : "standard", NULL);
  guint64 standard_wall = profile ? profile->limits.value[LIMIT_WALL] : 0;
  guint64 standard_cpu = profile ? profile->limits.value[LIMIT_CPU] : G_MAXUINT64;
  profile_free (profile);
  set_limit (limits, "wall_ms", wall_ms);
  if (standard_cpu >= standard_wall && wall_ms > standard_cpu)
    set_limit (limits, "cpu_ms", wall_ms);
  return TRUE;
}

static gboolean
add_limits (struct submission *request, const struct run_options *options, GError **error)
{
  json_t *limits = json_object ();
  json_object_set_new (request->body, "limits", limits);
  if (options->timeout && !add_timeout (limits, options, error))
    return FALSE;
  if (options->memory) {
    guint64 bytes;
    if (!size_parse (options->memory, &bytes, error)) {
      g_prefix_error (error, "--memory: ");
      return FALSE;
    }
    set_limit (limits, "memory_bytes", bytes);
  }
  for (gsize i = 0; options->limits && options->limits[i]; i++)
    if (!add_limit (limits, options->limits[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
add_variables (struct submission *request, const struct run_options *options, GError **error)
{
  json_t *variables = json_object ();
  json_object_set_new (request->body, "variables", variables);
  for (gsize i = 0; options->variables && options->variables[i]; i++) {
    const char *text = options->variables[i], *equals = strchr (text, '=');
    if (!equals || equals == text)
      return invalid (error, "--set-env takes NAME=VALUE, not \"%s\"", text);
    g_autofree char *name = g_strndup (text, (gsize)(equals - text));
    if (json_object_set_new (variables, name, json_string (equals + 1)) < 0)
      return invalid (error, "the variable \"%s\" is not UTF-8", name);
  }
  return TRUE;
}

static gboolean
add_arguments (struct submission *request, const struct run_options *options, GError **error)
{
  json_t *arguments = json_array ();
  json_object_set_new (request->body, "arguments", arguments);
  for (char **argument = options->arguments; *argument; argument++)
    if (json_array_append_new (arguments, json_string (*argument)) < 0)
      return invalid (error, "the argument \"%s\" is not UTF-8", *argument);
  return TRUE;
}

/* The order of descriptors is the protocol's: files, standard input, directory. */
static gboolean
fill_request (struct submission *request, const struct run_options *options, GError **error)
{
  g_autoptr (AdderRequest) checked = NULL;
  if (!take_code (request, options, error) ||
      !set_text (request, "environment", options->environment, error) ||
      !set_text (request, "profile", options->profile, error) ||
      !set_text (request, "isolation", options->isolation, error) ||
      !set_text (request, "conversation", options->conversation, error) ||
      !add_limits (request, options, error) || !add_variables (request, options, error) ||
      !add_arguments (request, options, error) || !add_files (request, options, error) ||
      !add_stdin (request, options, error) || !add_directory (request, options, error))
    return FALSE;
  /* What the library would refuse, it refuses here, whether the run goes to a daemon or not. */
  checked = submission_build (request, error);
  return checked != NULL;
}

/* ---- cancelling ---- */

/* Ctrl-C and its like arrive in a thread of their own: cancelling an engine's run takes locks, which a
 * handler must not. */
struct canceller {
  GMutex lock;
  struct run_source *source;
  gboolean asked;
};

static sigset_t
ending_signals (void)
{
  sigset_t signals;
  sigemptyset (&signals);
  sigaddset (&signals, SIGINT);
  sigaddset (&signals, SIGTERM);
  sigaddset (&signals, SIGHUP);
  return signals;
}

static void
canceller_ask (struct canceller *canceller)
{
  g_mutex_lock (&canceller->lock);
  canceller->asked = TRUE;
  if (canceller->source)
    canceller->source->cancel (canceller->source);
  g_mutex_unlock (&canceller->lock);
}

static gpointer
canceller_thread (gpointer data)
{
  struct canceller *canceller = data;
  sigset_t signals = ending_signals ();
  for (int count = 0;;) {
    int signal;
    if (sigwait (&signals, &signal) != 0)
      continue;
    /* Who asks twice does not want to wait for the result. */
    if (count++ > 0)
      _exit (CLI_CANCELLED);
    canceller_ask (canceller);
  }
  return NULL;
}

/* Before any other thread is started, so that all of them leave these signals alone. The canceller lives as
 * long as the program. */
static struct canceller *
canceller_start (void)
{
  struct canceller *canceller = g_new0 (struct canceller, 1);
  sigset_t signals = ending_signals ();
  g_mutex_init (&canceller->lock);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
  g_thread_unref (g_thread_new ("signals", canceller_thread, canceller));
  return canceller;
}

static void
canceller_set (struct canceller *canceller, struct run_source *source)
{
  g_mutex_lock (&canceller->lock);
  canceller->source = source;
  if (source && canceller->asked)
    source->cancel (source);
  g_mutex_unlock (&canceller->lock);
}

/* ---- the run ---- */

/* Only "busy" is told apart: a caller may try again. */
static AdderOutcome
outcome_of (const GError *problem)
{
  return g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY) ? ADDER_OUTCOME_BUSY : ADDER_OUTCOME_FAILED;
}

static struct run_source *
open_source (const struct run_options *options, const struct submission *request, GError **error)
{
  if (options->no_daemon)
    return run_source_local (request, error);
  struct config *config = config_load (NULL, error);
  g_autofree char *socket = config ? config_socket (config, error) : NULL;
  config_free (config);
  return socket ? run_source_daemon (socket, request, error) : NULL;
}

/* The whole result of what never became a run. The caller's. */
static char *
failed_json (const GError *problem)
{
  struct limits limits = limits_default ();
  char run_id[ID_BYTES];
  id_make (run_id);
  AdderOutcome outcome = outcome_of (problem);
  g_autoptr (json_t) error = explain_error (outcome, problem);
  const struct result_parts parts = {
      .run_id = run_id,
      .verdict = {.outcome = outcome, .exit_code = outcome_exit_code (outcome)},
      .error = error,
      .limits = &limits,
  };
  return result_to_json (&parts);
}

/* The run ended, but its files could not be written: that is what the result has to say. *RET_TEXT is what
 * EVENT's data is then. */
static void
note_unsaved (struct run_event *event, const GError *problem, char **ret_text)
{
  static const char *const taken[] = {"outcome", "exit_code", "error"};
  g_autofree char *failed_text = failed_json (problem);
  g_autoptr (json_t) failed = json_loads (failed_text, 0, NULL);
  g_autoptr (json_t) result = json_loadb (event->data, event->length, 0, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (taken); i++)
    json_object_set (result, taken[i], json_object_get (failed, taken[i]));
  *ret_text = json_to_text (result);
  event->data = *ret_text;
  event->length = strlen (*ret_text);
  event->outcome = outcome_of (problem);
  event->exit_code = outcome_exit_code (event->outcome);
}

/* Shows one event. Returns 0 or a negative errno of standard output. */
static int
show (struct run_source *source, struct run_view *view, struct run_event *event,
      const struct run_options *options)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) problem = NULL;
  if (event->kind == ADDER_EVENT_RESULT && options->out && !source->save (source, &problem)) {
    g_prefix_error (&problem, "cannot write the files to %s: ", options->out);
    note_unsaved (event, problem, &text);
  }
  if (!options->json)
    return run_view_event (view, event);
  return event->kind == ADDER_EVENT_RESULT ? run_view_json (event->data, event->length) : 0;
}

/* Pulls all events and shows them. Returns the exit code, or -1 with ERROR when there was no result, or when
 * standard output failed otherwise than by a reader that went away. */
static int
follow (struct run_source *source, struct canceller *canceller, const struct run_options *options,
        GError **error)
{
  struct run_view view = {.directory = options->out};
  struct run_event event = {.kind = ADDER_EVENT_STARTED};
  int r = 0;
  if (source->note && !options->json)
    fprintf (stderr, "adder: %s\n", source->note);
  while (event.kind != ADDER_EVENT_RESULT) {
    if (!source->next (source, &event, error))
      return -1;
    if (r == 0 && (r = show (source, &view, &event, options)) < 0)
      canceller_ask (canceller);
  }
  if (r == 0)
    return event.exit_code;
  if (r == -EPIPE)
    return CLI_CANCELLED;
  error_from_errno (error, r, "cannot write to standard output");
  return -1;
}

static int
run (const struct run_options *options, const struct submission *request, GError **error)
{
  struct canceller *canceller = canceller_start ();
  struct run_source *source = open_source (options, request, error);
  if (!source)
    return -1;
  canceller_set (canceller, source);
  int code = follow (source, canceller, options, error);
  canceller_set (canceller, NULL);
  source->free (source);
  return code;
}

/* Bad input, or a daemon that is not to be had: one sentence, or the result object that says it. */
static int
report (const GError *problem, gboolean json, gboolean usage)
{
  if (json) {
    g_autofree char *text = failed_json (problem);
    (void)run_view_json (text, strlen (text));
  } else if (usage)
    cli_fail_usage (problem);
  else
    cli_fail (problem);
  return outcome_exit_code (outcome_of (problem));
}

int
cli_run (int argc, char **argv)
{
  struct run_options options = {0};
  struct submission request;
  g_autoptr (GError) problem = NULL;
  int code;
  submission_init (&request);
  if (!parse_options (argc, argv, &options, &problem))
    code = report (problem, options.json || wants_json (argc, argv), TRUE);
  else if (!fill_request (&request, &options, &problem) || (code = run (&options, &request, &problem)) < 0)
    code = report (problem, options.json, FALSE);
  submission_clear (&request);
  run_options_clear (&options);
  return code;
}
