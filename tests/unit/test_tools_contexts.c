/* SPDX-License-Identifier: Apache-2.0 */
/* What conversations remember: whose it is, how much, and for how long. */
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "suite.h"
#include "tools/contexts.h"

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
get (struct contexts *contexts, const char *owner, const char *conversation, const char *name)
{
  g_autoptr (json_t) values = contexts_get (contexts, owner, conversation);
  return g_strdup (json_string_value (json_object_get (values, name)));
}

static void
assert_has (struct contexts *contexts, const char *owner, const char *conversation, const char *name,
            const char *text)
{
  g_autofree char *found = get (contexts, owner, conversation, name);
  g_assert_cmpstr (found, ==, text);
}

static void
test_kept (void)
{
  set_up ();
  struct contexts *contexts = contexts_new (&config, "value");
  g_assert_true (contexts_put (contexts, "a", "1", NULL, "first", NULL));
  g_assert_true (contexts_put (contexts, "a", "1", "word", "second", NULL));
  assert_has (contexts, "a", "1", CONTEXT_LAST, "second");
  assert_has (contexts, "a", "1", "word", "second");
  g_assert_true (contexts_put (contexts, "a", "1", NULL, "third", NULL));
  assert_has (contexts, "a", "1", "word", "second");
  /* Neither another conversation's nor another owner's, however the names are cut. */
  assert_has (contexts, "a", "2", CONTEXT_LAST, NULL);
  assert_has (contexts, "b", "1", CONTEXT_LAST, NULL);
  /* Without a conversation nothing is kept. */
  g_assert_true (contexts_put (contexts, "a", NULL, "word", "x", NULL));
  assert_has (contexts, "a", NULL, "word", NULL);
  g_assert_cmpuint (contexts_living (contexts), ==, 1);
  contexts_drop (contexts, "a", "1");
  g_assert_cmpuint (contexts_living (contexts), ==, 0);
  contexts_free (contexts);
}

static void
test_values_bounded (void)
{
  set_up ();
  g_autoptr (GError) problem = NULL;
  struct contexts *contexts = contexts_new (&config, "value");
  g_assert_true (contexts_put (contexts, "a", "1", "x", "1", NULL));
  g_assert_true (contexts_put (contexts, "a", "1", "y", "2", NULL));
  g_assert_true (contexts_put (contexts, "a", "1", "y", "3", NULL));
  g_assert_false (contexts_put (contexts, "a", "1", "z", "4", &problem));
  g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_nonnull (strstr (problem->message, "2 values"));
  assert_has (contexts, "a", "1", "y", "3");
  assert_has (contexts, "a", "1", "z", NULL);
  /* What was last is not known, and nothing older stands for it. */
  assert_has (contexts, "a", "1", CONTEXT_LAST, NULL);
  contexts_free (contexts);
}

static void
test_bytes_bounded (void)
{
  set_up ();
  g_autoptr (GError) problem = NULL;
  g_autofree char *fits = g_strnfill (1000 - strlen (CONTEXT_LAST), 'x');
  g_autofree char *over = g_strnfill (1001 - strlen (CONTEXT_LAST), 'x');
  struct contexts *contexts = contexts_new (&config, "value");
  for (int i = 0; i < 100; i++)
    g_assert_true (contexts_put (contexts, "a", "1", NULL, fits, NULL));
  assert_has (contexts, "a", "1", CONTEXT_LAST, fits);
  g_assert_false (contexts_put (contexts, "a", "1", NULL, over, &problem));
  g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  assert_has (contexts, "a", "1", CONTEXT_LAST, NULL);
  g_assert_true (contexts_put (contexts, "a", "1", NULL, fits, NULL));
  contexts_free (contexts);
}

static void
test_contexts_bounded (void)
{
  set_up ();
  struct contexts *contexts = contexts_new (&config, "value");
  g_assert_true (contexts_put (contexts, "a", "1", NULL, "1", NULL));
  g_assert_true (contexts_put (contexts, "a", "2", NULL, "2", NULL));
  assert_has (contexts, "a", "1", CONTEXT_LAST, "1"); /* used: 2 is the oldest now */
  g_assert_true (contexts_put (contexts, "a", "3", NULL, "3", NULL));
  assert_has (contexts, "a", "2", CONTEXT_LAST, NULL);
  assert_has (contexts, "a", "1", CONTEXT_LAST, "1");
  /* Another owner's takes the place of the oldest of all only when all are too many. */
  g_assert_true (contexts_put (contexts, "b", "1", NULL, "4", NULL));
  g_assert_cmpuint (contexts_living (contexts), ==, 3);
  g_assert_true (contexts_put (contexts, "c", "1", NULL, "5", NULL));
  g_assert_cmpuint (contexts_living (contexts), ==, 3);
  assert_has (contexts, "a", "3", CONTEXT_LAST, NULL);
  contexts_free (contexts);
}

static void
test_expire (void)
{
  set_up ();
  config.context_idle_ms = 20;
  struct contexts *contexts = contexts_new (&config, "value");
  g_assert_true (contexts_put (contexts, "a", "1", NULL, "1", NULL));
  gint64 deadline = g_get_monotonic_time () + 30 * G_USEC_PER_SEC;
  while (contexts_living (contexts) > 0 && g_get_monotonic_time () < deadline)
    g_usleep (5000);
  assert_has (contexts, "a", "1", CONTEXT_LAST, NULL);
  contexts_free (contexts);
}

static gpointer
hammer (gpointer data)
{
  struct contexts *contexts = data;
  for (int i = 0; i < 2000; i++) {
    char conversation[2] = {(char)('0' + i % 5), '\0'};
    contexts_put (contexts, i % 2 ? "a" : "b", conversation, i % 3 ? NULL : "n", "text", NULL);
    json_decref (contexts_get (contexts, "a", conversation));
  }
  return NULL;
}

static void
test_threads (void)
{
  set_up ();
  struct contexts *contexts = contexts_new (&config, "value");
  GThread *threads[4];
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("hammer", hammer, contexts);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (contexts_living (contexts), <=, 3);
  contexts_free (contexts);
}

UNIT_SUITE (tools_contexts)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/contexts/kept", test_kept);
  g_test_add_func ("/contexts/values-bounded", test_values_bounded);
  g_test_add_func ("/contexts/bytes-bounded", test_bytes_bounded);
  g_test_add_func ("/contexts/contexts-bounded", test_contexts_bounded);
  g_test_add_func ("/contexts/expire", test_expire);
  g_test_add_func ("/contexts/threads", test_threads);
  return g_test_run ();
}
