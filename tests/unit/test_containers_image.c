/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of an image without asking an engine. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "containers/image.h"
#include "suite.h"

#define DAY_US ((gint64)24 * 60 * 60 * G_USEC_PER_SEC)
#define DAY_MS ((guint64)24 * 60 * 60 * 1000)

static void
test_names (void)
{
  static const char *const good[] = {"a",      "localhost/adder:latest", "localhost:5000/a/b:V1.0-x",
                                     "python", "a@sha256:0123",          "a_b--c.d"};
  static const char *const bad[] = {"",     "a b", "../a",    "a/../b", "A/b:c", "/a",
                                    "a//b", "-a",  "a?all=1", "a\n",    "a%2f",  "a#b"};
  for (gsize i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = container_image_path (good[i], &error);
    g_assert_no_error (error);
    g_assert_true (g_str_has_prefix (path, "/images/") && g_str_has_suffix (path, good[i]));
  }
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (container_image_path (bad[i], &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
  char longest[300];
  memset (longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  g_assert_null (container_image_path (longest, NULL));
}

static void
test_age (void)
{
  struct container_image image = {.name = (char *)"old", .built_us = g_get_real_time () - 40 * DAY_US};
  g_autofree char *warning = container_image_warning (&image, 30 * DAY_MS);
  g_assert_nonnull (strstr (warning, "old"));
  g_assert_nonnull (strstr (warning, "40 days"));
  g_assert_null (container_image_warning (&image, 0));
  g_assert_null (container_image_warning (&image, 41 * DAY_MS));
  /* A clock that was wrong when it was built. */
  image.built_us = g_get_real_time () + DAY_US;
  g_assert_null (container_image_warning (&image, DAY_MS));
  image.built_us = 0;
  g_autofree char *unknown = container_image_warning (&image, DAY_MS);
  g_assert_nonnull (strstr (unknown, "the age of the image"));
}

static char *
digest_after (const char *directory, const char *name, const char *content)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  g_assert_true (content ? g_file_set_contents (path, content, -1, NULL) : unlink (path) == 0);
  g_autoptr (GError) error = NULL;
  char *digest = container_image_runner_digest (directory, &error);
  g_assert_no_error (error);
  return digest;
}

static void
test_runner (void)
{
  g_autofree char *directory = g_dir_make_tmp ("adder-runner-XXXXXX", NULL);
  g_autofree char *one = digest_after (directory, "zygote.py", "ab");
  g_autofree char *two = digest_after (directory, "_adder.abi3.so", "c");
  g_autofree char *other = digest_after (directory, "zygote.py", "a");
  g_autofree char *same = digest_after (directory, "zygote.py", "ab");
  /* What does not go into an image. */
  g_autofree char *beside = digest_after (directory, "adder-zygote", "program");
  g_autofree char *without = digest_after (directory, "_adder.abi3.so", NULL);
  g_assert_cmpuint (strlen (one), ==, 64);
  g_assert_cmpstr (one, !=, two);
  g_assert_cmpstr (two, !=, other);
  g_assert_cmpstr (two, ==, same);
  g_assert_cmpstr (two, ==, beside);
  g_assert_cmpstr (one, ==, without);
  for (gsize i = 0; i < 2; i++) {
    g_autofree char *path = g_build_filename (directory, i == 0 ? "zygote.py" : "adder-zygote", NULL);
    unlink (path);
  }
  rmdir (directory);
  g_autoptr (GError) error = NULL;
  g_assert_null (container_image_runner_digest (directory, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_FAILED);
}

UNIT_SUITE (containers_image)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/containers/image/names", test_names);
  g_test_add_func ("/containers/image/age", test_age);
  g_test_add_func ("/containers/image/runner", test_runner);
  return g_test_run ();
}
