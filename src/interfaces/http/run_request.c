/* SPDX-License-Identifier: Apache-2.0 */
/* A body becomes a submission, the form in which the local socket has runs, so that both interfaces check the
 * same things with the same words. What the body holds itself (files, standard input) goes into sealed
 * memory. */
#include "interfaces/http/run_request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/http/shapes.h"
#include "interfaces/service/submission.h"
#include "library/library.h"
#include "operations/operation.h"
#include "policy/roots.h"

const struct field run_file_fields[] = {
    ASK_TEXT ("name", 4096, "Its path below /work, or below the place. Of a stored file its own."),
    ASK_TEXT ("text", 64 << 20, "Its content as text."),
    ASK_TEXT ("base64", 64 << 20, "Its content in base64."),
    ASK_TEXT ("file_id", 100,
              "A stored file: see /v1/files. @NAME is a data set, and @NAME:VERSION one of its versions."),
    {.name = "place",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .words = FIELD_WORDS ("work", "tmp"),
     .text = "Of a stored file: /work or /tmp."},
    {0},
};

const struct field run_workdir_fields[] = {
    {.name = "root",
     .types = FIELD_TEXT,
     .minimum = 1,
     .maximum = 64,
     .text = "A directory that the server's configuration names."},
    {.name = "path",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"\"",
     .maximum = 4096,
     .text = "A folder below it."},
    {.name = "mode",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .standard = "\"read\"",
     .words = FIELD_WORDS ("read", "overlay", "review", "rw"),
     .text = "What the code may do there."},
    {0},
};

static gboolean
wrong (GError **error, const char *message)
{
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, message);
  return FALSE;
}

/* ---- content that the body holds ---- */

static gboolean
write_all (int fd, const void *data, gsize length, GError **error)
{
  const char *at = data;
  while (length > 0) {
    gssize written = write (fd, at, length);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return error_from_errno (error, errno, "cannot keep a file of the request in memory");
    at += written;
    length -= (gsize)written;
  }
  return TRUE;
}

/* A descriptor at its beginning, or -1 with ERROR. */
static int
keep_in_memory (const void *data, gsize length, GError **error)
{
  autoclose int fd = memfd_create ("adder-http", MFD_CLOEXEC);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make memory for a file of the request");
    return -1;
  }
  if (!write_all (fd, data, length, error))
    return -1;
  if (lseek (fd, 0, SEEK_SET) < 0) {
    error_from_errno (error, errno, "cannot go to the beginning of a file of the request");
    return -1;
  }
  return fd_steal (&fd);
}

/* GLib's decoder passes over what is no base64. */
static gboolean
is_base64 (const char *text, gsize length)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  gsize body = strspn (text, letters);
  gsize padding = strspn (text + body, "=");
  return length % 4 == 0 && body + padding == length && padding <= 2;
}

static int
keep_file (const json_t *file, GError **error)
{
  const char *text = json_string_value (json_object_get (file, "text"));
  const char *encoded = json_string_value (json_object_get (file, "base64"));
  if (text)
    return keep_in_memory (text, strlen (text), error);
  if (!is_base64 (encoded, strlen (encoded))) {
    wrong (error, "a file of the request is not base64: letters, digits, + and /, padded with =");
    return -1;
  }
  gsize length;
  g_autofree guchar *bytes = g_base64_decode (encoded, &length);
  return keep_in_memory (bytes, length, error);
}

/* ---- members that a submission has in another form ---- */

struct making {
  struct http_request *request;
  const json_t *body;
  struct submission submission;
};

static gboolean
add_descriptor (struct making *making, int fd, GError **error)
{
  autoclose int own = fd;
  return own >= 0 && submission_take_fd (&making->submission, &own, error);
}

static gboolean
add_file (struct making *making, const json_t *file, json_t *names, json_t *stored, GError **error)
{
  json_t *name = json_object_get (file, "name"), *id = json_object_get (file, "file_id");
  json_t *place = json_object_get (file, "place");
  guint sources = json_is_string (json_object_get (file, "text")) +
                  json_is_string (json_object_get (file, "base64")) + json_is_string (id);
  if (sources != 1)
    return wrong (error, "each of files must have one of text, base64 and file_id");
  if (json_is_string (id)) {
    json_array_append_new (stored,
                           json_pack ("{s:O, s:O, s:O}", "file_id", id, "name", name, "place", place));
    return TRUE;
  }
  if (!json_is_string (name) || json_is_string (place))
    return wrong (error, "a file with text or base64 must have a name, and no place");
  json_array_append (names, name);
  return add_descriptor (making, keep_file (file, error), error);
}

/* Files come first among the descriptors, then standard input, then the directory. */
static gboolean
add_files (struct making *making, GError **error)
{
  const json_t *files = json_object_get (making->body, "files");
  json_t *names = json_array (), *stored = json_array (), *file;
  gsize index;
  json_object_set_new (making->submission.body, "files", names);
  json_object_set_new (making->submission.body, "stored", stored);
  json_array_foreach (files, index, file)
  {
    if (!add_file (making, file, names, stored, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_stdin (struct making *making, GError **error)
{
  const char *text = json_string_value (json_object_get (making->body, "stdin"));
  if (!text)
    return TRUE;
  json_object_set_new (making->submission.body, "stdin", json_true ());
  return add_descriptor (making, keep_in_memory (text, strlen (text), error), error);
}

int
run_request_open_root (struct http_request *request, const json_t *place, const char *mode, char **ret_path,
                       GError **error)
{
  const struct config *config = http_service (request)->config;
  const char *path = json_string_value (json_object_get (place, "path"));
  return root_open (config, http_who (request), json_member_text (place, "root"), path, mode, ret_path,
                    error);
}

static gboolean
add_workdir (struct making *making, GError **error)
{
  g_autofree char *path = NULL;
  const json_t *place = json_object_get (making->body, "workdir");
  if (!json_is_object (place))
    return TRUE;
  const char *mode = json_member_text (place, "mode");
  if (!add_descriptor (making, run_request_open_root (making->request, place, mode, &path, error), error))
    return FALSE;
  json_object_set_new (making->submission.body, "workdir",
                       json_pack ("{s:s, s:s}", "path", path, "mode", mode));
  return TRUE;
}

/* A limit that is null was not asked for. */
static gboolean
add_limits (struct making *making, GError **error)
{
  const char *name;
  json_t *value, *limits = json_object ();
  (void)error;
  json_object_foreach (json_object_get (making->body, "limits"), name, value)
  {
    if (json_is_integer (value))
      json_object_set (limits, name, value);
  }
  json_object_set_new (making->submission.body, "limits", limits);
  return TRUE;
}

/* Without confinement a run can do what the daemon can. */
static gboolean
add_isolation (struct making *making, GError **error)
{
  json_t *value = json_object_get (making->body, "isolation");
  if (g_strcmp0 (json_string_value (value), "none") == 0 && http_who (making->request)->role < ROLE_ADMIN) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "isolation none is for admins alone");
    return FALSE;
  }
  if (json_is_string (value))
    json_object_set (making->submission.body, "isolation", value);
  return TRUE;
}

/* In the order of the descriptors. */
static gboolean (*const makers[]) (struct making *making, GError **error) = {
    add_files, add_stdin, add_workdir, add_limits, add_isolation,
};

/* ---- the whole ---- */

/* That SESSION is one of who asks, and lives. */
static gboolean
check_session (struct http_request *request, const char *session, GError **error)
{
  const struct operation_caller caller =
      OPERATION_CALLER (http_service (request)->engine, http_who (request)->owner, http_who (request)->role);
  g_autoptr (json_t) shown =
      operation_call (&caller, "session.show", json_pack ("{s:s}", "session", session), error);
  if (!shown)
    return FALSE;
  if (strcmp (json_member_text (shown, "state"), "ended") != 0)
    return TRUE;
  g_autofree char *name = text_one_line (session, 64);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_ENDED, "the session %s has ended: %s", name,
               json_member_text (shown, "reason"));
  return FALSE;
}

/* What BODY has in another form than a submission, or as who asks: the makers above, and set_who. */
static const char *const other[] = {"files",        "stdin",   "workdir", "limits", "isolation",
                                    "conversation", "session", "wait",    NULL};

static AdderRequest *
make (struct making *making, GError **error)
{
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)making->body, name, value)
  {
    if (library_request_has (name) && !g_strv_contains (other, name) && !json_is_null (value))
      json_object_set (making->submission.body, name, value);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (makers); i++)
    if (!makers[i](making, error))
      return NULL;
  return submission_build (&making->submission, error);
}

static void
set_who (AdderRequest *asked, struct http_request *request, const json_t *body)
{
  const struct principal *who = http_who (request);
  const json_t *keep_over = json_object_get (body, "keep_over");
  adder_request_set_owner (asked, who->owner, json_string_value (json_object_get (body, "conversation")));
  adder_request_set_role (asked, role_name (who->role));
  adder_request_set_profiles_allowed (asked, principal_run_profiles (who));
  adder_request_set_origin (asked, "http", NULL, NULL);
  adder_request_set_watch (asked, http_watch_fd (request));
  if (json_is_integer (keep_over))
    adder_request_set_keep_over (asked, (guint64)json_integer_value (keep_over));
}

AdderRequest *
run_request_new (struct http_request *request, const json_t *body, const char *session, GError **error)
{
  struct making making = {.request = request, .body = body};
  const char *named = json_string_value (json_object_get (body, "session"));
  const char *code = json_member_text (body, "code"), *wanted = session ? session : named;
  if (wanted && !check_session (request, wanted, error))
    return NULL;
  submission_init (&making.submission);
  making.submission.code = g_strdup (code);
  making.submission.code_length = strlen (code);
  AdderRequest *asked = make (&making, error);
  if (asked) {
    set_who (asked, request, body);
    if (wanted)
      adder_request_set_session (asked, wanted, !json_is_false (json_object_get (body, "wait")));
  }
  submission_clear (&making.submission);
  return asked;
}
