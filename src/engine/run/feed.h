/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input that a caller did not name: its pipe or file, passed on as the code reads it. */
#pragma once

#include <glib.h>
#include <poll.h>
#include <sys/types.h>

struct feed {
  int source;      /* the caller's, -1: there is none */
  int sink;        /* write end of our pipe, -1: all was passed, or nothing more will be */
  int look;        /* its read end, to see how much is unread; it also keeps a write from raising SIGPIPE */
  gboolean file;   /* SOURCE is a regular file, else a pipe */
  off_t start, at; /* of a file: where the passed part begins and ends */
  guint64 left;    /* bytes that may still be passed: the limit and one more */
  gsize shown;     /* of a pipe: bytes of its head that the code may read and that are still in it */
  gboolean asked;  /* the code has read some */
  gboolean full;   /* pass nothing more until SINK has room */
  int failure;     /* errno: why SOURCE could not be read to its end, of which the code has read some; 0 */
};

/* A feed without a source. */
void feed_init (struct feed *feed);

/* Passes SOURCE, a pipe or regular file that stays the caller's, at most MOST bytes of it, into a pipe, whose
 * read end, *RET_FD, is for the code: the code gets no descriptor of the caller's. FALSE with ERROR: SOURCE
 * is something else, or no pipe could be made. */
gboolean feed_open (struct feed *feed, int source, guint64 most, int *ret_fd, GError **error);

/* What feed_step waits for; its fd is -1 for nothing. */
struct pollfd feed_wait (const struct feed *feed);

/* Passes what can be passed without waiting; for the code a failure is the end. FALSE: the code reads on, but
 * SOURCE has more than MOST. */
gboolean feed_step (struct feed *feed);

/* Ends it. What the code did not read stays in SOURCE, except for up to a pipe's content (64 KiB) where
 * SOURCE is a pipe and the code has read more than its first page. May be called again. */
void feed_close (struct feed *feed);
