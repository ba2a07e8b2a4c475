/* SPDX-License-Identifier: Apache-2.0 */
/* Which directories an engine of containers may be told to bind, and whether it bound that one. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "engine/files/bind_mount.h"
#include "suite.h"

static int
open_directory (const char *path)
{
  int fd = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static void
test_own_directory (void)
{
  const struct host host = {.owner = {.assume = FALSE}};
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("adder-bind-XXXXXX", NULL);
  autoclose int fd = open_directory (folder);
  struct bind_mount bind_mount;
  g_assert_true (bind_mount_for_container (&host, fd, TRUE, &bind_mount, &error));
  g_assert_no_error (error);
  autoclose int bind_fd = bind_mount.mount_fd;
  g_assert_cmpint (bind_fd, !=, fd);
  g_assert_cmpint (bind_mount.launcher_fd, ==, -1);
  g_autofree char *path = bind_mount_path (bind_fd);
  g_assert_cmpstr (path, ==, folder);
  g_assert_true (bind_mount_is_same (fd, bind_fd, FALSE, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* The code would meet the user's other processes there, or what the kernel does. */
static void
test_not_bindable (void)
{
  static const struct {
    const char *path, *why;
  } rows[] = {
      {"/proc/self", "it is of a file system of the kernel's own"},
      {"/proc/self/task", "it is of a file system of the kernel's own"},
      {"/sys", "it is of a file system of the kernel's own"},
      {"/dev", "it is of a file system of the kernel's own"},
      {"/", "mounted below the directory, at /"},
  };
  const struct host host = {.owner = {.assume = FALSE}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    autoclose int fd = open_directory (rows[i].path);
    struct bind_mount bind_mount = {-1, -1};
    g_test_message ("%s", rows[i].path);
    g_assert_false (bind_mount_for_container (&host, fd, FALSE, &bind_mount, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
    g_test_message ("%s", error->message);
    g_assert_true (g_str_has_prefix (error->message, "a container cannot have it: "));
    g_assert_nonnull (strstr (error->message, rows[i].why));
    g_assert_cmpint (bind_mount.mount_fd, ==, -1);
  }
}

/* It was opened, and then is not where it was: by its path an engine would find another, or none. */
static void
test_without_path (void)
{
  const struct host host = {.owner = {.assume = FALSE}};
  g_autofree char *folder = g_dir_make_tmp ("adder-bind-XXXXXX", NULL);
  g_autofree char *inside = g_build_filename (folder, "a\xff", NULL);
  g_assert_cmpint (g_mkdir (inside, 0700), ==, 0);
  for (int removed = 0; removed < 2; removed++) {
    g_autoptr (GError) error = NULL;
    autoclose int fd = open_directory (inside);
    struct bind_mount bind_mount = {-1, -1};
    if (removed)
      g_assert_cmpint (g_rmdir (inside), ==, 0);
    g_assert_false (bind_mount_for_container (&host, fd, FALSE, &bind_mount, &error));
    g_assert_nonnull (strstr (error->message, "it has no path that an engine could be told"));
  }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_not_readable (void)
{
  const struct host host = {.owner = {.assume = FALSE}};
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("adder-bind-XXXXXX", NULL);
  autoclose int fd = open_directory (folder);
  struct bind_mount bind_mount = {-1, -1};
  g_assert_cmpint (g_chmod (folder, 0), ==, 0);
  if (geteuid () == 0)
    g_test_skip ("root may read whatever its mode is");
  else {
    g_assert_false (bind_mount_for_container (&host, fd, FALSE, &bind_mount, &error));
    g_assert_nonnull (strstr (error->message, "not for the user of this daemon to read"));
  }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_is_same (void)
{
  g_autoptr (GError) other = NULL, writable = NULL;
  g_autofree char *folder = g_dir_make_tmp ("adder-bind-XXXXXX", NULL);
  autoclose int fd = open_directory (folder), root = open_directory ("/");
  g_assert_false (bind_mount_is_same (fd, root, FALSE, &other));
  g_assert_nonnull (strstr (other->message, "another directory than the work directory"));
  g_assert_false (bind_mount_is_same (fd, fd, TRUE, &writable));
  g_assert_nonnull (strstr (writable->message, "can write to the work directory"));
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_without_mounts (void)
{
  const struct host host = {.isolation = ISOLATION_NAMESPACES};
  g_autoptr (GError) error = NULL;
  g_assert_true (bind_mount_check (&host, ISOLATION_NAMESPACES, "a work directory", NULL));
  g_assert_false (bind_mount_check (&host, ISOLATION_CONTAINER, "a work directory", &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
  g_assert_true (
      g_str_has_prefix (error->message, "a work directory needs a sandbox with mounts of its own"));
}

UNIT_SUITE (engine_bind_mount)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bind-mount/own-directory", test_own_directory);
  g_test_add_func ("/bind-mount/not-bindable", test_not_bindable);
  g_test_add_func ("/bind-mount/without-path", test_without_path);
  g_test_add_func ("/bind-mount/not-readable", test_not_readable);
  g_test_add_func ("/bind-mount/is-same", test_is_same);
  g_test_add_func ("/bind-mount/without-mounts", test_without_mounts);
  return g_test_run ();
}
