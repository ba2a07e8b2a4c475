/* SPDX-License-Identifier: Apache-2.0 */
/* A run as it is asked for, on its way to the library's request. */
#include "interfaces/service/submission.h"

#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "library/library.h"

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

AdderRequest *
submission_build (const struct submission *request, GError **error)
{
  AdderRequest *result = library_request_read (request->code ? request->code : "", request->code_length,
                                               request->body, request->fds, request->fd_count, error);
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
  g_autofree char *text = NULL;
  adder_result_save_files (result, submission_directory (request),
                           json_is_true (json_object_get (request->body, "force")), &text, error);
  return json_loads (text, 0, NULL);
}
