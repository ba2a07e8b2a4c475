/* SPDX-License-Identifier: Apache-2.0 */
/* Legacy sessions: the results of `initialize`, and questions to the client that wait for answers. */
#include "interfaces/mcp/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "interfaces/mcp/mcp_private.h"

/* A waiter. It lives on the stack of the thread that asked; the table's lock makes it safe to reach from
 * another. */
struct mcp_question {
  int wake_fd;
  json_t *response; /* the whole of it */
};

struct mcp_session *
mcp_session_new (const char *id, const char *owner, mcp_session_send send, gpointer data)
{
  struct mcp_session *session = g_new0 (struct mcp_session, 1);
  session->references = 1;
  g_mutex_init (&session->sending);
  g_mutex_init (&session->lock);
  session->id = g_strdup (id);
  session->owner = g_strdup (owner);
  session->send = send;
  session->data = data;
  session->level = MCP_LEVEL_INFO;
  session->tag = g_random_int ();
  session->questions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return session;
}

struct mcp_session *
mcp_session_ref (struct mcp_session *session)
{
  g_atomic_int_inc (&session->references);
  return session;
}

void
mcp_session_unref (struct mcp_session *session)
{
  if (!session || !g_atomic_int_dec_and_test (&session->references))
    return;
  UNSHARED (mcp_session);
  g_free (session->id);
  g_free (session->owner);
  json_decref (session->capabilities);
  json_decref (session->client);
  g_hash_table_destroy (session->questions);
  g_mutex_clear (&session->lock);
  g_mutex_clear (&session->sending);
  g_free (session);
}

gboolean
mcp_session_has_batches (struct mcp_session *session)
{
  g_mutex_lock (&session->lock);
  gboolean has = g_strcmp0 (session->version, MCP_BATCH_VERSION) == 0;
  g_mutex_unlock (&session->lock);
  return has;
}

static void
session_wake (struct mcp_question *question)
{
  guint64 one = 1;
  G_GNUC_UNUSED ssize_t put = write (question->wake_fd, &one, sizeof one);
}

void
mcp_session_end (struct mcp_session *session)
{
  GHashTableIter iter;
  gpointer question;
  g_mutex_lock (&session->sending);
  session->send = NULL;
  g_mutex_unlock (&session->sending);
  g_mutex_lock (&session->lock);
  session->ended = TRUE;
  g_hash_table_iter_init (&iter, session->questions);
  while (g_hash_table_iter_next (&iter, NULL, &question))
    session_wake (question);
  g_mutex_unlock (&session->lock);
  mcp_subscriptions_leave (session); /* after `ended`: nobody joins */
}

void
mcp_session_notify (struct mcp_session *session, const char *method, json_t *params)
{
  g_autoptr (json_t) message = json_pack ("{s:s, s:s}", "jsonrpc", "2.0", "method", method);
  if (params)
    json_object_set_new (message, "params", params);
  g_mutex_lock (&session->sending);
  if (session->send)
    session->send (session->data, message);
  g_mutex_unlock (&session->sending);
}

/* ---- questions ---- */

void
mcp_session_answer (struct mcp_session *session, struct mcp_message *response)
{
  const char *id = json_string_value (response->id);
  g_mutex_lock (&session->lock);
  struct mcp_question *question = id ? g_hash_table_lookup (session->questions, id) : NULL;
  if (question && !question->response) {
    question->response = g_steal_pointer (&response->value);
    session_wake (question);
  }
  g_mutex_unlock (&session->lock);
}

/* Until there is an answer, the client is gone, or WAIT_MS have passed. */
static gboolean
wait_for_answer (const struct mcp_question *question, int watch_fd, guint64 wait_ms, GError **error)
{
  gint64 deadline = g_get_monotonic_time () + (gint64)wait_ms * 1000;
  struct pollfd ready[] = {{.fd = question->wake_fd, .events = POLLIN},
                           {.fd = watch_fd, .events = POLLRDHUP}};
  for (;;) {
    gint64 left = (deadline - g_get_monotonic_time () + 999) / 1000;
    int n = left > 0 ? poll (ready, G_N_ELEMENTS (ready), (int)MIN (left, G_MAXINT)) : 0;
    if (n == 0) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT, "nobody answered in time");
      return FALSE;
    }
    if (n > 0 && ready[0].revents)
      return TRUE;
    if (n > 0) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the client is gone, or cancelled the request");
      return FALSE;
    }
    if (errno != EINTR)
      return error_from_errno (error, errno, "cannot wait for the client's answer");
  }
}

/* Registers QUESTION under an id of its own. NULL when the session has ended. The caller's. */
static char *
begin_question (struct mcp_session *session, struct mcp_question *question)
{
  g_mutex_lock (&session->lock);
  char *id = session->ended
                 ? NULL
                 : g_strdup_printf ("adder-%08x-%" G_GINT64_FORMAT, session->tag, ++session->next_question);
  if (id)
    g_hash_table_insert (session->questions, g_strdup (id), question);
  g_mutex_unlock (&session->lock);
  return id;
}

static void
end_question (struct mcp_session *session, const char *id)
{
  g_mutex_lock (&session->lock);
  g_hash_table_remove (session->questions, id);
  g_mutex_unlock (&session->lock);
}

static json_t *
session_read_answer (const json_t *response, GError **error)
{
  json_t *result = json_object_get (response, "result");
  const json_t *problem = json_object_get (response, "error");
  if (json_is_object (result))
    return json_incref (result);
  const char *words = json_string_value (json_object_get (problem, "message"));
  g_set_error (error, ADDER_ERROR, response ? ADDER_ERROR_REFUSED : ADDER_ERROR_CANCELLED,
               "the client answers: %s",
               words      ? words
               : response ? "nothing that can be read"
                          : "nothing");
  return NULL;
}

json_t *
mcp_session_ask (struct mcp_request *request, const char *method, json_t *params, guint64 wait_ms,
                 GError **error)
{
  autoclose int wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct mcp_question question = {.wake_fd = wake_fd};
  g_autofree char *id = wake_fd >= 0 ? begin_question (request->session, &question) : NULL;
  g_autoptr (json_t) message = json_pack ("{s:s, s:s*, s:s}", "jsonrpc", "2.0", "id", id, "method", method);
  if (params)
    json_object_set_new (message, "params", params);
  if (!id) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the session has ended");
    return NULL;
  }
  json_t *answer = NULL;
  gboolean sent = request->link && request->link->send (request, message);
  gboolean woken = sent && wait_for_answer (&question, request->watch_fd, wait_ms, error);
  end_question (request->session, id);
  g_autoptr (json_t) response = question.response;
  if (woken)
    answer = session_read_answer (response, error);
  else if (!sent)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the client is gone");
  return answer;
}
