/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/chat/transcript.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"

#define FENCE_MIN 3

void
chat_transcript_init (struct chat_transcript *transcript)
{
  *transcript = (struct chat_transcript){.text = g_string_new (NULL)};
}

void
chat_transcript_clear (struct chat_transcript *transcript)
{
  g_string_free (transcript->text, TRUE);
}

/* Takes TEXT. */
static void
transcript_append (struct chat_transcript *transcript, char *text)
{
  transcript->cut = transcript->cut || transcript->text->len + strlen (text) > CHAT_TRANSCRIPT_BYTES;
  if (!transcript->cut)
    g_string_append (transcript->text, text);
  g_free (text);
}

/* Longer than any run of backticks in TEXT. The caller's. */
static char *
fence_for (const char *text)
{
  gsize longest = FENCE_MIN - 1;
  for (const char *at = text; (at = strchr (at, '`'));) {
    gsize run = strspn (at, "`");
    longest = MAX (longest, run);
    at += run;
  }
  return g_strnfill (longest + 1, '`');
}

static void
append_block (struct chat_transcript *transcript, const char *language, const char *text)
{
  g_autofree char *fence = fence_for (text);
  transcript_append (transcript, g_strdup_printf ("%s%s\n%s%s%s\n\n", fence, language, text,
                                                  g_str_has_suffix (text, "\n") ? "" : "\n", fence));
}

void
chat_transcript_say (struct chat_transcript *transcript, const char *who, const char *text)
{
  if (text[0])
    transcript_append (transcript, g_strdup_printf ("**%s:**\n\n%s\n\n", who, text));
}

void
chat_transcript_step (struct chat_transcript *transcript, const json_t *step)
{
  const json_t *function = json_object_get (step, "function"),
               *arguments = json_object_get (function, "arguments");
  const char *code = json_string_value (json_object_get (arguments, "code"));
  g_autofree char *written = arguments && !code ? json_dumps (arguments, JSON_INDENT (2)) : NULL;
  gsize index;
  json_t *path;
  transcript_append (transcript, g_strdup_printf ("*%s*\n\n", json_member_text (function, "name")));
  if (code || written)
    append_block (transcript, code ? "python" : "json", code ? code : written);
  append_block (transcript, "", json_member_text (step, "result"));
  json_array_foreach (json_object_get (step, "pictures"), index, path)
      transcript_append (transcript, g_strdup_printf ("![picture](<%s>)\n\n", json_string_value (path)));
}

gboolean
chat_transcript_save (const struct chat_transcript *transcript, const char *file, GError **error)
{
  autoclose int fd = open (file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0 && errno == EEXIST) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s exists already: name another file", file);
    return FALSE;
  }
  static const char cut[] = "(What came later was too long to be kept.)\n";
  int r = fd < 0 ? -errno : fd_write_all (fd, transcript->text->str, transcript->text->len);
  if (r == 0 && transcript->cut)
    r = fd_write_all (fd, cut, strlen (cut));
  return r == 0 || error_from_errno (error, r, "cannot write %s", file);
}
