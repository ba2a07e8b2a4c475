/* SPDX-License-Identifier: Apache-2.0 */
/* What a client carries for the server: it comes back as it was given, or not at all. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/mcp/state.h"
#include "suite.h"

#define MINUTE_MS 60000

static struct mcp_state_key key;

static json_t *
parsed (const char *text)
{
  json_t *value = json_loads (text, JSON_DECODE_ANY, NULL);
  g_assert_nonnull (value);
  return value;
}

static char *
seal (const struct mcp_state_bond *bond, const char *payload, guint64 ttl_ms)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) value = parsed (payload);
  char *state = mcp_state_seal (&key, bond, value, ttl_ms, &error);
  g_assert_no_error (error);
  return state;
}

static void
assert_refused (const struct mcp_state_bond *bond, const char *state, AdderError code)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (mcp_state_open (&key, bond, state, &error));
  g_assert_error (error, ADDER_ERROR, (gint)code);
}

static void
test_round (void)
{
  g_autoptr (json_t) params = parsed ("{\"name\": \"run\", \"arguments\": {\"b\": 1, \"a\": 2.5}}");
  struct mcp_state_bond bond = {"uid:1", "tools/call", params};
  g_autofree char *state = seal (&bond, "{\"approval\": \"x\", \"n\": 3}", MINUTE_MS);
  g_autoptr (json_t) expected = parsed ("{\"approval\": \"x\", \"n\": 3}");
  /* What a round adds is not of the request, nor is the order of members. */
  g_autoptr (json_t) again =
      parsed ("{\"_meta\": {\"progressToken\": 1}, \"arguments\": {\"a\": 2.5, \"b\": 1}, \"name\": \"run\", "
              "\"inputResponses\": {\"a\": {}}, \"requestState\": \"s\"}");
  struct mcp_state_bond later = {"uid:1", "tools/call", again};
  g_autoptr (json_t) payload = mcp_state_open (&key, &later, state, NULL);
  g_assert_true (json_equal (payload, expected));
}

static void
test_bonds (void)
{
  g_autoptr (json_t) params = parsed ("{\"name\": \"run\", \"arguments\": {\"code\": \"1\"}}");
  g_autoptr (json_t) other = parsed ("{\"name\": \"run\", \"arguments\": {\"code\": \"2\"}}");
  struct mcp_state_bond bond = {"uid:1", "tools/call", params};
  g_autofree char *state = seal (&bond, "{}", MINUTE_MS);
  assert_refused (&(struct mcp_state_bond){"uid:12", "tools/call", params}, state, ADDER_ERROR_INVALID);
  assert_refused (&(struct mcp_state_bond){"uid:1", "prompts/get", params}, state, ADDER_ERROR_INVALID);
  assert_refused (&(struct mcp_state_bond){"uid:1", "tools/call", other}, state, ADDER_ERROR_INVALID);
  assert_refused (&(struct mcp_state_bond){"uid:1", "tools/call", NULL}, state, ADDER_ERROR_INVALID);
  /* Nor does what stands side by side flow together. */
  assert_refused (&(struct mcp_state_bond){"uid:1tools", "/call", params}, state, ADDER_ERROR_INVALID);
  struct mcp_state_key mine = key;
  g_assert_true (mcp_state_key_make (NULL, &key, NULL));
  assert_refused (&bond, state, ADDER_ERROR_INVALID);
  key = mine;
  g_autoptr (json_t) payload = mcp_state_open (&key, &bond, state, NULL);
  g_assert_nonnull (payload);
}

static void
test_tampered (void)
{
  struct mcp_state_bond bond = {"uid:1", "tools/call", NULL};
  g_autofree char *state = seal (&bond, "{\"approval\": \"x\"}", MINUTE_MS);
  gsize length = strlen (state);
  /* No character of it can be another one, missing, or added. */
  for (gsize i = 0; i < length; i++) {
    g_autofree char *changed = g_strdup (state), *shorter = g_strndup (state, i);
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    assert_refused (&bond, changed, ADDER_ERROR_INVALID);
    assert_refused (&bond, shorter, ADDER_ERROR_INVALID);
  }
  static const char *const additions[] = {"A", "=", ".", "\n", " ", "AAAA"};
  for (gsize i = 0; i < G_N_ELEMENTS (additions); i++) {
    g_autofree char *longer = g_strconcat (state, additions[i], NULL);
    g_autofree char *before = g_strconcat (additions[i], state, NULL);
    assert_refused (&bond, longer, ADDER_ERROR_INVALID);
    assert_refused (&bond, before, ADDER_ERROR_INVALID);
  }
  g_autofree char *endless = g_strnfill (MCP_STATE_MAX + 10, 'A');
  static const char *const others[] = {"", ".", "..", "e30=.e30=", "tampered", "\xff\xfe.\xff"};
  assert_refused (&bond, endless, ADDER_ERROR_INVALID);
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    assert_refused (&bond, others[i], ADDER_ERROR_INVALID);
}

static void
test_expired (void)
{
  struct mcp_state_bond bond = {"uid:1", "tools/call", NULL};
  g_autofree char *state = seal (&bond, "{}", 0);
  assert_refused (&bond, state, ADDER_ERROR_TIMEOUT);
}

static void
test_too_long (void)
{
  struct mcp_state_bond bond = {"uid:1", "tools/call", NULL};
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strnfill (MCP_STATE_MAX, 'x');
  g_autoptr (json_t) payload = json_pack ("{s:s}", "text", text);
  g_assert_null (mcp_state_seal (&key, &bond, payload, MINUTE_MS, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
}

/* ---- keys in files ---- */

static void
test_key_file (void)
{
  g_autofree char *folder = g_dir_make_tmp ("adder-state-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "key", NULL);
  struct mcp_state_key one, two, three;
  g_autoptr (GError) error = NULL;
  g_assert_false (mcp_state_key_make (file, &one, &error));
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (file, "0123456789012345678901234567890", -1, NULL));
  g_chmod (file, 0600);
  g_assert_false (mcp_state_key_make (file, &one, &error)); /* too short */
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (file, "01234567890123456789012345678901", -1, NULL));
  g_chmod (file, 0640);
  g_assert_false (mcp_state_key_make (file, &one, &error)); /* others may read it */
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);
  g_chmod (file, 0600);
  g_assert_true (mcp_state_key_make (file, &one, NULL));
  g_assert_true (mcp_state_key_make (file, &two, NULL));
  g_assert_cmpmem (one.bytes, sizeof one.bytes, two.bytes, sizeof two.bytes);
  g_assert_true (mcp_state_key_make (NULL, &three, NULL));
  g_assert_cmpint (memcmp (one.bytes, three.bytes, sizeof one.bytes), !=, 0);
  g_remove (file);
  g_rmdir (folder);
}

UNIT_SUITE (mcp_state)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_true (mcp_state_key_make (NULL, &key, NULL));
  g_test_add_func ("/mcp/state/round", test_round);
  g_test_add_func ("/mcp/state/bonds", test_bonds);
  g_test_add_func ("/mcp/state/tampered", test_tampered);
  g_test_add_func ("/mcp/state/expired", test_expired);
  g_test_add_func ("/mcp/state/too-long", test_too_long);
  g_test_add_func ("/mcp/state/key-file", test_key_file);
  return g_test_run ();
}
