/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/mcp/local_files.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/mcp/mcp_private.h"
#include "tools/file_tools.h"

#define WAIT_MS     30000 /* the longest time to open a file, on any file system */
#define SHOWN_BYTES 200

/* ---- the channel ---- */

/* Waits for EVENT on FD, while somebody still wants to know. FALSE with ERROR. */
static gboolean
local_files_wait (int fd, short event, int watch_fd, GError **error)
{
  struct pollfd ready[] = {{.fd = fd, .events = event}, {.fd = watch_fd, .events = POLLRDHUP}};
  int n;
  do
    n = poll (ready, G_N_ELEMENTS (ready), WAIT_MS);
  while (n < 0 && errno == EINTR);
  if (n > 0 && ready[0].revents)
    return TRUE;
  g_set_error (error, ADDER_ERROR, n == 0 ? ADDER_ERROR_TIMEOUT : ADDER_ERROR_CANCELLED,
               n == 0 ? "the file system did not open it within %d s"
                      : "the client is gone, or cancelled the request",
               WAIT_MS / 1000);
  return FALSE;
}

/* Asks for PATH, to be answered at ANSWER_FD. FALSE with ERROR. */
static gboolean
local_files_ask (struct mcp_request *request, const char *path, int answer_fd, GError **error)
{
  struct mcp_caller *caller = request->caller;
  g_autoptr (json_t) question = json_pack ("{s:s}", "path", path);
  g_autofree char *text = json_to_text (question);
  /* One writer at a time, since a write then does not block. */
  g_mutex_lock (&caller->files_lock);
  gboolean asked = local_files_wait (caller->files_fd, POLLOUT, request->watch_fd, error);
  int r = asked ? fd_send (caller->files_fd, text, strlen (text), &answer_fd, 1) : 0;
  g_mutex_unlock (&caller->files_lock);
  return r < 0 ? error_from_errno (error, -r, "adder mcp does not answer") : asked;
}

/* The answer to the question for PATH; *RET_FD is the caller's. NULL with ERROR. */
static json_t *
local_files_exchange (struct mcp_request *request, const char *path, int *ret_fd, GError **error)
{
  g_autofree char *packet = g_malloc (LOCAL_FILES_PACKET);
  gsize count = 0;
  int ends[2];
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
    error_from_errno (error, errno, "cannot make a pair of sockets");
    return NULL;
  }
  autoclose int own = ends[0], theirs = ends[1];
  if (!local_files_ask (request, path, theirs, error))
    return NULL;
  fd_close (&theirs);
  if (!local_files_wait (own, POLLIN, request->watch_fd, error))
    return NULL;
  ssize_t got = fd_receive (own, packet, LOCAL_FILES_PACKET, ret_fd, 1, &count);
  if (got <= 0) {
    error_from_errno (error, got < 0 ? (int)-got : EPIPE, "adder mcp does not answer");
    return NULL;
  }
  return json_parse_object (packet, (gsize)got, "the answer", error);
}

/* The file PATH, opened; *RET_NAME is its name in the run. Both the caller's. -1 with ERROR. */
static int
local_files_open (struct mcp_request *request, const char *path, char **ret_name, GError **error)
{
  autoclose int fd = -1;
  if (strlen (path) > LOCAL_FILES_PATH) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "a path in files has %d bytes at most",
                 LOCAL_FILES_PATH);
    return -1;
  }
  g_autoptr (json_t) answer = local_files_exchange (request, path, &fd, error);
  if (!answer) {
    g_autofree char *shown = text_one_line (path, SHOWN_BYTES);
    g_prefix_error (error, "cannot open %s: ", shown);
    return -1;
  }
  const char *name = json_string_value (json_object_get (answer, "name"));
  if (name && fd >= 0) {
    *ret_name = g_strdup (name);
    return fd_steal (&fd);
  }
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "%s", json_member_text (answer, "error"));
  return -1;
}

gboolean
mcp_local_files_are_open (const struct mcp_request *request)
{
  struct mcp_caller *caller = request->caller;
  g_mutex_lock (&caller->files_lock);
  gboolean has = caller->files_fd >= 0;
  g_mutex_unlock (&caller->files_lock);
  return has;
}

/* ---- a call ---- */

static gboolean
local_files_are_any (const json_t *list)
{
  gsize index;
  json_t *item;
  json_array_foreach (list, index, item)
  {
    if (json_is_string (item) && !file_tools_is_id (json_string_value (item)))
      return TRUE;
  }
  return FALSE;
}

/* Asks the client for its roots, for the process that it started. FALSE: a reply was made, or ERROR. */
static gboolean
local_files_ask_roots (struct mcp_request *request, GError **error)
{
  struct mcp_ask ask = {"adder-roots", "roots/list", NULL, NULL};
  return !mcp_client_can (request, "roots") ||
         mcp_input_try (request, &ask, 1, NULL, error) != MCP_INPUT_LATER;
}

gboolean
mcp_local_files_take (struct mcp_request *request, const json_t *arguments, struct mcp_local_files *files,
                      struct tool_caller *caller, GError **error)
{
  const json_t *list = json_object_get (arguments, "files");
  gsize index;
  json_t *item;
  /* The check of arguments reports a list that is too long. */
  if (!local_files_are_any (list) || json_array_size (list) > FILES_OF_CALL ||
      !mcp_local_files_are_open (request))
    return TRUE;
  if (!local_files_ask_roots (request, error))
    return FALSE;
  files->files = g_new0 (struct tool_file, json_array_size (list));
  json_array_foreach ((json_t *)(guintptr)list, index, item)
  {
    const char *path = json_string_value (item);
    if (!path || file_tools_is_id (path))
      continue;
    struct tool_file *file = &files->files[files->count];
    file->fd = local_files_open (request, path, &file->name, error);
    if (file->fd < 0)
      return FALSE;
    file->path = g_strdup (path);
    files->count++;
  }
  caller->files = files->files;
  caller->file_count = files->count;
  return TRUE;
}

void
mcp_local_files_clear (struct mcp_local_files *files)
{
  for (gsize i = 0; i < files->count; i++) {
    fd_close (&files->files[i].fd);
    g_free (files->files[i].name);
    g_free (files->files[i].path);
  }
  g_free (files->files);
  *files = (struct mcp_local_files){0};
}
