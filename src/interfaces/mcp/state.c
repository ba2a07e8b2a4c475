/* SPDX-License-Identifier: Apache-2.0 */
/* A state is BASE64(BODY).BASE64(MAC), BODY = {"until": ms, "payload": {...}}. The MAC is HMAC-SHA256 over
 * the body and, each with its length before it to keep them apart, the owner, the method and the digest of
 * the parameters. Those are not in the state: the client sends them again. */
#include "interfaces/mcp/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/constant_time.h"
#include "common/error.h"
#include "common/json.h"
#include "common/random_bytes.h"

#define MAC_BYTES    32
#define KEY_FILE_MIN 32
#define KEY_FILE_MAX 4096
#define PURPOSE      "adder mcp request state 1"

/* ---- the key ---- */

static gboolean
check_key_file (int fd, const char *file, GError **error)
{
  struct stat facts;
  if (fstat (fd, &facts) < 0)
    return error_from_errno (error, errno, "cannot look at %s", file);
  if (!S_ISREG (facts.st_mode) || (facts.st_mode & 077) != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s holds a key: it has to be a file that its owner alone may read (chmod 600)", file);
    return FALSE;
  }
  if (facts.st_size >= KEY_FILE_MIN && facts.st_size <= KEY_FILE_MAX)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s holds a key: it has to have %d to %d bytes", file,
               KEY_FILE_MIN, KEY_FILE_MAX);
  return FALSE;
}

static gboolean
state_read_key_file (const char *file, struct mcp_state_key *ret_key, GError **error)
{
  guint8 content[KEY_FILE_MAX];
  autoclose int fd = open (file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return error_from_errno (error, errno, "cannot open %s", file);
  if (!check_key_file (fd, file, error))
    return FALSE;
  ssize_t length = read (fd, content, sizeof content);
  if (length < KEY_FILE_MIN)
    return error_from_errno (error, length < 0 ? errno : EIO, "cannot read %s", file);
  gsize size = sizeof ret_key->bytes;
  GHmac *hmac = g_hmac_new (G_CHECKSUM_SHA256, content, (gsize)length);
  g_hmac_update (hmac, (const guchar *)PURPOSE, (gssize)strlen (PURPOSE));
  g_hmac_get_digest (hmac, ret_key->bytes, &size);
  g_hmac_unref (hmac);
  explicit_bzero (content, sizeof content);
  return TRUE;
}

gboolean
mcp_state_key_make (const char *file, struct mcp_state_key *ret_key, GError **error)
{
  if (file)
    return state_read_key_file (file, ret_key, error);
  random_bytes (ret_key->bytes, sizeof ret_key->bytes);
  return TRUE;
}

/* ---- what is signed ---- */

/* The parameters as one text, with sorted members. */
static char *
canonical (const json_t *params)
{
  static const char *const of_rounds[] = {"_meta", "inputResponses", "requestState"};
  g_autoptr (json_t) plain = params ? json_copy ((json_t *)(guintptr)params) : json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (of_rounds); i++)
    json_object_del (plain, of_rounds[i]);
  char *text = json_dumps (plain, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
  return text ? text : g_strdup ("");
}

static void
update (GHmac *hmac, const char *text, gsize length)
{
  guint64 before = GUINT64_TO_BE ((guint64)length);
  g_hmac_update (hmac, (const guchar *)&before, sizeof before);
  g_hmac_update (hmac, (const guchar *)text, (gssize)length);
}

static void
state_sign (const struct mcp_state_key *key, const struct mcp_state_bond *bond, const char *body,
            gsize length, guint8 ret_mac[MAC_BYTES])
{
  gsize size = MAC_BYTES;
  char *params = canonical (bond->params);
  GHmac *hmac = g_hmac_new (G_CHECKSUM_SHA256, key->bytes, sizeof key->bytes);
  update (hmac, bond->owner, strlen (bond->owner));
  update (hmac, bond->method, strlen (bond->method));
  update (hmac, params, strlen (params));
  update (hmac, body, length);
  g_hmac_get_digest (hmac, ret_mac, &size);
  g_hmac_unref (hmac);
  free (params); /* jansson's */
}

/* ---- both ways ---- */

static gint64
state_now_ms (void)
{
  return g_get_real_time () / 1000;
}

char *
mcp_state_seal (const struct mcp_state_key *key, const struct mcp_state_bond *bond, const json_t *payload,
                guint64 ttl_ms, GError **error)
{
  guint8 mac[MAC_BYTES];
  json_int_t until = state_now_ms () + (gint64)ttl_ms;
  g_autoptr (json_t) whole = json_pack ("{s:I, s:O}", "until", until, "payload", (json_t *)(guintptr)payload);
  g_autofree char *body = json_to_text (whole);
  state_sign (key, bond, body, strlen (body), mac);
  g_autofree char *first = g_base64_encode ((const guchar *)body, strlen (body));
  g_autofree char *second = g_base64_encode (mac, sizeof mac);
  if (strlen (first) + 1 + strlen (second) <= MCP_STATE_MAX)
    return g_strconcat (first, ".", second, NULL);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "what was answered so far is too long to be carried: %d characters at most", MCP_STATE_MAX);
  return NULL;
}

/* Decodes strictly: only what g_base64_encode produces is valid. */
static guchar *
decode (const char *text, gsize length, gsize *ret_length)
{
  g_autofree char *part = g_strndup (text, length);
  g_autofree guchar *bytes = g_base64_decode (part, ret_length);
  g_autofree char *again = g_base64_encode (bytes, *ret_length);
  return strcmp (part, again) == 0 ? g_steal_pointer (&bytes) : NULL;
}

/* The signed body, or NULL. */
static json_t *
verify (const struct mcp_state_key *key, const struct mcp_state_bond *bond, const char *state)
{
  guint8 mac[MAC_BYTES];
  gsize length = 0, mac_length = 0;
  const char *dot = strlen (state) <= MCP_STATE_MAX ? strchr (state, '.') : NULL;
  if (!dot)
    return NULL;
  g_autofree guchar *body = decode (state, (gsize)(dot - state), &length);
  g_autofree guchar *given = decode (dot + 1, strlen (dot + 1), &mac_length);
  if (!body || !given || mac_length != sizeof mac)
    return NULL;
  state_sign (key, bond, (const char *)body, length, mac);
  return constant_time_equal (mac, given, sizeof mac)
             ? json_parse_object ((const char *)body, length, "the request state", NULL)
             : NULL;
}

json_t *
mcp_state_open (const struct mcp_state_key *key, const struct mcp_state_bond *bond, const char *state,
                GError **error)
{
  g_autoptr (json_t) whole = verify (key, bond, state);
  if (!whole) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "requestState is not what this server gave for this request");
    return NULL;
  }
  if (json_integer_value (json_object_get (whole, "until")) <= state_now_ms ()) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                 "requestState is too old: make the request again without it");
    return NULL;
  }
  return json_incref (json_object_get (whole, "payload"));
}
