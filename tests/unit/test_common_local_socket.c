/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/local_socket.h"
#include "suite.h"

struct place {
  char *folder, *path;
};

static void
place_begin (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  place->folder = g_dir_make_tmp ("adder-XXXXXX", NULL);
  place->path = g_build_filename (place->folder, "x.sock", NULL);
}

static void
place_end (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  char *rm[] = {(char *)"rm", (char *)"-rf", place->folder, NULL};
  g_assert_true (g_spawn_sync (NULL, rm, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
  g_free (place->folder);
  g_free (place->path);
}

static int
come (const char *path)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect (fd, (struct sockaddr *)&address, sizeof address) < 0)
    fd_close (&fd);
  return fd;
}

static void
test_names (void)
{
  static const char *const rows[][2] = {
      {"/run/adder.sock", "/run/adder.http.sock"}, {"/x", "/x.http.sock"}, {"/.sock", "/.http.sock"}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *name = local_socket_http_path (rows[i][0]);
    g_assert_cmpstr (name, ==, rows[i][1]);
  }
}

static void
test_one_serves (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  struct local_socket first, second;
  g_autoptr (GError) error = NULL;
  struct stat st;
  g_assert_true (local_socket_open (place->path, 0, &first, NULL));
  g_assert_cmpint (stat (place->path, &st), ==, 0);
  g_assert_cmpint (st.st_mode & 0777, ==, 0600);
  autoclose int fd = come (place->path);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (local_socket_holder (place->path), ==, getpid ());
  g_assert_false (local_socket_open (place->path, 0, &second, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  g_autofree char *name = g_strdup_printf ("process %d ", (int)getpid ());
  g_assert_nonnull (strstr (error->message, name));
  local_socket_close (&second);
  g_assert_cmpint (access (place->path, F_OK), ==, 0); /* who failed removes nothing */
  local_socket_close (&first);
  local_socket_close (&first);
  g_assert_cmpint (access (place->path, F_OK), <, 0);
  g_assert_cmpint (local_socket_holder (place->path), ==, 0);
  g_assert_true (local_socket_open (place->path, 0, &second, NULL));
  local_socket_close (&second);
}

/* A process that was killed leaves its socket; somebody's file stays. */
static void
test_what_is_there (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  struct local_socket mine;
  g_autoptr (GError) error = NULL;
  pid_t child = fork ();
  if (child == 0) {
    struct local_socket left;
    _exit (local_socket_open (place->path, 0, &left, NULL) ? 0 : 1);
  }
  int status;
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
  g_assert_cmpint (access (place->path, F_OK), ==, 0);
  g_assert_true (local_socket_open (place->path, 0, &mine, NULL));
  local_socket_close (&mine);
  g_assert_true (g_file_set_contents (place->path, "mine", -1, NULL));
  g_assert_false (local_socket_open (place->path, 0, &mine, &error));
  g_assert_nonnull (strstr (error->message, place->path));
  local_socket_close (&mine);
  g_assert_cmpint (access (place->path, F_OK), ==, 0);
}

static void
test_renew (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  struct local_socket mine;
  g_assert_true (local_socket_open (place->path, 0, &mine, NULL));
  int number = mine.fd;
  g_assert_false (local_socket_is_lost (&mine));
  g_assert_cmpint (g_remove (place->path), ==, 0);
  g_assert_true (local_socket_is_lost (&mine));
  g_assert_true (local_socket_renew (&mine, NULL));
  g_assert_false (local_socket_is_lost (&mine));
  g_assert_cmpint (mine.fd, ==, number);
  g_assert_cmpint (fcntl (mine.fd, F_GETFD), ==, FD_CLOEXEC);
  autoclose int fd = come (place->path);
  g_assert_cmpint (fd, >=, 0);
  /* One of somebody else's in its place is not removed at the end. */
  g_assert_cmpint (g_remove (place->path), ==, 0);
  g_assert_true (g_file_set_contents (place->path, "theirs", -1, NULL));
  local_socket_close (&mine);
  g_assert_cmpint (access (place->path, F_OK), ==, 0);
}

static void
test_waits (struct place *place, G_GNUC_UNUSED gconstpointer data)
{
  struct local_socket mine;
  int ready[2], go[2];
  char byte;
  g_assert_cmpint (pipe (ready), ==, 0);
  g_assert_cmpint (pipe (go), ==, 0);
  pid_t child = fork ();
  if (child == 0) {
    struct local_socket theirs;
    if (!local_socket_open (place->path, 0, &theirs, NULL) || write (ready[1], "x", 1) != 1 ||
        read (go[0], &byte, 1) != 1)
      _exit (1);
    local_socket_close (&theirs);
    _exit (0);
  }
  g_assert_cmpint (read (ready[0], &byte, 1), ==, 1);
  /* Told before we wait: it gives up the lock while we do, or did already. */
  g_assert_cmpint (write (go[1], "x", 1), ==, 1);
  g_assert_true (local_socket_open (place->path, 60, &mine, NULL));
  int status;
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
  local_socket_close (&mine);
  for (gsize i = 0; i < 2; i++) {
    fd_close (&ready[i]);
    fd_close (&go[i]);
  }
}

static void
test_long (void)
{
  struct local_socket mine;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_strdup_printf ("/tmp/%0200d", 0);
  g_assert_false (local_socket_open (path, 0, &mine, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  local_socket_close (&mine);
}

#define ADD(name, function) g_test_add (name, struct place, NULL, place_begin, function, place_end)

UNIT_SUITE (common_local_socket)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/local-socket/names", test_names);
  g_test_add_func ("/local-socket/long", test_long);
  ADD ("/local-socket/one-serves", test_one_serves);
  ADD ("/local-socket/what-is-there", test_what_is_there);
  ADD ("/local-socket/renew", test_renew);
  ADD ("/local-socket/waits", test_waits);
  return g_test_run ();
}
