/* SPDX-License-Identifier: Apache-2.0 */
/* One-time codes, found by their digests, so that the time of a comparison reveals nothing. */
#include "policy/sign_in_codes.h"

#include <string.h>

#include "common/guarded.h"
#include "policy/tokens_file.h"

#define CODE_TEXT_MAX 128 /* longer ones need no digest */

LOCK_CLASS (sign_in_codes);

struct sign_in_code {
  char *digest, *account;
  gint64 until_us;
};

struct sign_in_codes {
  MUTEX (sign_in_codes) lock;
  GUARDED_BY (sign_in_codes) GPtrArray *pending; /* of struct sign_in_code, the oldest first */
};

static void
sign_in_code_free (gpointer data)
{
  struct sign_in_code *code = data;
  g_free (code->digest);
  g_free (code->account);
  g_free (code);
}

struct sign_in_codes *
sign_in_codes_new (void)
{
  struct sign_in_codes *codes = g_new0 (struct sign_in_codes, 1);
  g_mutex_init (&codes->lock);
  codes->pending = g_ptr_array_new_with_free_func (sign_in_code_free);
  return codes;
}

void
sign_in_codes_free (struct sign_in_codes *codes)
{
  if (!codes)
    return;
  UNSHARED (sign_in_codes);
  g_ptr_array_unref (codes->pending);
  g_mutex_clear (&codes->lock);
  g_free (codes);
}

REQUIRES (sign_in_codes)
static void
drop_old_codes (struct sign_in_codes *codes, gint64 now_us)
{
  while (codes->pending->len > 0) {
    const struct sign_in_code *oldest = codes->pending->pdata[0];
    if (oldest->until_us > now_us && codes->pending->len < SIGN_IN_CODES_MAX)
      return;
    g_ptr_array_remove_index (codes->pending, 0);
  }
}

char *
sign_in_codes_make (struct sign_in_codes *codes, const char *account, gint64 now_us, GError **error)
{
  char *secret = token_new_secret (error);
  if (!secret)
    return NULL;
  /* Not taken for a token, by scanners or by people. */
  char *text = g_strdup (secret + strlen (TOKEN_PREFIX));
  explicit_bzero (secret, strlen (secret));
  g_free (secret);
  struct sign_in_code *code = g_new (struct sign_in_code, 1);
  *code =
      (struct sign_in_code){token_digest (text), g_strdup (account), now_us + (gint64)SIGN_IN_CODE_MS * 1000};
  g_mutex_lock (&codes->lock);
  drop_old_codes (codes, now_us);
  g_ptr_array_add (codes->pending, code);
  g_mutex_unlock (&codes->lock);
  return text;
}

char *
sign_in_codes_take (struct sign_in_codes *codes, const char *text, gint64 now_us)
{
  char *account = NULL;
  if (strnlen (text, CODE_TEXT_MAX + 1) > CODE_TEXT_MAX)
    return NULL;
  g_autofree char *digest = token_digest (text);
  g_mutex_lock (&codes->lock);
  for (guint i = 0; i < codes->pending->len; i++) {
    struct sign_in_code *code = codes->pending->pdata[i];
    if (strcmp (code->digest, digest) != 0)
      continue;
    account = code->until_us > now_us ? g_steal_pointer (&code->account) : NULL;
    g_ptr_array_remove_index (codes->pending, i);
    break;
  }
  g_mutex_unlock (&codes->lock);
  return account;
}
