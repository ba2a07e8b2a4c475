/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/old_names.h"

#include <stdio.h>
#include <string.h>

#define WORDS_MAX 3 /* of a name, with an option that belongs to it */

/* The words after "adder". Longer names come before their prefixes. */
static const struct old_name {
  const char *typed[WORDS_MAX + 1], *now[WORDS_MAX + 1];
} old_names[] = {
    {{"call"}, {"tool", "call"}},
    {{"container", "remove"}, {"env", "image", "rm"}},
    {{"container"}, {"env", "image"}},
    {{"data", "remove"}, {"data", "rm"}},
    {{"env", "create"}, {"env", "new"}},
    {{"env", "remove"}, {"env", "rm"}},
    {{"guard"}, {"run", "--check"}},
    {{"model", "add"}, {"model", "new"}},
    {{"model", "remove"}, {"model", "rm"}},
    {{"record"}, {"history"}},
    {{"reload"}, {"serve", "reload"}},
    {{"result", "export"}, {"history", "table"}},
    {{"result", "peek"}, {"history", "peek"}},
    {{"result", "show"}, {"history", "output"}},
    {{"result"}, {"history"}},
    {{"review", "commit"}, {"approval", "approve"}},
    {{"review", "drop"}, {"approval", "deny"}},
    {{"review"}, {"approval"}},
    {{"session", "end"}, {"session", "rm"}},
    {{"status"}, {"serve", "status"}},
    {{"stop"}, {"serve", "stop"}},
    {{"store", "check"}, {"doctor", "store", "--check"}},
    {{"store", "show"}, {"doctor", "store"}},
    {{"store"}, {"doctor", "store"}},
    {{"token", "create"}, {"token", "new"}},
    {{"token", "revoke"}, {"token", "rm"}},
    {{"tools", "disable"}, {"tool", "disable"}},
    {{"tools", "enable"}, {"tool", "enable"}},
    {{"tools"}, {"tool", "list"}},
};

static gsize
old_names_count (const char *const *words)
{
  return g_strv_length ((GStrv)(guintptr)words);
}

static const struct old_name *
old_names_find (int argc, char **argv)
{
  for (gsize i = 0; i < G_N_ELEMENTS (old_names); i++) {
    gsize word = 0, count = old_names_count (old_names[i].typed);
    while (word < count && (int)word + 1 < argc && strcmp (argv[word + 1], old_names[i].typed[word]) == 0)
      word++;
    if (word == count)
      return &old_names[i];
  }
  return NULL;
}

static char *
old_names_join (const char *const *words)
{
  return g_strjoinv (" ", (GStrv)(guintptr)words);
}

char **
old_names_replace (int *argc, char **argv)
{
  const struct old_name *old = old_names_find (*argc, argv);
  if (!old)
    return NULL;
  g_autofree char *typed = old_names_join (old->typed), *now = old_names_join (old->now);
  fprintf (stderr, "adder: \"adder %s\" is now \"adder %s\"; the old name is removed in the next version\n",
           typed, now);
  gsize was = old_names_count (old->typed), is = old_names_count (old->now), rest = (gsize)*argc - 1 - was;
  char **all = g_new0 (char *, 1 + is + rest + 1);
  all[0] = argv[0];
  memcpy (all + 1, old->now, is * sizeof *all);
  memcpy (all + 1 + is, argv + 1 + was, rest * sizeof *all);
  *argc = (int)(1 + is + rest);
  return all;
}

void
old_names_print (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (old_names); i++) {
    g_autofree char *typed = old_names_join (old_names[i].typed), *now = old_names_join (old_names[i].now);
    printf ("%s\t%s\n", typed, now);
  }
}
