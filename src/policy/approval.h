/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals: what somebody must approve before it happens.
 *
 * Theory of operation. A subject is what is asked for: a run, or the changes that a finished run would make
 * to a directory. Its digest covers everything that matters, so an approval is for exactly that, and the
 * first request granted by it uses it up. It belongs to the owner and the conversation that asked, and is
 * invisible to others. Repeating a pending request refers to the same approval; while a conversation
 * remembers a denial, it is refused there. "Always" approves all requests of one conversation of one owner in
 * one place (profile, environment, isolation, work directory).
 *
 *     pending --approve--> approved --the request comes--> gone
 *        |                  |    ^
 *        |                 deny  approve (until then, whoever decided may think again)
 *        |                  v    |
 *        +------deny-----> denied
 *
 * Each state ends by itself after [approval] expire_ms. All of it is in memory: it ends with the daemon. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "common/notifications.h"

/* When a profile requires it. */
enum approval_mode {
  APPROVAL_NEVER,
  APPROVAL_ALWAYS, /* before anything runs */
  APPROVAL_EFFECT, /* before a run's changes to a directory are kept; before it runs if it makes them at
                      once */
};
extern const char *const approval_modes[]; /* the words, and then NULL */

enum approval_kind {
  APPROVAL_OF_RUN,
  APPROVAL_OF_CHANGES, /* of a review: approving makes them (approvals_set_carry_out) */
};

struct approval_subject {
  enum approval_kind kind;
  const char *owner, *conversation; /* conversation NULL: none, and then there is no "always" */
  const char *digest;               /* of the whole request (struct approval_digest) */
  const char *place;                /* the digest of the place: what "always" is bound to */
  const char *review_id;            /* of APPROVAL_OF_CHANGES, whose approval has the same id; else NULL */
  json_t *shown;                    /* an object for people ("code", "profile", ...); not changed any more */
};

/* ---- digests: SHA-256 over named parts, each with its length, so that no two lists of parts look alike ----
 */

struct approval_digest;
struct approval_digest *approval_digest_new (void);
/* LENGTH -1: DATA is text; DATA may be NULL, which is not the same as empty. */
void approval_digest_add (struct approval_digest *digest, const char *name, const void *data, gssize length);
void approval_digest_add_number (struct approval_digest *digest, const char *name, guint64 number);
/* Frees DIGEST. 64 hexadecimal digits, the caller's. */
char *approval_digest_end (struct approval_digest *digest);

/* ---- the registry; may be used from any number of threads ---- */

struct approvals;
/* NOTIFICATIONS, which is referenced, is told of what is asked for, decided and gone; NULL: nobody is. */
struct approvals *approvals_new (const struct config *config, struct notifications *notifications);
/* In a cluster, STORE tells its other nodes of approvals of runs: any of them grants what one of them asked
 * for. Once. */
struct store;
void approvals_share (struct approvals *approvals, struct store *store);
struct approvals *approvals_ref (struct approvals *approvals);
void approvals_unref (struct approvals *approvals);

struct approval_answer {
  gboolean granted; /* it may happen, now and once */
  char *id;         /* of the approval that counts, NULL for an "always"; else of the pending one; the
                       caller's */
  char *decided;    /* who granted it and when, for the record: "token:boss, 2026-11-22T05:09:51.123Z"; NULL:
                     * nobody in particular; the caller's */
  const char *note; /* why the GIVEN one does not count, or NULL; static */
};

/* Whether SUBJECT may happen; else an approval is requested. GIVEN: the id of an approval that the caller
 * has, or NULL. ADDER_ERROR_REFUSED when somebody denied it, with the reason; ADDER_ERROR_BUSY when too many
 * wait. */
gboolean approvals_decide (struct approvals *approvals, const struct approval_subject *subject,
                           const char *given, struct approval_answer *ret_answer, GError **error);

/* ---- deciding ---- */

/* CONVERSATION: the only one in which the caller may speak, an agent, or NULL: a person. A conversation
 * cannot approve its own requests. OWNER: whose requests they decide about; NULL: everybody's. NAME: who they
 * are themselves, which is shown; NULL: nobody in particular. IF_PENDING: they have seen it pending, and
 * decide only if nobody did meanwhile (else ADDER_ERROR_EXISTS). */
struct approver {
  const char *owner, *conversation, *name;
  gboolean if_pending;
};

/* {"approvals": [...]} of OWNER (NULL, here and below: of everybody), pending ones first, without their code.
 * The caller's. */
json_t *approvals_list (struct approvals *approvals, const char *owner);
/* One, with all that is shown. ADDER_ERROR_NOT_FOUND. */
json_t *approvals_show (struct approvals *approvals, const char *owner, const char *id, GError **error);
/* The same as in the list, or NULL. */
json_t *approvals_show_short (struct approvals *approvals, const char *owner, const char *id);
/* Its state afterwards. ALWAYS: and everything else of its conversation in its place. */
json_t *approvals_approve (struct approvals *approvals, const struct approver *by, const char *id,
                           gboolean always, GError **error);
/* REASON may be NULL; the caller of the request gets it. */
json_t *approvals_deny (struct approvals *approvals, const struct approver *by, const char *id,
                        const char *reason, GError **error);
/* Waits until ID is no longer pending, at most WAIT_MS or until the peer of the socket WATCH_FD (-1: none)
 * hangs up, which is ADDER_ERROR_CANCELLED. Its state then. */
json_t *approvals_wait (struct approvals *approvals, const char *owner, const char *id, int watch_fd,
                        guint64 wait_ms, GError **error);

/* Makes the changes of REVIEW_ID, whose digest is still DIGEST (YES), or drops them; called without any lock
 * by the thread that approves or denies. *RET_OUTCOME may be set to an object that is shown as "outcome".
 * With FALSE and ERROR the approval is pending again. Not called when an approval expires: a review does so
 * by itself. */
typedef gboolean (*approval_carry_out) (gpointer data, const char *owner, const char *review_id,
                                        const char *digest, gboolean yes, json_t **ret_outcome,
                                        GError **error);
/* Once, before the first request. */
void approvals_set_carry_out (struct approvals *approvals, approval_carry_out carry_out, gpointer data);

/* REVIEW_ID was decided elsewhere. */
void approvals_forget (struct approvals *approvals, const char *owner, const char *review_id);

/* Pending and unused approvals, which would be lost with the process. */
guint approvals_waiting (struct approvals *approvals);
