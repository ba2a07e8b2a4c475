/* SPDX-License-Identifier: Apache-2.0 */
/* Group commit: steps that arrive during a commit wait, and the first of them leads the next one, for all of
 * them. So a hundred runs that end at once pay for a few commits. */
#include "adder_types.h"
#include "common/guarded.h"
#include "store/database_private.h"

#define TOGETHER_MAX 64
#define ATTEMPTS_MAX 6

enum member_state { MEMBER_WAITS, MEMBER_TAKEN, MEMBER_DONE };

struct member {
  database_step step;
  gpointer data;
  enum member_state state;
  gint64 deadline_us;
  GError *error; /* set when it failed; until then, of the current attempt */
};

LOCK_CLASS (commits);

struct commits {
  MUTEX (commits) lock;
  GCond changed;
  GUARDED_BY (commits) GQueue waiting; /* of struct member */
  GUARDED_BY (commits) gboolean is_led;
};

struct commits *
commits_new (void)
{
  struct commits *commits = g_new0 (struct commits, 1);
  g_mutex_init (&commits->lock);
  g_cond_init (&commits->changed);
  g_queue_init (&commits->waiting);
  return commits;
}

void
commits_free (struct commits *commits)
{
  g_mutex_clear (&commits->lock);
  g_cond_clear (&commits->changed);
  g_free (commits);
}

/* ---- one attempt ---- */

enum attempt { ATTEMPT_DONE, ATTEMPT_AGAIN, ATTEMPT_APART }; /* APART: again, each by itself */

static void
fail_all (GPtrArray *members, const GError *why)
{
  for (guint i = 0; i < members->len; i++) {
    struct member *member = members->pdata[i];
    g_clear_error (&member->error);
    member->error = g_error_copy (why);
  }
}

/* Its error is set when it fails, even if the step sets none. */
static gboolean
database_commit_run_step (struct member *member, struct transaction *transaction)
{
  g_clear_error (&member->error);
  if (member->step (member->data, transaction, &member->error) && !transaction->broken)
    return TRUE;
  if (!member->error)
    g_set_error_literal (&member->error, ADDER_ERROR, ADDER_ERROR_FAILED,
                         "it could not be written to the database");
  return FALSE;
}

/* A step that fails alone is rolled back alone. */
static gboolean
run_step_apart (struct member *member, struct transaction *transaction, GError **error)
{
  if (!transaction_mark (transaction, error))
    return FALSE;
  gboolean ok = database_commit_run_step (member, transaction);
  return transaction_return (transaction, ok, error);
}

/* Savepoints cost as much as the steps, and are seldom needed: at first all are run without them (APART
 * FALSE), and when one fails all are run again with them. */
static enum attempt
database_commit_attempt (struct database *database, GPtrArray *members, gboolean apart)
{
  const struct member *first = members->pdata[0];
  g_autoptr (GError) why = NULL;
  struct transaction *transaction = transaction_new (database, TRUE, first->deadline_us, &why);
  if (!transaction) {
    fail_all (members, why);
    return ATTEMPT_DONE;
  }
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < members->len; i++) {
    struct member *member = members->pdata[i];
    ok = apart ? run_step_apart (member, transaction, &why) : database_commit_run_step (member, transaction);
    if (!ok && !why)
      why = g_error_copy (member->error);
  }
  enum attempt result = ATTEMPT_DONE;
  if (!ok && !apart && members->len > 1 && transaction->failure.trouble == SQL_FAILED)
    result = ATTEMPT_APART;
  else if (!ok || !transaction_commit (transaction, &why)) {
    fail_all (members, why);
    result = transaction_may_repeat (transaction) ? ATTEMPT_AGAIN : ATTEMPT_DONE;
  }
  transaction_end (transaction);
  return result;
}

static void
commit_together (struct database *database, GPtrArray *members)
{
  const struct member *first = members->pdata[0];
  gboolean apart = FALSE;
  for (guint i = 0; i < ATTEMPTS_MAX; i++) {
    enum attempt result = database_commit_attempt (database, members, apart);
    if (result == ATTEMPT_DONE || (i > 0 && g_get_monotonic_time () >= first->deadline_us))
      return;
    if (result == ATTEMPT_APART)
      apart = TRUE;
    else
      g_usleep ((gulong)g_random_int_range (200, 1000) << i); /* the transaction it conflicted with goes
                                                               * first */
  }
}

/* ---- in turn ---- */

static GPtrArray *
take_members (struct commits *commits)
{
  GPtrArray *members = g_ptr_array_new ();
  for (struct member *member;
       members->len < TOGETHER_MAX && (member = g_queue_pop_head (&commits->waiting));) {
    member->state = MEMBER_TAKEN;
    g_ptr_array_add (members, member);
  }
  return members;
}

/* The lock is released while it works. */
REQUIRES (commits)
static void
lead (struct database *database)
{
  struct commits *commits = database->commits;
  commits->is_led = TRUE;
  g_autoptr (GPtrArray) members = take_members (commits);
  g_mutex_unlock (&commits->lock);
  commit_together (database, members);
  g_mutex_lock (&commits->lock);
  commits->is_led = FALSE;
  for (guint i = 0; i < members->len; i++)
    ((struct member *)members->pdata[i])->state = MEMBER_DONE;
  g_cond_broadcast (&commits->changed);
}

/* Until it is done, or can be led, or its time is over. */
REQUIRES (commits)
static void
wait_turn (struct database *database, struct member *member)
{
  struct commits *commits = database->commits;
  if (member->state == MEMBER_TAKEN) {
    g_cond_wait (&commits->changed, &commits->lock);
  } else if (!g_cond_wait_until (&commits->changed, &commits->lock, member->deadline_us) &&
             member->state == MEMBER_WAITS) {
    g_queue_remove (&commits->waiting, member);
    member->state = MEMBER_DONE;
    g_set_error (&member->error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE,
                 "the database %s: others wrote to it for longer than [store] timeout_ms", database->shown);
  }
}

gboolean
database_commit (struct database *database, database_step step, gpointer data, GError **error)
{
  struct commits *commits = database->commits;
  struct member self = {.step = step,
                        .data = data,
                        .deadline_us = g_get_monotonic_time () + (gint64)database->timeout_ms * 1000};
  g_mutex_lock (&commits->lock);
  g_queue_push_tail (&commits->waiting, &self);
  while (self.state != MEMBER_DONE)
    if (commits->is_led)
      wait_turn (database, &self);
    else
      lead (database);
  g_mutex_unlock (&commits->lock);
  if (!self.error)
    return TRUE;
  g_propagate_error (error, self.error);
  return FALSE;
}
