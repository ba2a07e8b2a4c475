/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as callers build them, and what the engine makes of them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "common/trace.h"
#include "engine/files/workspace.h"
#include "engine/host/environment.h"
#include "engine/host/environment_with.h"
#include "engine/session/sessions.h"
#include "library/analysis_form.h"
#include "library/library.h"
#include "library/request_private.h"
#include "policy/profile_workdir.h"

#define STANDARD_PROFILE  "standard"
#define STANDARD_NAME     "main.py"

#define DESCRIPTION_BYTES 4000

#define VALUES_MAX        256
#define STORED_MAX        256
#define VALUE_NAME_BYTES  64
#define VALUE_DEPTH       64

static void
stored_file_free (gpointer data)
{
  struct stored_file *file = data;
  g_free (file->id);
  g_free (file->name);
  g_free (file);
}

AdderRequest *
adder_request_new (const char *code, gssize length)
{
  g_return_val_if_fail (code != NULL, NULL);
  struct adder_request *request = g_new0 (struct adder_request, 1);
  struct run_request *asked = &request->asked;
  request_init (asked);
  asked->code_length = length < 0 ? strlen (code) : (gsize)length;
  /* A zero byte follows it, which its length does not count. */
  asked->code = g_malloc (asked->code_length + 1);
  memcpy (asked->code, code, asked->code_length);
  asked->code[asked->code_length] = '\0';
  request->stored = g_ptr_array_new_with_free_func (stored_file_free);
  return request;
}

void
adder_request_free (AdderRequest *request)
{
  if (!request)
    return;
  request_clear (&request->asked);
  g_free (request->isolation);
  g_free (request->tables);
  g_free (request->approval);
  g_free (request->python);
  g_strfreev (request->profiles);
  g_ptr_array_unref (request->stored);
  g_free (request);
}

/* ---- setters ---- */

static void
request_api_set_text (char **field, const char *text)
{
  char *copy = g_strdup (text);
  g_free (*field);
  *field = copy;
}

void
adder_request_set_environment (AdderRequest *request, const char *name)
{
  request_api_set_text (&request->asked.environment, name);
}

void
adder_request_set_packages (AdderRequest *request, const char *const *packages)
{
  GStrv copy = g_strdupv ((GStrv)(guintptr)packages);
  g_strfreev (request->asked.with);
  request->asked.with = copy;
}

void
adder_request_set_profile (AdderRequest *request, const char *name)
{
  request_api_set_text (&request->asked.profile, name);
}

void
adder_request_set_isolation (AdderRequest *request, const char *kind)
{
  request_api_set_text (&request->isolation, kind);
}

void
adder_request_set_role (AdderRequest *request, const char *role)
{
  request_api_set_text (&request->asked.origin.role, role);
}

void
adder_request_set_profiles_allowed (AdderRequest *request, const char *const *patterns)
{
  g_strfreev (request->profiles);
  request->profiles = g_strdupv ((GStrv)(guintptr)patterns);
}

void
adder_request_set_name (AdderRequest *request, const char *name)
{
  request_api_set_text (&request->asked.name, name);
}

void
adder_request_set_arguments (AdderRequest *request, const char *const *arguments)
{
  GStrv copy = g_strdupv ((GStrv)(guintptr)arguments);
  g_strfreev (request->asked.arguments);
  request->asked.arguments = copy;
}

void
adder_request_set_variable (AdderRequest *request, const char *name, const char *value)
{
  g_return_if_fail (name != NULL && value != NULL);
  g_hash_table_replace (request->asked.variables, g_strdup (name), g_strdup (value));
}

gboolean
adder_request_set_limit (AdderRequest *request, const char *limit, guint64 value, GError **error)
{
  int index = limit_find (limit);
  if (index < 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there is no limit called \"%s\"", limit);
    return FALSE;
  }
  const struct limit_row *row = &limit_table[index];
  if (value < row->minimum || value > row->maximum) {
    g_autofree char *asked = quantity_format (value, row->unit);
    g_autofree char *bound = quantity_format (value > row->maximum ? row->maximum : row->minimum, row->unit);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s = %s is %s its %s, %s", limit, asked,
                 value > row->maximum ? "over" : "under", value > row->maximum ? "maximum" : "minimum",
                 bound);
    return FALSE;
  }
  request->asked.limits.value[index] = value;
  request->asked.limits_set |= 1u << index;
  return TRUE;
}

/* Files are opened anew through their descriptors, with the rights of this process: the caller must have
 * opened them for reading, so that they gain no access. */
static gboolean
request_api_check_readable (const char *name, int fd, GError **error)
{
  int flags = fcntl (fd, F_GETFL);
  if (flags < 0)
    return error_from_errno (error, errno, "cannot look at the descriptor of %s", name);
  if (!(flags & O_PATH) && (flags & O_ACCMODE) != O_WRONLY)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "the file for %s is not open for reading: open it with O_RDONLY", name);
  return FALSE;
}

gboolean
adder_request_add_file (AdderRequest *request, const char *name, int fd, GError **error)
{
  if (!workspace_check_name (name, error) || !request_api_check_readable (name, fd, error))
    return FALSE;
  int own = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0)
    return error_from_errno (error, errno, "cannot take over the descriptor of %s", name);
  struct input file = {.name = g_strdup (name), .fd = own, .place = INPUT_WORK};
  g_array_append_val (request->asked.files, file);
  return TRUE;
}

gboolean
adder_request_add_stored_file (AdderRequest *request, const char *file_id, const char *name,
                               const char *place, GError **error)
{
  enum input_place parsed;
  if (!input_place_parse (place, &parsed, error) || (name && !workspace_check_name (name, error)))
    return FALSE;
  if (request->stored->len == STORED_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "a run can have %d stored files at most",
                 STORED_MAX);
    return FALSE;
  }
  struct stored_file *file = g_new (struct stored_file, 1);
  *file = (struct stored_file){g_strdup (file_id), g_strdup (name), parsed};
  g_ptr_array_add (request->stored, file);
  return TRUE;
}

/* FD is duplicated into *FIELD; -1 takes back what was set before. */
static void
set_descriptor (AdderRequest *request, int *field, int fd, const char *what)
{
  fd_close (field);
  if (fd < 0)
    return;
  *field = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  if (*field < 0 && !request->asked.invalid)
    error_from_errno (&request->asked.invalid, errno, "cannot take over the descriptor of %s", what);
}

void
adder_request_set_stdin (AdderRequest *request, int fd)
{
  set_descriptor (request, &request->asked.stdin_fd, fd, "standard input");
}

void
adder_request_set_watch (AdderRequest *request, int fd)
{
  set_descriptor (request, &request->asked.watch_fd, fd, "the caller's socket");
}

void
adder_request_set_owner (AdderRequest *request, const char *owner, const char *conversation)
{
  if (conversation && strlen (conversation) > ADDER_CONVERSATION_BYTES && !request->asked.invalid)
    g_set_error (&request->asked.invalid, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the conversation's id has more than %d bytes", ADDER_CONVERSATION_BYTES);
  request_api_set_text (&request->asked.owner, owner);
  request_api_set_text (&request->asked.conversation, conversation);
}

void
library_set_origin (AdderRequest *request, const char *front_end, const char *tool, const json_t *arguments)
{
  request_api_set_text (&request->asked.origin.front_end, front_end);
  request_api_set_text (&request->asked.origin.tool, tool);
  request_api_set_text (&request->asked.origin.trace, trace_current ());
  json_decref (request->asked.origin.arguments);
  request->asked.origin.arguments = json_incref ((json_t *)(guintptr)arguments);
}

void
library_set_at_terminal (AdderRequest *request, gboolean at_terminal)
{
  request->asked.origin.at_terminal = at_terminal;
}

void
library_set_queued (AdderRequest *request, const char *run_id, gboolean run_again)
{
  g_strlcpy (request->asked.run_id, run_id, sizeof request->asked.run_id);
  request->asked.run_again = run_again;
}

void
library_set_python (AdderRequest *request, const char *python)
{
  request_api_set_text (&request->python, python);
}

void
adder_request_set_origin (AdderRequest *request, const char *front_end, const char *tool,
                          const char *arguments)
{
  g_autoptr (json_t) parsed = arguments ? json_loads (arguments, 0, NULL) : NULL;
  library_set_origin (request, front_end, tool, parsed);
}

void
adder_request_set_keep_over (AdderRequest *request, guint64 over)
{
  request->asked.keep_over = over;
}

void
adder_request_set_session (AdderRequest *request, const char *session, gboolean wait)
{
  request_api_set_text (&request->asked.session, session);
  request->asked.session_wait = wait;
}

void
adder_request_set_evict (AdderRequest *request, gboolean evict)
{
  request->asked.evict = evict;
}

void
adder_request_set_svg (AdderRequest *request, gboolean svg)
{
  request->asked.svg = svg;
}

void
adder_request_set_pictures (AdderRequest *request, guint64 bytes, guint64 side)
{
  request->asked.picture_bytes = bytes;
  request->asked.picture_side = side;
}

void
library_set_pictures_bytes (AdderRequest *request, guint64 bytes)
{
  request->asked.pictures_bytes = bytes;
}

void
adder_request_set_tables (AdderRequest *request, const char *format)
{
  request_api_set_text (&request->tables, format);
}

gboolean
adder_request_set_workdir (AdderRequest *request, int directory_fd, const char *path, const char *mode,
                           GError **error)
{
  struct stat info;
  enum workdir_mode parsed;
  if (!workdir_mode_parse (mode, &parsed, error))
    return FALSE;
  g_autofree char *shown = text_one_line (path, -1);
  if (!g_path_is_absolute (path)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the work directory %s is not absolute", shown);
    return FALSE;
  }
  if (fstat (directory_fd, &info) < 0 || !S_ISDIR (info.st_mode)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the work directory %s is no directory", shown);
    return FALSE;
  }
  fd_close (&request->asked.workdir.fd);
  request->asked.workdir.mode = parsed;
  request_api_set_text (&request->asked.workdir.path, path);
  request->asked.workdir.fd = parsed == WORKDIR_NONE ? -1 : fcntl (directory_fd, F_DUPFD_CLOEXEC, 3);
  if (parsed != WORKDIR_NONE && request->asked.workdir.fd < 0)
    return error_from_errno (error, errno, "cannot take over the descriptor of %s", shown);
  return TRUE;
}

void
adder_request_set_check (AdderRequest *request, gboolean check)
{
  request->asked.check = check;
}

/* As in Python, except names that begin with an underscore, which no value needs. */
static gboolean
is_variable (const char *name)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  return g_ascii_isalpha (name[0]) && strlen (name) <= VALUE_NAME_BYTES &&
         name[strspn (name, letters)] == '\0';
}

gboolean
library_set_value (AdderRequest *request, const char *name, json_t *value, GError **error)
{
  g_autofree char *shown = text_one_line (name, VALUE_NAME_BYTES);
  if (!is_variable (name)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "\"%s\" is not the name of a value: a letter, then letters, digits and underscores", shown);
    return FALSE;
  }
  if (!json_is_flat (value, VALUE_DEPTH)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the value %s is nested deeper than %d levels",
                 shown, VALUE_DEPTH);
    return FALSE;
  }
  if (!request->asked.values)
    request->asked.values = json_object ();
  if (json_object_size (request->asked.values) >= VALUES_MAX &&
      !json_object_get (request->asked.values, name)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "a run can have %d values at most", VALUES_MAX);
    return FALSE;
  }
  json_object_set (request->asked.values, name, value);
  return TRUE;
}

gboolean
adder_request_set_value (AdderRequest *request, const char *name, const char *json, GError **error)
{
  json_error_t problem;
  g_autoptr (json_t) value = json_loads (json, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &problem);
  if (!value) {
    g_autofree char *shown = text_one_line (name, VALUE_NAME_BYTES);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the value %s is not JSON: %s", shown,
                 problem.text);
    error_make_printable (error);
    return FALSE;
  }
  return library_set_value (request, name, value, error);
}

gboolean
library_set_analysis (AdderRequest *request, json_t *analysis, GError **error)
{
  if (analysis && !analysis_form_check (analysis, error))
    return FALSE;
  json_decref (request->asked.analysis);
  request->asked.analysis = json_incref (analysis);
  return TRUE;
}

gboolean
adder_request_set_analysis (AdderRequest *request, const char *json, GError **error)
{
  g_autoptr (json_t) analysis = json ? json_parse_object (json, strlen (json), "the analysis", error) : NULL;
  return (analysis || !json) && library_set_analysis (request, analysis, error);
}

void
adder_request_set_description (AdderRequest *request, const char *text)
{
  request_api_set_text (&request->asked.description, text);
  if (text && strlen (text) > DESCRIPTION_BYTES && !request->asked.invalid)
    g_set_error (&request->asked.invalid, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the description has more than %d bytes", DESCRIPTION_BYTES);
}

void
adder_request_set_approval (AdderRequest *request, const char *approval_id)
{
  request_api_set_text (&request->approval, approval_id);
}

void
adder_request_set_accept_all (AdderRequest *request, gboolean accept_all)
{
  request->asked.accept_all = accept_all;
}

/* ---- what the engine receives ---- */

/* ---- the profile ---- */

gboolean
library_allows_profile (const char *const *patterns, const char *profile, GError **error)
{
  if (!patterns)
    return TRUE;
  for (const char *const *pattern = patterns; *pattern; pattern++)
    if (g_pattern_match_simple (*pattern, profile))
      return TRUE;
  if (!patterns[0]) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_REFUSED,
        "this caller may run code by the tools of their toolset alone: no profile is allowed to them");
    return FALSE;
  }
  g_autofree char *allowed = g_strjoinv (" ", (GStrv)(guintptr)patterns);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "the profile %s is not among those that this caller may use: %s", profile, allowed);
  return FALSE;
}

static gboolean
request_api_may_use (AdderEngine *engine, const AdderRequest *request, const char *profile, guint needed,
                     GError **error)
{
  const struct config *config = engine->engine->host->config;
  enum role role = role_default (config);
  return (!request->asked.origin.role || role_parse (request->asked.origin.role, &role, error)) &&
         role_may_use_profile (config, role, profile, (enum role)needed, error) &&
         library_allows_profile ((const char *const *)request->profiles, profile, error);
}

static void
copy_rules (struct run_request *resolved, const struct profile *profile)
{
  request_add_variables (resolved, profile->variables);
  resolved->network = profile_network_rules (profile);
  resolved->mitigations = profile_mitigations (profile);
  resolved->blocked.calls = g_strdupv (profile->blocked.calls);
  resolved->blocked.modules = g_strdupv (profile->blocked.modules);
  resolved->role_needed = profile->role;
  resolved->session_allowed = profile->session.allowed;
  resolved->session_idle_ms = profile->session.idle_ms;
}

/* A caller at the command line, or a program that embeds this library, could run pip as well. An agent that
 * calls a tool is not that person. */
static gboolean
request_api_is_local (const AdderRequest *request)
{
  const struct request_origin *origin = &request->asked.origin;
  return !origin->tool && request_origin_is_local (origin);
}

static void
request_api_refuse_packages (const char *profile, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "no packages are installed for this run: the profile %s does not allow it ([packages] with)",
               profile);
}

/* Packages that REQUEST names, and how its caller may ask for them. */
static void
apply_packages (struct run_request *resolved, AdderEngine *engine, const AdderRequest *request,
                const struct profile *profile)
{
  const struct config *config = engine->engine->host->config;
  const char *const *asked = (const char *const *)request->asked.with;
  GError **error = resolved->invalid ? NULL : &resolved->invalid;
  gboolean allowed = request_api_is_local (request) || profile->packages.with;
  if (allowed && config->packages_most > 0)
    resolved->packages_way = request_api_is_local (request) ? PACKAGES_OPTION : PACKAGES_MEMBER;
  g_clear_pointer (&resolved->with, g_strfreev);
  /* An environment made of another caller's packages must not bypass the profile. */
  gboolean made = request->asked.environment && environment_with_is_name (request->asked.environment);
  if ((!asked || !asked[0]) && !(made && !allowed))
    return;
  if (!allowed)
    request_api_refuse_packages (profile->name, error);
  else
    resolved->with = environment_with_parse (asked, config, error);
}

/* The profile NAME supplies what the request leaves out. */
static void
apply_profile (struct run_request *resolved, AdderEngine *engine, const AdderRequest *request,
               const char *name)
{
  struct profile_entry *entry = NULL;
  GError **error = resolved->invalid ? NULL : &resolved->invalid;
  const struct profile *profile = profile_cache_get (&engine->profiles, name, &entry, error);
  if (profile && request_api_may_use (engine, request, name, profile->role, error) &&
      (request->asked.workdir.fd < 0 ||
       profile_allows_workdir (profile, request->asked.workdir.mode, error))) {
    resolved->limits = profile->limits;
    resolved->maxima = profile->maxima;
    resolved->min_isolation = (guint)profile->min_isolation;
    resolved->approval = profile->approval;
    resolved->tables = profile->tables;
    resolved->keeps_files = profile->keep_files;
    resolved->isolation = profile->backend == BACKEND_NATIVE ? ISOLATION_AUTO : ISOLATION_CONTAINER;
    resolved->falls_back = profile->backend == BACKEND_AUTO;
    copy_rules (resolved, profile);
    resolved->guard = g_strdup (profile->guard.text);
    apply_packages (resolved, engine, request, profile);
  }
  request_api_set_text (&resolved->profile, name);
  const struct config *config = engine->engine->host->config;
  const char *environment = request->asked.environment;
  if (environment && environment_is_own (environment) && !resolved->invalid) {
    g_set_error (&resolved->invalid, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "an environment is named, and not by the path of an interpreter");
    error_add_advice (&resolved->invalid, "; \"adder env new NAME --python PATH\" gives one a name");
  }
  if (!environment && profile)
    environment = profile->environment;
  if (!environment && config->own_environments > 0)
    environment = request->python;
  if (!environment)
    environment = environment_default (config);
  request_api_set_text (&resolved->environment, environment);
  if (request->asked.check && profile && !profile->guard.text && !request_is_shell (resolved) &&
      !resolved->invalid)
    g_set_error (&resolved->invalid, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the profile %s has no guard: there is nothing to hold the code against", name);
  if (request->asked.analysis && profile && !profile->guard.tables && !resolved->invalid)
    g_set_error (
        &resolved->invalid, ADDER_ERROR, ADDER_ERROR_INVALID,
        "the profile %s takes no analysis: its guard lacks tables = true, which the profile analysis "
        "has",
        name);
  profile_entry_unref (entry);
}

/* A cell has its session's profile, as of when the session was made; only the caller's right to use it is
 * checked again. From here on the request is bound to the session that its name means now: a session that
 * gets the name later, and was never checked for role and approval, is not its. */
static void
request_api_check_session (struct run_request *resolved, AdderEngine *engine, const AdderRequest *request)
{
  GError **error = resolved->invalid ? NULL : &resolved->invalid;
  struct session *session =
      sessions_find (engine->engine->sessions, request->asked.owner, request->asked.session, error);
  if (session) {
    request_api_set_text (&resolved->session, session->id);
    resolved->tables = session->options->tables;
    resolved->svg = resolved->svg || session->options->svg;
    resolved->keeps_files = session->options->keeps_files;
    (void)request_api_may_use (engine, request, session->profile, session->options->role_needed, error);
  }
  session_unref (session);
}

static void
copy_limits (struct run_request *resolved, const struct run_request *asked)
{
  for (int i = 0; i < LIMIT_COUNT; i++)
    if (asked->limits_set & (1u << i))
      resolved->limits.value[i] = asked->limits.value[i];
  resolved->limits_set |= asked->limits_set;
}

/* A named kind other than "auto" is required, whatever the profile says. */
static void
set_isolation (struct run_request *resolved, const char *kind)
{
  int found = kind ? isolation_find (kind) : (int)ISOLATION_AUTO;
  if (found == ISOLATION_AUTO)
    return;
  if (found < 0 && !resolved->invalid) {
    g_autofree char *known = g_strjoinv (", ", (GStrv)(guintptr)isolation_names);
    g_autofree char *shown = text_one_line (kind, 40);
    g_set_error (&resolved->invalid, ADDER_ERROR, ADDER_ERROR_INVALID, "isolation \"%s\" is not one of: %s",
                 shown, known);
  }
  resolved->isolation = found < 0 ? ISOLATION_AUTO : (enum isolation)found;
  resolved->falls_back = FALSE;
}

static void
set_tables (struct run_request *resolved, const char *format)
{
  guint found = 0;
  while (request_tables_names[found] && strcmp (request_tables_names[found], format) != 0)
    found++;
  if (request_tables_names[found])
    resolved->tables = found;
  else if (!resolved->invalid) {
    g_autofree char *known = g_strjoinv (", ", (GStrv)(guintptr)request_tables_names);
    g_autofree char *shown = text_one_line (format, 40);
    g_set_error (&resolved->invalid, ADDER_ERROR, ADDER_ERROR_INVALID, "tables as \"%s\" is not one of: %s",
                 shown, known);
  }
}

static struct run_request *
resolve (AdderEngine *engine, const AdderRequest *request, const char *profile)
{
  const struct run_request *asked = &request->asked;
  struct run_request *resolved = request_copy_asked (asked);
  if (!resolved->name)
    resolved->name = g_strdup (STANDARD_NAME);
  if (!resolved->origin.role)
    resolved->origin.role = g_strdup (role_name (role_default (engine->engine->host->config)));
  g_strlcpy (resolved->run_id, asked->run_id, sizeof resolved->run_id);
  resolved->run_again = asked->run_again;
  library_set_review (engine, resolved);
  if (asked->session)
    request_api_check_session (resolved, engine, request);
  else
    apply_profile (resolved, engine, request, asked->profile ? asked->profile : profile);
  set_isolation (resolved, request->isolation);
  if (request->tables)
    set_tables (resolved, request->tables);
  copy_limits (resolved, asked);
  for (guint i = 0; i < request->stored->len; i++) {
    const struct stored_file *file = request->stored->pdata[i];
    library_find_input (engine, resolved, file->id, file->name, file->place);
  }
  return resolved;
}

struct run_request *
library_resolve (AdderEngine *engine, const AdderRequest *request)
{
  return resolve (engine, request, STANDARD_PROFILE);
}

/* ---- replays ---- */

static void
resolve_limits_like (struct run_request *resolved, const AdderRequest *request,
                     const struct run_request *like)
{
  for (int i = 0; i < LIMIT_COUNT; i++) {
    gboolean taken = !request->asked.profile || (like->limits_set & 1u << i);
    if (!(request->asked.limits_set & 1u << i) && taken)
      resolved->limits.value[i] = like->limits.value[i];
  }
  resolved->limits_set |= like->limits_set;
}

/* Those of the session, if its profile still allows packages, and allows them on this node. */
static void
resolve_packages_like (struct run_request *resolved, const struct run_request *like)
{
  if (!like->with || !like->with[0])
    return;
  if (resolved->packages_way == PACKAGES_NONE)
    request_api_refuse_packages (resolved->profile, &resolved->invalid);
  else
    resolved->with = g_strdupv (like->with);
}

struct run_request *
library_resolve_like (AdderEngine *engine, const AdderRequest *request, const struct run_request *like)
{
  struct run_request *resolved = resolve (engine, request, like->profile);
  resolve_limits_like (resolved, request, like);
  if (!request->asked.environment)
    request_api_set_text (&resolved->environment, like->environment);
  if (!request->asked.environment && !resolved->with && !resolved->invalid)
    resolve_packages_like (resolved, like);
  /* The profile may require more by now, or on this node. */
  if (!request->asked.profile)
    resolved->min_isolation = MAX (resolved->min_isolation, like->min_isolation);
  if (!request->asked.profile && !request->tables)
    resolved->tables = like->tables;
  resolved->svg = resolved->svg || like->svg;
  if (!resolved->values)
    resolved->values = json_deep_copy (like->values);
  if (!request->isolation && !request->asked.profile) {
    resolved->isolation = like->isolation;
    resolved->falls_back = like->falls_back;
  }
  if (!resolved->arguments)
    resolved->arguments = g_strdupv (like->arguments);
  request_add_variables (resolved, like->variables);
  return resolved;
}

const char *
library_approval (const AdderRequest *request)
{
  return request->approval;
}

const char *
library_owner (const AdderRequest *request)
{
  return request->asked.owner;
}

AdderRequest *
library_cell (const AdderRequest *options, const char *session, const char *code)
{
  g_return_val_if_fail (code != NULL, NULL);
  AdderRequest *cell = adder_request_new (code, -1);
  adder_request_set_owner (cell, options->asked.owner, options->asked.conversation);
  adder_request_set_watch (cell, options->asked.watch_fd);
  adder_request_set_role (cell, options->asked.origin.role);
  adder_request_set_profiles_allowed (cell, (const char *const *)options->profiles);
  adder_request_set_session (cell, session, TRUE);
  adder_request_set_accept_all (cell, options->asked.accept_all);
  adder_request_set_origin (cell, options->asked.origin.front_end, NULL, NULL);
  return cell;
}

AdderRequest *
library_request_like (const AdderRequest *options, const char *code)
{
  AdderRequest *request = adder_request_new (code, -1);
  g_return_val_if_fail (request != NULL, NULL);
  adder_request_set_owner (request, options->asked.owner, options->asked.conversation);
  adder_request_set_watch (request, options->asked.watch_fd);
  adder_request_set_role (request, options->asked.origin.role);
  adder_request_set_profiles_allowed (request, (const char *const *)options->profiles);
  adder_request_set_environment (request, options->asked.environment);
  request_api_set_text (&request->asked.origin.front_end, options->asked.origin.front_end);
  request_api_set_text (&request->asked.origin.tool, options->asked.origin.tool);
  request->asked.origin.arguments = json_incref (options->asked.origin.arguments);
  return request;
}
