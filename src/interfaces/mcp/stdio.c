/* SPDX-License-Identifier: Apache-2.0 */
/* One message on a line, and how it is carried out.
 *
 * Theory of operation. The connection's thread reads lines. It runs instant requests itself, so that they are
 * answered in order; the others wait for a pool of a few threads, and those that last as long as the client
 * likes get a thread of their own. A request that is not done at once is in flight: its id is taken, and
 * cancelling it, or the client's leaving, makes the socket that it watches hang up. Its sender then drops its
 * messages, under the lock of the output, so that nothing follows a cancellation that was read.
 *
 * The end of the input cancels nothing: the client may wait for its answers, which come within the calls'
 * limits. Only requests that last until the client ends them end then.
 *
 * An unreadable line is answered and skipped; so is one that is too long, as soon as it is. */
#include "interfaces/mcp/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/config.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/log.h"
#include "interfaces/mcp/inflight.h"

#define READ_BYTES (64 * 1024)
#define PAGE_BYTES 4096
#define STALL_US   (10 * 60 * G_USEC_PER_SEC) /* the longest time without the client reading */
#define TICK_MS    500

LOCK_CLASS (stdio_writing);

LOCK_CLASS (stdio);

struct stdio {
  struct mcp_server *server;
  struct mcp_caller *caller;
  struct mcp_session *session;
  struct mcp_inflight *inflight;
  GThreadPool *pool;
  int read_fd, write_fd;
  gsize line_most;

  MUTEX (stdio_writing) writing;
  GUARDED_BY (stdio_writing) gboolean broken; /* nothing can be written any more */

  int done_fd; /* an eventfd: a job is done */
  MUTEX (stdio) lock;
  GUARDED_BY (stdio) guint jobs; /* unfinished */
};

/* Requests carried out by another thread: one, or those of a batch. */
struct job {
  struct stdio *stdio;
  GPtrArray *requests;
  json_t *replies; /* of a batch: the responses so far, else NULL */
};

/* ---- writing ---- */

/* As much as fits without waiting, once poll has reported room. */
static ssize_t
stdio_write_some (int fd, const char *data, gsize length)
{
  ssize_t put = send (fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  /* When poll reports a pipe as writable, a page fits. */
  return put < 0 && errno == ENOTSOCK ? write (fd, data, MIN (length, PAGE_BYTES)) : put;
}

/* Writes all of it, with a timeout. */
static gboolean
stdio_write_all (struct stdio *stdio, const char *data, gsize length)
{
  gint64 began = g_get_monotonic_time ();
  while (length > 0) {
    struct pollfd ready = {.fd = stdio->write_fd, .events = POLLOUT};
    int n = poll (&ready, 1, TICK_MS);
    if (n == 0 && g_get_monotonic_time () - began > STALL_US)
      return FALSE;
    if (n < 0 && errno != EINTR)
      return FALSE;
    if (n <= 0)
      continue;
    ssize_t put = stdio_write_some (stdio->write_fd, data, length);
    if (put < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (put < 0)
      return FALSE;
    data += put;
    length -= (gsize)put;
    began = g_get_monotonic_time ();
  }
  return TRUE;
}

/* REQUEST NULL: it is about none. */
static gboolean
send_message (struct stdio *stdio, const struct mcp_request *request, const json_t *message)
{
  g_autofree char *text = json_to_text (message);
  gsize length = strlen (text);
  text[length] = '\n'; /* in place of the zero byte */
  g_mutex_lock (&stdio->writing);
  gboolean wanted = !stdio->broken && !(request && mcp_is_cancelled (request));
  if (wanted && !stdio_write_all (stdio, text, length + 1))
    stdio->broken = TRUE;
  gboolean ok = wanted && !stdio->broken;
  g_mutex_unlock (&stdio->writing);
  return ok;
}

static gboolean
send_for_request (struct mcp_request *request, const json_t *message)
{
  return send_message (request->link_data, request, message);
}

static gboolean
send_for_session (gpointer data, const json_t *message)
{
  return send_message (data, NULL, message);
}

static const struct mcp_link stdio_link = {.send = send_for_request};

/* Sends what is in REPLY, which is used up. */
static void
send_reply (struct stdio *stdio, const struct mcp_request *request, struct mcp_reply *reply)
{
  if (reply->message)
    send_message (stdio, request, reply->message);
  mcp_reply_clear (reply);
}

/* ---- jobs ---- */

static void
begin_job (struct stdio *stdio)
{
  g_mutex_lock (&stdio->lock);
  stdio->jobs++;
  g_mutex_unlock (&stdio->lock);
}

static void
end_job (struct stdio *stdio)
{
  guint64 one = 1;
  g_mutex_lock (&stdio->lock);
  stdio->jobs--;
  G_GNUC_UNUSED ssize_t put = write (stdio->done_fd, &one, sizeof one);
  g_mutex_unlock (&stdio->lock);
}

static void
job_free (struct job *job)
{
  g_ptr_array_unref (job->requests);
  json_decref (job->replies);
  g_free (job);
}

/* Carries out one request of JOB; its id is freed only when everything was sent. */
static void
stdio_carry_out (struct job *job, struct mcp_request *request)
{
  struct mcp_reply reply = {0};
  if (!mcp_is_cancelled (request))
    mcp_request_run (request, &reply);
  if (job->replies && reply.message)
    json_array_append (job->replies, reply.message);
  else
    send_reply (job->stdio, request, &reply);
  mcp_reply_clear (&reply);
  if (request->watch_fd >= 0)
    mcp_inflight_remove (job->stdio->inflight, request->id);
}

static void
run_job (gpointer data, G_GNUC_UNUSED gpointer unused)
{
  struct job *job = data;
  struct stdio *stdio = job->stdio;
  for (guint i = 0; i < job->requests->len; i++)
    stdio_carry_out (job, g_ptr_array_index (job->requests, i));
  if (json_array_size (job->replies) > 0)
    send_message (stdio, NULL, job->replies);
  job_free (job);
  end_job (stdio);
}

static gpointer
run_long_job (gpointer data)
{
  run_job (data, NULL);
  return NULL;
}

static struct job *
job_new (struct stdio *stdio, json_t *replies)
{
  struct job *job = g_new0 (struct job, 1);
  job->stdio = stdio;
  job->replies = replies;
  job->requests = g_ptr_array_new_with_free_func ((GDestroyNotify)mcp_request_free);
  return job;
}

static void
stdio_refuse (struct stdio *stdio, json_t *id, int code, const char *text)
{
  g_autoptr (json_t) message = mcp_error_message (id, code, text, NULL);
  send_message (stdio, NULL, message);
}

static void
start_job (struct job *job, gboolean is_long)
{
  begin_job (job->stdio);
  GThread *thread = is_long ? g_thread_try_new ("mcp-long", run_long_job, job, NULL) : NULL;
  if (thread)
    g_thread_unref (thread);
  else
    g_thread_pool_push (job->stdio->pool, job, NULL);
}

/* Takes the id of REQUEST. FALSE with the problem answered if that is impossible. */
static gboolean
take_off (struct stdio *stdio, struct mcp_request *request)
{
  gboolean taken;
  request->watch_fd = mcp_inflight_add (stdio->inflight, request->id, mcp_request_is_long (request), &taken);
  if (request->watch_fd < 0 && taken)
    stdio_refuse (stdio, request->id, MCP_INVALID_REQUEST, "a request with this id is running");
  else if (request->watch_fd < 0)
    stdio_refuse (stdio, request->id, MCP_INTERNAL_ERROR,
                  "there are as many requests under way as one connection may have ([mcp] max_requests)");
  return request->watch_fd >= 0;
}

/* ---- messages ---- */

static struct mcp_request *
stdio_request_of (struct stdio *stdio, struct mcp_message *message, struct mcp_reply *ret_reply)
{
  struct mcp_request *request =
      mcp_request_new (stdio->server, message, stdio->caller, stdio->session, NULL, ret_reply);
  if (request) {
    request->link = &stdio_link;
    request->link_data = stdio;
  }
  return request;
}

static void
notice_cancelled (struct stdio *stdio, const struct mcp_message *message)
{
  const json_t *id = json_object_get (message->params, "requestId");
  if (strcmp (message->method, "notifications/cancelled") == 0 &&
      (json_is_string (id) || json_is_integer (id)))
    mcp_inflight_cancel (stdio->inflight, id);
}

static void
take_request (struct stdio *stdio, struct mcp_message *message)
{
  struct mcp_reply reply = {0};
  struct mcp_request *request = stdio_request_of (stdio, message, &reply);
  if (!request)
    send_reply (stdio, NULL, &reply);
  else if (!request->id || mcp_request_is_quick (request)) {
    mcp_request_run (request, &reply);
    send_reply (stdio, NULL, &reply);
    mcp_request_free (request);
  } else if (take_off (stdio, request)) {
    gboolean is_long = mcp_request_is_long (request);
    struct job *job = job_new (stdio, NULL);
    g_ptr_array_add (job->requests, request);
    start_job (job, is_long);
  } else
    mcp_request_free (request);
}

/* Takes VALUE, one message of a batch. */
static void
stdio_take_item (struct stdio *stdio, struct job *job, json_t *value)
{
  struct mcp_message message;
  struct mcp_reply reply = {0};
  struct mcp_request *request = NULL;
  if (!mcp_message_take (value, &message, &reply)) {
    json_array_append (job->replies, reply.message);
    mcp_reply_clear (&reply);
    return;
  }
  if (message.kind == MCP_KIND_RESPONSE)
    mcp_session_answer (stdio->session, &message);
  else {
    if (message.kind == MCP_KIND_NOTIFICATION)
      notice_cancelled (stdio, &message);
    request = stdio_request_of (stdio, &message, &reply);
  }
  if (reply.message)
    json_array_append (job->replies, reply.message);
  mcp_reply_clear (&reply);
  if (request && (!request->id || take_off (stdio, request)))
    g_ptr_array_add (job->requests, request);
  else
    mcp_request_free (request);
  mcp_message_clear (&message);
}

static void
take_batch (struct stdio *stdio, const struct mcp_message *batch)
{
  const struct config *config = mcp_server_service (stdio->server)->config;
  gsize index;
  json_t *value;
  if (!mcp_session_has_batches (stdio->session) ||
      json_array_size (batch->value) > config->max_mcp_requests) {
    stdio_refuse (stdio, NULL, MCP_INVALID_REQUEST,
                  mcp_session_has_batches (stdio->session)
                      ? "a batch has as many messages as [mcp] max_requests at most"
                      : "only the version " MCP_BATCH_VERSION " has batches");
    return;
  }
  struct job *job = job_new (stdio, json_array ());
  json_array_foreach (batch->value, index, value) stdio_take_item (stdio, job, json_incref (value));
  start_job (job, FALSE);
}

static void
stdio_take_line (struct stdio *stdio, const char *line, gsize length)
{
  struct mcp_message message;
  struct mcp_reply reply = {0};
  if (length > 0 && line[length - 1] == '\r')
    length--;
  if (length == 0)
    return;
  if (!mcp_message_parse (line, length, &message, &reply)) {
    send_reply (stdio, NULL, &reply);
    return;
  }
  switch (message.kind) {
  case MCP_KIND_RESPONSE:
    mcp_session_answer (stdio->session, &message);
    break;
  case MCP_KIND_BATCH:
    take_batch (stdio, &message);
    break;
  case MCP_KIND_NOTIFICATION:
    notice_cancelled (stdio, &message);
    take_request (stdio, &message);
    break;
  case MCP_KIND_REQUEST:
  default:
    take_request (stdio, &message);
    break;
  }
  mcp_message_clear (&message);
}

/* ---- lines ---- */

struct lines {
  GByteArray *held; /* the beginning of a line */
  gboolean lost;    /* the line is too long: drop the rest of it */
};

static void
stdio_too_long (struct stdio *stdio)
{
  g_autofree char *text = g_strdup_printf (
      "a message is longer than %" G_GSIZE_FORMAT " bytes ([mcp] message_bytes)", stdio->line_most);
  stdio_refuse (stdio, NULL, MCP_PARSE_ERROR, text);
}

static void
stdio_end_line (struct stdio *stdio, struct lines *lines)
{
  if (!lines->lost)
    stdio_take_line (stdio, (const char *)lines->held->data, lines->held->len);
  lines->lost = FALSE;
  g_byte_array_set_size (lines->held, 0);
}

/* Takes the bytes read: ends of lines, whole ones and beginnings. */
static void
stdio_take_bytes (struct stdio *stdio, struct lines *lines, const char *data, gsize length)
{
  while (length > 0) {
    const char *end = memchr (data, '\n', length);
    gsize part = end ? (gsize)(end - data) : length;
    if (!lines->lost && lines->held->len + part > stdio->line_most) {
      lines->lost = TRUE;
      g_byte_array_set_size (lines->held, 0);
      stdio_too_long (stdio);
    }
    if (!lines->lost)
      g_byte_array_append (lines->held, (const guint8 *)data, (guint)part);
    if (end)
      stdio_end_line (stdio, lines);
    data += part + (end ? 1 : 0);
    length -= part + (end ? 1 : 0);
  }
}

static void
stdio_read_lines (struct stdio *stdio)
{
  struct lines lines = {g_byte_array_new (), FALSE};
  g_autofree char *part = g_malloc (READ_BYTES);
  for (;;) {
    ssize_t got = read (stdio->read_fd, part, READ_BYTES);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    stdio_take_bytes (stdio, &lines, part, (gsize)got);
  }
  /* A last line without its end was broken off. */
  g_byte_array_unref (lines.held);
}

/* ---- the connection ---- */

/* Waits until all jobs are done. FALSE: with MAY_GIVE_UP, the client left before that, or the daemon ends. */
static gboolean
stdio_wait (struct stdio *stdio, gboolean may_give_up)
{
  struct pollfd ready[] = {{.fd = stdio->done_fd, .events = POLLIN},
                           {.fd = may_give_up ? stdio->write_fd : -1}};
  for (;;) {
    guint64 ended;
    g_mutex_lock (&stdio->lock);
    gboolean done = stdio->jobs == 0;
    g_mutex_unlock (&stdio->lock);
    if (done)
      return TRUE;
    if (may_give_up && service_is_ending (mcp_server_service (stdio->server)))
      return FALSE;
    if (poll (ready, G_N_ELEMENTS (ready), may_give_up ? TICK_MS : -1) <= 0)
      continue;
    if (ready[1].revents)
      return FALSE;
    G_GNUC_UNUSED ssize_t got = read (stdio->done_fd, &ended, sizeof ended);
  }
}

static void
stdio_leave (struct stdio *stdio)
{
  mcp_session_end (stdio->session);
  mcp_inflight_cancel_lasting (stdio->inflight);
  /* An ending daemon shuts down its input, which is no client's end of input. */
  if (!stdio_wait (stdio, TRUE)) {
    mcp_inflight_cancel_all (stdio->inflight);
    stdio_wait (stdio, FALSE);
  }
}

void
mcp_stdio_serve (struct mcp_server *server, struct mcp_caller *caller, int read_fd, int write_fd)
{
  const struct config *config = mcp_server_service (server)->config;
  struct stdio stdio = {
      .server = server,
      .caller = caller,
      .read_fd = read_fd,
      .write_fd = write_fd,
      .line_most = config->mcp_message_bytes,
      .done_fd = eventfd (0, EFD_CLOEXEC),
  };
  if (stdio.done_fd < 0) {
    log_warning ("no MCP for a client: cannot make an eventfd: %s", g_strerror (errno));
    return;
  }
  stdio.inflight = mcp_inflight_new ((guint)config->max_mcp_requests);
  g_mutex_init (&stdio.writing);
  g_mutex_init (&stdio.lock);
  stdio.session = mcp_session_new (NULL, caller->principal->owner, send_for_session, &stdio);
  stdio.pool = g_thread_pool_new (run_job, NULL, (gint)config->mcp_threads, FALSE, NULL);

  stdio_read_lines (&stdio);
  stdio_leave (&stdio);

  g_thread_pool_free (stdio.pool, FALSE, TRUE);
  mcp_session_unref (stdio.session);
  mcp_inflight_free (stdio.inflight);
  g_mutex_clear (&stdio.writing);
  g_mutex_clear (&stdio.lock);
  fd_close (&stdio.done_fd);
}
