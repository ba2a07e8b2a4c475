/* SPDX-License-Identifier: Apache-2.0 */
/* What conversations remember: whose it is, how much, and for how long. */
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "suite.h"
#include "tools/conversation_state.h"

static struct config config;

static void
set_up (void)
{
  config = (struct config){
      .max_contexts = 3,
      .max_contexts_owner = 2,
      .context_values = 2,
      .context_bytes = 1000,
      .context_idle_ms = 3600 * 1000,
  };
}

/* The text under NAME, or NULL; g_free. */
static char *
get (struct conversation_states *states, const char *owner, const char *conversation, const char *name)
{
  g_autoptr (json_t) values = conversation_states_get (states, owner, conversation, NULL);
  return g_strdup (json_string_value (json_object_get (values, name)));
}

static void
assert_has (struct conversation_states *states, const char *owner, const char *conversation, const char *name,
            const char *text)
{
  g_autofree char *found = get (states, owner, conversation, name);
  g_assert_cmpstr (found, ==, text);
}

static void
test_kept (void)
{
  set_up ();
  struct conversation_states *states = conversation_states_new (&config, NULL, "value");
  g_assert_true (conversation_states_put (states, "a", "1", NULL, "first", NULL));
  g_assert_true (conversation_states_put (states, "a", "1", "word", "second", NULL));
  assert_has (states, "a", "1", CONVERSATION_STATE_LAST, "second");
  assert_has (states, "a", "1", "word", "second");
  g_assert_true (conversation_states_put (states, "a", "1", NULL, "third", NULL));
  assert_has (states, "a", "1", "word", "second");
  /* Neither another conversation's nor another owner's, however the names are cut. */
  assert_has (states, "a", "2", CONVERSATION_STATE_LAST, NULL);
  assert_has (states, "b", "1", CONVERSATION_STATE_LAST, NULL);
  /* Without a conversation nothing is kept. */
  g_assert_true (conversation_states_put (states, "a", NULL, "word", "x", NULL));
  assert_has (states, "a", NULL, "word", NULL);
  g_assert_cmpuint (conversation_states_living (states), ==, 1);
  conversation_states_drop (states, "a", "1");
  g_assert_cmpuint (conversation_states_living (states), ==, 0);
  conversation_states_free (states);
}

static void
test_values_bounded (void)
{
  set_up ();
  g_autoptr (GError) problem = NULL;
  struct conversation_states *states = conversation_states_new (&config, NULL, "value");
  g_assert_true (conversation_states_put (states, "a", "1", "x", "1", NULL));
  g_assert_true (conversation_states_put (states, "a", "1", "y", "2", NULL));
  g_assert_true (conversation_states_put (states, "a", "1", "y", "3", NULL));
  g_assert_false (conversation_states_put (states, "a", "1", "z", "4", &problem));
  g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_nonnull (strstr (problem->message, "2 values"));
  assert_has (states, "a", "1", "y", "3");
  assert_has (states, "a", "1", "z", NULL);
  /* What was last is not known, and nothing older stands for it. */
  assert_has (states, "a", "1", CONVERSATION_STATE_LAST, NULL);
  conversation_states_free (states);
}

static void
test_bytes_bounded (void)
{
  set_up ();
  g_autoptr (GError) problem = NULL;
  g_autofree char *fits = g_strnfill (1000 - strlen (CONVERSATION_STATE_LAST), 'x');
  g_autofree char *over = g_strnfill (1001 - strlen (CONVERSATION_STATE_LAST), 'x');
  struct conversation_states *states = conversation_states_new (&config, NULL, "value");
  for (int i = 0; i < 100; i++)
    g_assert_true (conversation_states_put (states, "a", "1", NULL, fits, NULL));
  assert_has (states, "a", "1", CONVERSATION_STATE_LAST, fits);
  g_assert_false (conversation_states_put (states, "a", "1", NULL, over, &problem));
  g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  assert_has (states, "a", "1", CONVERSATION_STATE_LAST, NULL);
  g_assert_true (conversation_states_put (states, "a", "1", NULL, fits, NULL));
  conversation_states_free (states);
}

static void
test_conversations_bounded (void)
{
  set_up ();
  struct conversation_states *states = conversation_states_new (&config, NULL, "value");
  g_assert_true (conversation_states_put (states, "a", "1", NULL, "1", NULL));
  g_assert_true (conversation_states_put (states, "a", "2", NULL, "2", NULL));
  assert_has (states, "a", "1", CONVERSATION_STATE_LAST, "1"); /* used: 2 is the oldest now */
  g_assert_true (conversation_states_put (states, "a", "3", NULL, "3", NULL));
  assert_has (states, "a", "2", CONVERSATION_STATE_LAST, NULL);
  assert_has (states, "a", "1", CONVERSATION_STATE_LAST, "1");
  /* Another owner's takes the place of the oldest of all only when all are too many. */
  g_assert_true (conversation_states_put (states, "b", "1", NULL, "4", NULL));
  g_assert_cmpuint (conversation_states_living (states), ==, 3);
  g_assert_true (conversation_states_put (states, "c", "1", NULL, "5", NULL));
  g_assert_cmpuint (conversation_states_living (states), ==, 3);
  assert_has (states, "a", "3", CONVERSATION_STATE_LAST, NULL);
  conversation_states_free (states);
}

static void
test_expire (void)
{
  set_up ();
  config.context_idle_ms = 20;
  struct conversation_states *states = conversation_states_new (&config, NULL, "value");
  g_assert_true (conversation_states_put (states, "a", "1", NULL, "1", NULL));
  gint64 deadline = g_get_monotonic_time () + 30 * G_USEC_PER_SEC;
  while (conversation_states_living (states) > 0 && g_get_monotonic_time () < deadline)
    g_usleep (5000);
  assert_has (states, "a", "1", CONVERSATION_STATE_LAST, NULL);
  conversation_states_free (states);
}

static gpointer
hammer (gpointer data)
{
  struct conversation_states *states = data;
  for (int i = 0; i < 2000; i++) {
    char conversation[2] = {(char)('0' + i % 5), '\0'};
    conversation_states_put (states, i % 2 ? "a" : "b", conversation, i % 3 ? NULL : "n", "text", NULL);
    json_decref (conversation_states_get (states, "a", conversation, NULL));
  }
  return NULL;
}

static void
test_threads (void)
{
  set_up ();
  struct conversation_states *states = conversation_states_new (&config, NULL, "value");
  GThread *threads[4];
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("hammer", hammer, states);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (conversation_states_living (states), <=, 3);
  conversation_states_free (states);
}

UNIT_SUITE (tools_conversation_state)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/conversation-state/kept", test_kept);
  g_test_add_func ("/conversation-state/values-bounded", test_values_bounded);
  g_test_add_func ("/conversation-state/bytes-bounded", test_bytes_bounded);
  g_test_add_func ("/conversation-state/conversations-bounded", test_conversations_bounded);
  g_test_add_func ("/conversation-state/expire", test_expire);
  g_test_add_func ("/conversation-state/threads", test_threads);
  return g_test_run ();
}
