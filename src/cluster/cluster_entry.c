/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster_entry.h"

#include <string.h>

#include "common/constant_time.h"
#include "common/json.h"

#define MEMBER        ",\"signature\":\"" /* before the digits, */
#define END           "\"}"               /* and after */
#define DIGITS        64
#define SIGNED_LENGTH (sizeof MEMBER - 1 + DIGITS + sizeof END - 1)

/* Of what stands before MEMBER. No request of a node (cluster_sign.c) begins so, and no other text that the
 * secret is used with (frame.c, work_queue.c): none of their signatures is one of an entry. */
static char *
entry_signature (const char *secret, const char *key, const char *text, gsize length)
{
  g_autoptr (GHmac) hmac = g_hmac_new (G_CHECKSUM_SHA256, (const guchar *)secret, strlen (secret));
  g_autofree char *purpose = g_strdup_printf ("entry %s\n", key);
  g_hmac_update (hmac, (const guchar *)purpose, (gssize)strlen (purpose));
  g_hmac_update (hmac, (const guchar *)text, (gssize)length);
  return g_strdup (g_hmac_get_string (hmac));
}

char *
entry_sign (const char *secret, const char *key, const json_t *entry)
{
  g_autofree char *text = json_to_text (entry);
  gsize length = strlen (text) - 1; /* without the brace */
  g_autofree char *signature = entry_signature (secret, key, text, length);
  text[length] = '\0';
  return g_strconcat (text, MEMBER, signature, END, NULL);
}

static gboolean
entry_is_signed (const char *secret, const char *key, const char *text, gsize length)
{
  if (length < SIGNED_LENGTH)
    return FALSE;
  const char *member = text + length - SIGNED_LENGTH, *digits = member + strlen (MEMBER);
  if (memcmp (member, MEMBER, strlen (MEMBER)) != 0 || memcmp (digits + DIGITS, END, strlen (END)) != 0)
    return FALSE;
  g_autofree char *signature = entry_signature (secret, key, text, length - SIGNED_LENGTH);
  return constant_time_equal (digits, signature, DIGITS);
}

json_t *
entry_parse (const char *secret, const char *key, const char *text, gsize length, gboolean *ret_is_signed)
{
  g_autoptr (json_t) entry = length > 0 ? json_parse_object (text, length, "a node", NULL) : NULL;
  if (!entry || strcmp (json_member_text (entry, "tag"), key) != 0)
    return NULL;
  *ret_is_signed = entry_is_signed (secret, key, text, length);
  (void)json_object_del (entry, "signature");
  return g_steal_pointer (&entry);
}

gint64
entry_clock_next (struct entry_clock *clock, gint64 real_us)
{
  clock->highest = MAX (real_us, clock->highest + 1);
  return clock->highest;
}

gboolean
entry_clock_hear (struct entry_clock *clock, gint64 number, gint64 now_us)
{
  if (now_us - clock->marked_us >= (gint64)ENTRY_OLD_MS * 1000) {
    clock->old = clock->marked;
    clock->marked = clock->highest;
    clock->marked_us = now_us;
  }
  clock->highest = MAX (clock->highest, number);
  return number > clock->old;
}
