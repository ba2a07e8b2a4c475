/* SPDX-License-Identifier: Apache-2.0 */
#include "models/api_quirks.h"

#include <string.h>

static const struct {
  enum dialect dialect;
  const char *word;
  enum dialect_quirk bit;
} quirks[] = {
    {DIALECT_CHAT, "max_completion_tokens", QUIRK_MAX_COMPLETION},
    {DIALECT_CHAT, "stream_options", QUIRK_NO_USAGE},
    {DIALECT_CHAT, "strict", QUIRK_NO_STRICT},
    /* Its name, or words as in "Parallel tool calls are not supported." */
    {DIALECT_CHAT, "parallel", QUIRK_NO_PARALLEL},
    {DIALECT_RESPONSES, "encrypted", QUIRK_NO_ENCRYPTED},
    {DIALECT_RESPONSES, "strict", QUIRK_NO_STRICT},
    {DIALECT_RESPONSES, "output of tool call", QUIRK_TEXT_RESULTS},
    {DIALECT_MESSAGES, "cache_control", QUIRK_NO_CACHE},
};

gboolean
api_quirks_learn (enum dialect dialect, const char *words, guint *bits)
{
  for (gsize i = 0; i < G_N_ELEMENTS (quirks); i++) {
    if (quirks[i].dialect != dialect || (*bits & quirks[i].bit) || !strstr (words, quirks[i].word))
      continue;
    *bits |= quirks[i].bit;
    return TRUE;
  }
  return FALSE;
}
