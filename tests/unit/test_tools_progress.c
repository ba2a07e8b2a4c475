/* SPDX-License-Identifier: Apache-2.0 */
/* How far a call is: what its caller is told, and how it learns that they had enough. */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "suite.h"
#include "tools/call.h"

struct heard {
  guint times;
  char *text; /* the last */
  gint64 done, of;
};

static void
hear (gpointer data, const struct tool_progress *progress)
{
  struct heard *heard = data;
  heard->times++;
  g_free (heard->text);
  heard->text = g_strdup (progress->text);
  heard->done = progress->done;
  heard->of = progress->of;
}

/* However often a call says how far it is, its caller is told now and then, and of each hundredth. */
static void
test_told (void)
{
  struct heard heard = {0};
  const struct tool_caller caller = {.watch_fd = -1, .progressed = hear, .saw_data = &heard};
  struct call call = {.caller = &caller, .cancel_fd = -1};
  gint64 began = g_get_monotonic_time ();
  for (guint i = 0; i < 10000; i++) {
    g_autofree char *text = g_strdup_printf ("%u pages", i);
    call_progress (&call, text, i, 0);
  }
  guint tenths = (guint)((g_get_monotonic_time () - began) / 100000);
  g_assert_cmpuint (heard.times, >=, 1);
  g_assert_cmpuint (heard.times, <=, tenths + 1);
  for (guint i = 0; i < 10000; i++)
    call_progress (&call, "some of it", i, 10000);
  tenths = (guint)((g_get_monotonic_time () - began) / 100000);
  g_assert_cmpuint (heard.times, >=, 100);
  g_assert_cmpuint (heard.times, <=, 100 + tenths + 1);
  call_progress (&call, "all\nof it", 1000, 1000);
  g_assert_cmpstr (heard.text, ==, "all\\x0aof it");
  g_assert_cmpint (heard.done, ==, 1000);
  g_assert_cmpint (heard.of, ==, 1000);
  call_progress_clear (&call);
  g_free (heard.text);
}

static void
test_nobody (void)
{
  const struct tool_caller caller = {.watch_fd = -1};
  struct call call = {.caller = &caller, .cancel_fd = -1};
  call_progress (&call, "unheard", 1, 1);
  g_assert_cmpint (call_cancel_fd (&call), ==, -1);
  call_progress_clear (&call);
}

static gboolean
is_cancelled (struct call *call)
{
  struct pollfd cancel = {.fd = call_cancel_fd (call), .events = POLLIN};
  g_assert_cmpint (cancel.fd, >=, 0);
  return poll (&cancel, 1, 0) == 1 && (cancel.revents & POLLIN);
}

/* HOW of shutdown; -1: the peer is gone altogether. */
static void
check_cancelled (int how)
{
  int pair[2];
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  const struct tool_caller caller = {.watch_fd = pair[0]};
  struct call call = {.caller = &caller, .cancel_fd = -1};
  g_assert_false (is_cancelled (&call));
  /* What they send beforehand is their next request, and no end of this one. */
  g_assert_cmpint (write (pair[1], "more", 4), ==, 4);
  g_assert_false (is_cancelled (&call));
  if (how < 0)
    fd_close (&pair[1]);
  else
    g_assert_cmpint (shutdown (pair[1], how), ==, 0);
  g_assert_true (is_cancelled (&call));
  g_assert_true (is_cancelled (&call));
  g_assert_cmpint (call_cancel_fd (&call), ==, call.cancel_fd);
  call_progress_clear (&call);
  g_assert_cmpint (call.cancel_fd, ==, -1);
  fd_close (&pair[0]);
  fd_close (&pair[1]);
}

static void
test_cancelled (void)
{
  check_cancelled (SHUT_WR);
  check_cancelled (SHUT_RDWR);
  check_cancelled (-1);
}

UNIT_SUITE (tools_progress)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tools/progress/told", test_told);
  g_test_add_func ("/tools/progress/nobody", test_nobody);
  g_test_add_func ("/tools/progress/cancelled", test_cancelled);
  return g_test_run ();
}
