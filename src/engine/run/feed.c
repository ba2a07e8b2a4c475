/* SPDX-License-Identifier: Apache-2.0 */
/* A caller's standard input is often a pipe that has nothing to do with the code: a terminal's script in a
 * loop (`while read`), cron, ssh, or a program that leaves one open for ever. So nothing is taken from it
 * before the code reads. The kernel reports only when a pipe has room, not when it is read. Therefore the
 * code's pipe first has room for one page, which is filled with a copy of the head of the source (tee,
 * pread). When there is room again, the code has read it: only now is it taken from the source, the pipe is
 * enlarged, and the rest is passed as it comes.
 *
 * The code has full access to its end of the pipe, also through /proc/self/fd: by enlarging it or writing to
 * it, it deceives only itself. Every call on a pipe returns at once, whatever the code or another reader of
 * the source does meanwhile. A file is read without a copy of its descriptor in the sandbox; that takes as
 * long as its file system does, on a dead network share beyond the run's time limit. */
#include "engine/run/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"

#define PAGE_BYTES 4096
#define PIPE_BYTES (64 << 10)

void
feed_init (struct feed *feed)
{
  *feed = (struct feed){.source = -1, .sink = -1, .look = -1};
}

gboolean
feed_open (struct feed *feed, int source, guint64 most, int *ret_fd, GError **error)
{
  struct stat st;
  int ends[2];
  if (fstat (source, &st) < 0)
    return error_from_errno (error, errno, "cannot use standard input");
  if (!S_ISFIFO (st.st_mode) && !S_ISREG (st.st_mode)) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                         "standard input is neither a pipe nor a file");
    return FALSE;
  }
  if (pipe2 (ends, O_CLOEXEC) < 0)
    return error_from_errno (error, errno, "cannot make a pipe for standard input");
  autoclose int out = ends[0], in = ends[1];
  autoclose int look = fcntl (out, F_DUPFD_CLOEXEC, 3);
  /* With a mode that lets code open /dev/stdin under another user id. */
  if (look < 0 || fcntl (in, F_SETFL, O_NONBLOCK) < 0 || fchmod (in, 0444) < 0)
    return error_from_errno (error, errno, "cannot make a pipe for standard input");
  /* If this fails, more than a page is taken ahead. */
  (void)fcntl (in, F_SETPIPE_SZ, PAGE_BYTES);
  *feed = (struct feed){
      .source = source,
      .sink = fd_steal (&in),
      .look = fd_steal (&look),
      .file = S_ISREG (st.st_mode),
      .left = most + 1,
  };
  if (feed->file)
    feed->start = feed->at = MAX (lseek (source, 0, SEEK_CUR), 0);
  *ret_fd = fd_steal (&out);
  return TRUE;
}

static gsize
feed_unread (const struct feed *feed)
{
  int unread = 0;
  return ioctl (feed->look, FIONREAD, &unread) == 0 ? (gsize)MAX (unread, 0) : 0;
}

static gboolean
feed_has_room (const struct feed *feed)
{
  struct pollfd room = {.fd = feed->sink, .events = POLLOUT};
  return poll (&room, 1, 0) > 0 && (room.revents & POLLOUT);
}

struct pollfd
feed_wait (const struct feed *feed)
{
  if (feed->sink < 0)
    return (struct pollfd){.fd = -1};
  return feed->full ? (struct pollfd){.fd = feed->sink, .events = POLLOUT}
                    : (struct pollfd){.fd = feed->source, .events = POLLIN};
}

/* Takes COUNT bytes from the head of the pipe. Unlike read it does not wait if another reader was first. */
static void
feed_drop (const struct feed *feed, gsize count)
{
  autoclose int nowhere = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  while (count > 0 && nowhere >= 0) {
    gssize got = splice (feed->source, NULL, nowhere, NULL, count, SPLICE_F_NONBLOCK);
    if (got <= 0)
      return;
    count -= (gsize)got;
  }
}

/* At most MOST bytes from the file. Returns as read does. */
static gssize
pass_file (struct feed *feed, gsize most)
{
  char block[PIPE_BYTES];
  gssize got = pread (feed->source, block, most, feed->at);
  gssize put = got > 0 ? write (feed->sink, block, (gsize)got) : got;
  if (put > 0)
    feed->at += put;
  return put;
}

static gssize
pass_pipe (struct feed *feed, gsize most)
{
  if (feed->asked)
    return splice (feed->source, NULL, feed->sink, NULL, most, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  gssize shown = tee (feed->source, feed->sink, most, SPLICE_F_NONBLOCK);
  feed->shown = (gsize)MAX (shown, 0);
  return shown;
}

/* There is room: the code has read the first page. */
static void
note_asked (struct feed *feed)
{
  feed->asked = TRUE;
  feed_drop (feed, feed->shown);
  feed->shown = 0;
  (void)fcntl (feed->sink, F_SETPIPE_SZ, PIPE_BYTES);
}

gboolean
feed_step (struct feed *feed)
{
  if (feed->sink < 0)
    return TRUE;
  if (feed->full) {
    if (!feed_has_room (feed))
      return TRUE;
    if (feed->left == 0)
      return FALSE;
    if (!feed->asked)
      note_asked (feed);
  }
  gsize most = (gsize)MIN (feed->left, (guint64)(feed->asked ? PIPE_BYTES : PAGE_BYTES));
  gssize passed = feed->file ? pass_file (feed, most) : pass_pipe (feed, most);
  if (passed < 0 && (errno == EAGAIN || errno == EINTR)) {
    feed->full = !feed_has_room (feed);
    return TRUE;
  }
  /* Its end; what cannot be read has none that the code could see otherwise. Of code that has not read yet it
   * is not known whether it will. */
  if (passed <= 0) {
    feed->failure = passed < 0 && feed->asked ? errno : 0;
    fd_close (&feed->sink);
    return TRUE;
  }
  feed->left -= (guint64)passed;
  feed->full = !feed->asked || feed->left == 0 || !feed_has_room (feed);
  return TRUE;
}

void
feed_close (struct feed *feed)
{
  if (feed->look >= 0) {
    gsize unread = feed_unread (feed);
    if (feed->file)
      (void)lseek (feed->source, feed->at - (off_t)MIN (unread, (guint64)(feed->at - feed->start)), SEEK_SET);
    else
      feed_drop (feed, feed->shown - MIN (unread, feed->shown));
  }
  fd_close (&feed->sink);
  fd_close (&feed->look);
  feed_init (feed);
}
