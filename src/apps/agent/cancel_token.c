/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/cancel_token.h"

#include <errno.h>
#include <sys/eventfd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/guarded.h"

LOCK_CLASS (cancel_token);

struct cancel_token {
  struct call_backend *target;
  int fd;
  GThread *clock;
  MUTEX (cancel_token) lock;
  GCond ended;
  GUARDED_BY (cancel_token) gboolean under_way;
  GUARDED_BY (cancel_token) gint64 deadline_us;
  GUARDED_BY (cancel_token) enum cancel_reason reason;
};

struct cancel_token *
cancel_token_new (struct call_backend *target, GError **error)
{
  int fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make an eventfd");
    return NULL;
  }
  struct cancel_token *token = g_new0 (struct cancel_token, 1);
  token->target = target;
  token->fd = fd;
  g_mutex_init (&token->lock);
  g_cond_init (&token->ended);
  return token;
}

void
cancel_token_free (struct cancel_token *token)
{
  if (!token)
    return;
  cancel_token_end (token);
  fd_close (&token->fd);
  g_mutex_clear (&token->lock);
  g_cond_clear (&token->ended);
  g_free (token);
}

/* The first reason is the one that is told. */
REQUIRES (cancel_token)
static void
cancel_token_set_reason (struct cancel_token *token, enum cancel_reason reason)
{
  if (token->reason != CANCEL_REASON_NONE)
    return;
  token->reason = reason;
  (void)eventfd_write (token->fd, 1);
  call_backend_cancel (token->target);
}

static gpointer
clock_thread (gpointer data)
{
  struct cancel_token *token = data;
  g_mutex_lock (&token->lock);
  while (token->under_way && token->reason == CANCEL_REASON_NONE)
    if (!g_cond_wait_until (&token->ended, &token->lock, token->deadline_us) && token->under_way)
      cancel_token_set_reason (token, CANCEL_REASON_TIME);
  g_mutex_unlock (&token->lock);
  return NULL;
}

void
cancel_token_begin (struct cancel_token *token, gint64 deadline_us)
{
  g_mutex_lock (&token->lock);
  token->deadline_us = deadline_us;
  token->under_way = TRUE;
  g_mutex_unlock (&token->lock);
  token->clock = g_thread_new ("clock", clock_thread, token);
}

void
cancel_token_end (struct cancel_token *token)
{
  eventfd_t count;
  g_mutex_lock (&token->lock);
  token->under_way = FALSE;
  g_cond_broadcast (&token->ended);
  g_mutex_unlock (&token->lock);
  g_clear_pointer (&token->clock, g_thread_join);
  g_mutex_lock (&token->lock);
  token->reason = CANCEL_REASON_NONE;
  (void)eventfd_read (token->fd, &count);
  call_backend_resume (token->target);
  g_mutex_unlock (&token->lock);
}

void
cancel_token_cancel (struct cancel_token *token)
{
  g_mutex_lock (&token->lock);
  cancel_token_set_reason (token, CANCEL_REASON_CANCELLED);
  g_mutex_unlock (&token->lock);
}

int
cancel_token_fd (const struct cancel_token *token)
{
  return token->fd;
}

enum cancel_reason
cancel_token_reason (struct cancel_token *token)
{
  g_mutex_lock (&token->lock);
  enum cancel_reason reason = token->reason;
  g_mutex_unlock (&token->lock);
  return reason;
}
