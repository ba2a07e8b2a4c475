/* SPDX-License-Identifier: Apache-2.0 */
/* A run as it is asked for, on its way to the library's request. */
#include "interfaces/service/submission.h"

#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "library/library.h"
#include "operations/run_body.h"

void
submission_init (struct submission *request)
{
  memset (request, 0, sizeof *request);
  request->body = json_object ();
}

void
submission_clear (struct submission *request)
{
  g_clear_pointer (&request->body, json_decref);
  g_clear_pointer (&request->code, g_free);
  for (gsize i = 0; i < request->fd_count; i++)
    fd_close (&request->fds[i]);
  request->fd_count = 0;
}

gboolean
submission_take_fd (struct submission *request, int *fd, GError **error)
{
  if (request->fd_count >= G_N_ELEMENTS (request->fds)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "more than %d files cannot go into one run",
                 SUBMISSION_FDS_MAX - 2);
    return FALSE;
  }
  request->fds[request->fd_count++] = fd_steal (fd);
  return TRUE;
}

json_t *
submission_files (struct submission *request)
{
  json_t *files = json_object_get (request->body, "files");
  if (!files)
    json_object_set_new (request->body, "files", files = json_array ());
  return files;
}

gboolean
submission_add_file (struct submission *request, const char *name, int *fd, GError **error)
{
  json_array_append_new (submission_files (request), json_pack ("{s:s, s:b}", "name", name, "descriptor", 1));
  return submission_take_fd (request, fd, error);
}

AdderRequest *
submission_build (const struct submission *request, const char *owner, GError **error)
{
  g_autoptr (json_t) body = field_check (run_local_fields, NULL, request->body, error);
  const struct run_body_source source = {request->code ? request->code : "", request->code_length, owner,
                                         request->fds, request->fd_count};
  AdderRequest *result = body ? run_body_read (body, &source, error) : NULL;
  if (result)
    adder_request_set_origin (result, "cli", NULL, NULL);
  return result;
}

int
submission_directory (const struct submission *request)
{
  gboolean save = json_is_true (json_object_get (request->body, "save"));
  return save && request->fd_count > 0 ? request->fds[request->fd_count - 1] : -1;
}

json_t *
submission_save (const struct submission *request, const AdderResult *result, GError **error)
{
  return library_save_files (result, submission_directory (request),
                             json_is_true (json_object_get (request->body, "force")), error);
}
