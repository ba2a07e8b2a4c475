/* SPDX-License-Identifier: Apache-2.0 */
/* What the relay of `adder mcp` says again to the next daemon. */
#include <string.h>

#include "interfaces/cli/mcp/cli_mcp_talk.h"
#include "suite.h"

static void
say (struct cli_mcp_talk *talk, const char *text)
{
  json_t *message = json_loads (text, 0, NULL);
  g_assert_nonnull (message);
  cli_mcp_talk_say (talk, message);
  json_decref (message);
}

static void
hear (struct cli_mcp_talk *talk, const char *text)
{
  g_assert_true (cli_mcp_talk_hear (talk, text, strlen (text)));
}

static void
assert_said_again (struct cli_mcp_talk *talk, const char *in, const char *out)
{
  g_autofree char *lines = cli_mcp_talk_again (talk);
  g_assert_true (!in || strstr (lines, in) != NULL);
  g_assert_true (!out || strstr (lines, out) == NULL);
}

#define LEVEL(id, level)                                                                                     \
  "{\"id\":" #id ",\"method\":\"logging/setLevel\",\"params\":{\"level\":\"" level "\"}}"
#define SUBSCRIBED(id, method)                                                                               \
  "{\"id\":" #id ",\"method\":\"resources/" method "\",\"params\":{\"uri\":\"adder://x\"}}"

/* One that fails leaves what was there before, also where several are under way. */
static void
test_failure (void)
{
  struct cli_mcp_talk *talk = cli_mcp_talk_new ();
  say (talk, LEVEL (1, "error"));
  assert_said_again (talk, NULL, "error");
  hear (talk, "{\"id\":1,\"result\":{}}");
  say (talk, LEVEL (2, "nonsense"));
  say (talk, LEVEL (3, "worse"));
  assert_said_again (talk, "\"error\"", "nonsense");
  hear (talk, "{\"id\":2,\"error\":{}}");
  hear (talk, "{\"id\":3,\"error\":{}}");
  assert_said_again (talk, "\"error\"", "worse");
  say (talk, LEVEL (4, "debug"));
  hear (talk, "{\"id\":4,\"result\":{}}");
  assert_said_again (talk, "\"debug\"", "\"error\"");
  say (talk, LEVEL (5, "info"));
  g_free (cli_mcp_talk_give_up (talk, "it ended"));
  assert_said_again (talk, "\"debug\"", "info");
  cli_mcp_talk_free (talk);
}

/* What is taken back is not kept, even if its answer comes later. */
static void
test_unsubscribed (void)
{
  struct cli_mcp_talk *talk = cli_mcp_talk_new ();
  say (talk, SUBSCRIBED (1, "subscribe"));
  hear (talk, "{\"id\":1,\"result\":{}}");
  assert_said_again (talk, "adder://x", NULL);
  say (talk, SUBSCRIBED (2, "subscribe"));
  say (talk, SUBSCRIBED (3, "unsubscribe"));
  hear (talk, "{\"id\":2,\"result\":{}}");
  assert_said_again (talk, NULL, "adder://x");
  cli_mcp_talk_free (talk);
}

static void
test_beginning (void)
{
  struct cli_mcp_talk *talk = cli_mcp_talk_new ();
  say (talk, "{\"id\":1,\"method\":\"initialize\"}");
  hear (talk, "{\"id\":1,\"result\":{}}");
  say (talk, "{\"method\":\"notifications/initialized\"}");
  g_autofree char *lines = cli_mcp_talk_again (talk);
  const char *first = strstr (lines, "\"initialize\"");
  g_assert_true (first && strstr (first, "notifications/initialized"));
  cli_mcp_talk_free (talk);
}

UNIT_SUITE (interfaces_mcp_talk)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp-talk/failure", test_failure);
  g_test_add_func ("/mcp-talk/unsubscribed", test_unsubscribed);
  g_test_add_func ("/mcp-talk/beginning", test_beginning);
  return g_test_run ();
}
