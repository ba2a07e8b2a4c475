/* SPDX-License-Identifier: Apache-2.0 */
/* Roles: levels, lists of the configuration, agents that may only read. */
#include <glib/gstdio.h>
#include <string.h>

#include "adder.h"
#include "policy/roles.h"
#include "suite.h"

/* The configuration that TEXT is, in a file of its own. */
static struct config *
configured (const char *text)
{
  g_autofree char *file = NULL;
  g_autoptr (GError) error = NULL;
  int fd = g_file_open_tmp ("adder-roles-XXXXXX", &file, &error);
  g_assert_no_error (error);
  g_close (fd, NULL);
  g_assert_true (g_file_set_contents (file, text, -1, NULL));
  struct config *config = config_load (file, &error);
  g_assert_no_error (error);
  g_remove (file);
  return config;
}

static void
assert_refused (GError **error, const char *words)
{
  g_assert_error (*error, ADDER_ERROR, ADDER_ERROR_REFUSED);
  g_assert_nonnull (strstr ((*error)->message, words));
  g_clear_error (error);
}

static void
test_names (void)
{
  g_autoptr (GError) error = NULL;
  enum role role;
  for (enum role each = ROLE_GUEST; each <= ROLE_ADMIN; each++) {
    g_assert_true (role_parse (role_name (each), &role, NULL));
    g_assert_cmpint (role, ==, each);
  }
  g_assert_false (role_parse ("root\x1b[2J", &role, &error));
  g_assert_cmpstr (error->message, ==, "\"root\\x1b[2J\" is not one of the roles: guest, user, admin");
}

static void
test_levels (void)
{
  g_autoptr (GError) error = NULL;
  struct config *config = configured ("");
  for (enum role role = ROLE_GUEST; role <= ROLE_ADMIN; role++)
    for (enum role needed = ROLE_GUEST; needed <= ROLE_ADMIN; needed++)
      g_assert_cmpint (role_may_use_profile (config, role, "p", needed, NULL), ==, role >= needed);
  g_assert_false (role_may_use_profile (config, ROLE_GUEST, "workbench", ROLE_ADMIN, &error));
  assert_refused (&error, "the profile workbench needs the role admin; the caller's is guest");
  g_assert_cmpint (role_default (config), ==, ROLE_ADMIN);
  config_free (config);
}

static void
test_lists (void)
{
  g_autoptr (GError) error = NULL;
  struct config *config = configured ("[roles]\ndefault = user\nguest_profiles = comp*, snippet\n"
                                      "guest_tools = none\nuser_tools = run_? peek*\n");
  g_assert_cmpint (role_default (config), ==, ROLE_USER);
  g_assert_true (role_may_use_profile (config, ROLE_GUEST, "compute", ROLE_GUEST, NULL));
  g_assert_true (role_may_use_profile (config, ROLE_GUEST, "snippet", ROLE_GUEST, NULL));
  g_assert_false (role_may_use_profile (config, ROLE_GUEST, "snippets", ROLE_GUEST, &error));
  assert_refused (&error, "guest_profiles of adder.conf leaves it out");
  /* A list takes away; it never gives what the level does not. */
  g_assert_false (role_may_use_profile (config, ROLE_GUEST, "compute", ROLE_USER, NULL));

  const struct role_caller guest = {ROLE_GUEST, FALSE}, user = {ROLE_USER, FALSE},
                           admin = {ROLE_ADMIN, FALSE};
  g_assert_false (role_may_use_tool (config, &guest, "run_a", ROLE_GUEST, FALSE, NULL));
  g_assert_true (role_may_use_tool (config, &user, "run_a", ROLE_GUEST, TRUE, NULL));
  g_assert_true (role_may_use_tool (config, &user, "peek_result", ROLE_GUEST, FALSE, NULL));
  g_assert_false (role_may_use_tool (config, &user, "run_ab", ROLE_GUEST, TRUE, &error));
  assert_refused (&error, "the tool run_ab is not for the role user here: [roles] user_tools");
  g_assert_true (role_may_use_tool (config, &admin, "anything", ROLE_ADMIN, TRUE, NULL));
  config_free (config);
}

static void
test_read_only (void)
{
  g_autoptr (GError) error = NULL;
  struct config *config = configured ("");
  const struct role_caller reader = {ROLE_ADMIN, TRUE};
  g_assert_true (role_may_use_tool (config, &reader, "list_files", ROLE_GUEST, FALSE, NULL));
  g_assert_false (role_may_use_tool (config, &reader, "run_python", ROLE_GUEST, TRUE, &error));
  assert_refused (&error, "the tool run_python executes code");
  config_free (config);
}

UNIT_SUITE (policy_roles)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/roles/names", test_names);
  g_test_add_func ("/roles/levels", test_levels);
  g_test_add_func ("/roles/lists", test_lists);
  g_test_add_func ("/roles/read-only", test_read_only);
  return g_test_run ();
}
