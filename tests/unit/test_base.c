/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors and frames: what is sent arrives whole, and what a hostile peer sends does no harm. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/frame.h"
#include "suite.h"

static void
make_pair (int type, int *pair)
{
  g_assert_cmpint (socketpair (AF_UNIX, type | SOCK_CLOEXEC, 0, pair), ==, 0);
}

static ino_t
inode_of (int fd)
{
  struct stat info;
  g_assert_cmpint (fstat (fd, &info), ==, 0);
  return info.st_ino;
}

static void
test_fault (void)
{
  struct fault fault;
  g_assert_cmpint (fault_set (&fault, ENOENT, "cannot open %s", "/x"), ==, -ENOENT);
  g_assert_cmpint (fault.err, ==, ENOENT);
  g_assert_cmpstr (fault.step, ==, "cannot open /x");
  g_autofree char *lengthy = g_strnfill (1000, 'x');
  fault_set (&fault, EIO, "%s", lengthy);
  g_assert_cmpuint (strlen (fault.step), ==, FAULT_STEP_BYTES - 1);
  g_assert_cmpint (fault_set (NULL, EIO, "nobody listens"), ==, -EIO);
}

/* Words of elsewhere, in whatever letters: what is kept is their own beginning and end, whole. */
static void
test_fault_text (void)
{
  static const struct {
    const char *first, *again, *last;
    guint times;
  } rows[] = {
      {"", "", "", 0},
      {"engine: ", "x", " failed", FAULT_STEP_BYTES - 16},
      {"engine: ", "x", " failed", FAULT_STEP_BYTES},
      {"", "\xe6\xb0\xb4", "", 60},
      {"a", "\xe6\xb0\xb4", "", 200},
      {"ab", "\xf0\x9f\x8c\x8a", "c", 5000},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct fault fault = {0};
    g_autoptr (GString) text = g_string_new (rows[i].first);
    for (guint n = 0; n < rows[i].times; n++)
      g_string_append (text, rows[i].again);
    g_string_append (text, rows[i].last);
    g_autofree char *exact = g_strdup (text->str); /* nothing is before or behind it */
    g_assert_cmpint (fault_set_text (&fault, EIO, exact), ==, -EIO);
    g_assert_true (g_utf8_validate (fault.step, -1, NULL));
    if (text->len < FAULT_STEP_BYTES) {
      g_assert_cmpstr (fault.step, ==, exact);
      continue;
    }
    char *gap = strstr (fault.step, " ... ");
    g_assert_nonnull (gap);
    g_assert_true (g_str_has_suffix (exact, gap + strlen (" ... ")));
    g_assert_cmpuint (strlen (fault.step), >, FAULT_STEP_BYTES - 10);
    *gap = '\0';
    g_assert_true (fault.step[0] && g_str_has_prefix (exact, fault.step));
  }
  struct fault fault;
  char odd[4 * FAULT_STEP_BYTES];
  memset (odd, 0x80, sizeof odd - 1); /* the middle of characters that never begin, nor end */
  odd[sizeof odd - 1] = '\0';
  fault_set_text (&fault, EIO, odd);
  g_assert_cmpstr (fault.step, ==, " ... ");
}

static void
test_close (void)
{
  int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  int before = suite_descriptors ();
  errno = 4711;
  fd_close (&fd);
  g_assert_cmpint (errno, ==, 4711);
  g_assert_cmpint (fd, ==, -1);
  g_assert_cmpint (suite_descriptors (), ==, before - 1);
  fd_close (&fd);

  {
    autoclose int scoped = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    g_assert_cmpint (scoped, >=, 0);
    fd = fd_steal (&scoped);
  }
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  close (fd);
}

static void
test_whole (void)
{
  int pair[2];
  char text[8];
  make_pair (SOCK_STREAM, pair);
  g_assert_cmpint (fd_write_all (pair[0], "abc", 3), ==, 0);
  g_assert_cmpint (fd_read_all (pair[1], text, 2), ==, 0);
  close (pair[0]);
  g_assert_cmpint (fd_read_all (pair[1], text, 2), ==, -EPIPE);
  /* No SIGPIPE. */
  g_assert_cmpint (fd_write_all (pair[1], "x", 1), ==, -EPIPE);
  close (pair[1]);
  g_assert_cmpint (fd_write_all (-1, "x", 1), ==, -EBADF);

  int pipe_fds[2];
  g_assert_cmpint (pipe2 (pipe_fds, O_CLOEXEC), ==, 0);
  g_assert_cmpint (fd_write_all (pipe_fds[1], "pipe", 4), ==, 0);
  g_assert_cmpint (fd_read_all (pipe_fds[0], text, 4), ==, 0);
  close (pipe_fds[0]);
  close (pipe_fds[1]);
}

static void
test_pass (void)
{
  int pair[2], got[4];
  size_t count = 0;
  char text[16];
  make_pair (SOCK_SEQPACKET, pair);
  autoclose int null = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  autoclose int zero = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  const int given[] = {null, zero};
  g_assert_cmpint (fd_send (pair[0], "two", 3, given, 2), ==, 0);
  g_assert_cmpint (fd_receive (pair[1], text, sizeof text, got, 4, &count), ==, 3);
  g_assert_cmpuint (count, ==, 2);
  g_assert_cmpuint (inode_of (got[0]), ==, inode_of (null));
  g_assert_cmpuint (inode_of (got[1]), ==, inode_of (zero));
  g_assert_cmpint (fcntl (got[0], F_GETFD), ==, FD_CLOEXEC);
  close (got[0]);
  close (got[1]);

  /* More than were asked for: none is left open. */
  int before = suite_descriptors ();
  g_assert_cmpint (fd_send (pair[0], "two", 3, given, 2), ==, 0);
  g_assert_cmpint (fd_receive (pair[1], text, sizeof text, got, 1, &count), ==, -EMSGSIZE);
  g_assert_cmpint (fd_send (pair[0], "two", 3, given, 2), ==, 0);
  g_assert_cmpint (fd_receive (pair[1], text, sizeof text, NULL, 0, NULL), ==, -EMSGSIZE);
  g_assert_cmpint (suite_descriptors (), ==, before);

  /* A packet that is longer than the buffer. */
  g_assert_cmpint (fd_send (pair[0], "0123456789", 10, &null, 1), ==, 0);
  g_assert_cmpint (fd_receive (pair[1], text, 5, got, 4, &count), ==, -EMSGSIZE);
  g_assert_cmpint (suite_descriptors (), ==, before);

  int many[FD_MESSAGE_MAX + 1];
  for (size_t i = 0; i < G_N_ELEMENTS (many); i++)
    many[i] = null;
  g_assert_cmpint (fd_send (pair[0], "x", 1, many, FD_MESSAGE_MAX + 1), ==, -EINVAL);
  g_assert_cmpint (fd_send (pair[0], "x", 1, many, FD_MESSAGE_MAX), ==, 0);
  g_assert_cmpint (fd_receive (pair[1], text, sizeof text, got, 4, &count), ==, -EMSGSIZE);
  g_assert_cmpint (suite_descriptors (), ==, before);

  close (pair[0]);
  g_assert_cmpint (fd_receive (pair[1], text, sizeof text, got, 4, &count), ==, 0);
  close (pair[1]);
}

static void
test_frame (void)
{
  int pair[2], got = -1;
  struct frame_header header;
  char *data = NULL;
  size_t count = 7;
  make_pair (SOCK_STREAM, pair);
  autoclose int null = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  g_assert_cmpint (frame_send (pair[0], 5, "hello", 5, &null, 1), ==, 0);
  g_assert_cmpint (frame_receive (pair[1], 100, 1000, &header, &data, &got, 1, &count), ==, 0);
  g_assert_cmpuint (header.kind, ==, 5);
  g_assert_cmpuint (header.length, ==, 5);
  g_assert_cmpstr (data, ==, "hello");
  g_assert_cmpuint (count, ==, 1);
  g_assert_cmpuint (inode_of (got), ==, inode_of (null));
  close (got);
  free (data);

  g_assert_cmpint (frame_send (pair[0], 6, NULL, 0, NULL, 0), ==, 0);
  g_assert_cmpint (frame_receive (pair[1], 0, -1, &header, &data, NULL, 0, &count), ==, 0);
  g_assert_cmpuint (header.length, ==, 0);
  g_assert_cmpuint (count, ==, 0);
  g_assert_cmpstr (data, ==, "");
  free (data);

  g_assert_cmpint (frame_receive (pair[1], 100, 10, &header, &data, NULL, 0, NULL), ==, -ETIMEDOUT);
  close (pair[0]);
  g_assert_cmpint (frame_receive (pair[1], 100, 10, &header, &data, NULL, 0, NULL), ==, -EPIPE);
  close (pair[1]);
}

static gpointer
send_large (gpointer data)
{
  int socket = GPOINTER_TO_INT (data);
  g_autofree char *text = g_strnfill (8 << 20, 'y');
  g_assert_cmpint (frame_send (socket, 9, text, 8 << 20, NULL, 0), ==, 0);
  return NULL;
}

static void
test_frame_large (void)
{
  int pair[2];
  struct frame_header header;
  char *data = NULL;
  make_pair (SOCK_STREAM, pair);
  /* A socket that does not block must be waited for all the same. */
  g_assert_cmpint (fcntl (pair[0], F_SETFL, O_NONBLOCK), ==, 0);
  GThread *sender = g_thread_new ("sender", send_large, GINT_TO_POINTER (pair[0]));
  g_assert_cmpint (frame_receive (pair[1], 8 << 20, 10000, &header, &data, NULL, 0, NULL), ==, 0);
  g_thread_join (sender);
  g_assert_cmpuint (header.length, ==, 8 << 20);
  g_assert_cmpuint (strspn (data, "y"), ==, 8 << 20);
  free (data);
  close (pair[0]);
  close (pair[1]);
}

static void
test_frame_hostile (void)
{
  int pair[2], got[2];
  size_t count;
  struct frame_header header = {.kind = 1, .length = 101};
  char *data = NULL;
  autoclose int null = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  int before;

  /* Too long: refused before any memory is taken, with its descriptor closed. */
  make_pair (SOCK_STREAM, pair);
  before = suite_descriptors ();
  g_assert_cmpint (fd_send (pair[0], &header, sizeof header, &null, 1), ==, 0);
  g_assert_cmpint (frame_receive (pair[1], 100, 1000, &header, &data, got, 2, &count), ==, -EMSGSIZE);
  g_assert_cmpint (suite_descriptors (), ==, before);
  close (pair[0]);
  close (pair[1]);

  /* Cut off in the middle. */
  make_pair (SOCK_STREAM, pair);
  header = (struct frame_header){.kind = 1, .length = 10};
  g_assert_cmpint (fd_send (pair[0], &header, sizeof header, &null, 1), ==, 0);
  g_assert_cmpint (fd_write_all (pair[0], "abc", 3), ==, 0);
  close (pair[0]);
  before = suite_descriptors ();
  g_assert_cmpint (frame_receive (pair[1], 100, 1000, &header, &data, got, 2, &count), ==, -EPIPE);
  g_assert_cmpint (suite_descriptors (), ==, before);
  close (pair[1]);

  /* In single bytes, with descriptors on later ones: those are dropped. And slowly: the deadline is for all
   * of it. */
  make_pair (SOCK_STREAM, pair);
  header = (struct frame_header){.kind = 3, .length = 2};
  before = suite_descriptors ();
  for (size_t i = 0; i < sizeof header; i++)
    g_assert_cmpint (fd_send (pair[0], (char *)&header + i, 1, &null, 1), ==, 0);
  g_assert_cmpint (fd_send (pair[0], "ab", 2, &null, 1), ==, 0);
  g_assert_cmpint (frame_receive (pair[1], 100, 1000, &header, &data, got, 2, &count), ==, 0);
  g_assert_cmpstr (data, ==, "ab");
  g_assert_cmpuint (count, ==, 1);
  close (got[0]);
  free (data);
  g_assert_cmpint (suite_descriptors (), ==, before);
  g_assert_cmpint (fd_write_all (pair[0], &header, 4), ==, 0);
  g_assert_cmpint (frame_receive (pair[1], 100, 20, &header, &data, NULL, 0, NULL), ==, -ETIMEDOUT);
  close (pair[0]);
  close (pair[1]);
}

UNIT_SUITE (base)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/fault", test_fault);
  g_test_add_func ("/base/fault-text", test_fault_text);
  g_test_add_func ("/base/close", test_close);
  g_test_add_func ("/base/whole", test_whole);
  g_test_add_func ("/base/pass", test_pass);
  g_test_add_func ("/base/frame", test_frame);
  g_test_add_func ("/base/frame/large", test_frame_large);
  g_test_add_func ("/base/frame/hostile", test_frame_hostile);
  return g_test_run ();
}
