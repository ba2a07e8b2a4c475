/* SPDX-License-Identifier: Apache-2.0 */
/* Content codings: bodies that come as gzip, replies that go as gzip. Limits hold for what a body unpacks to.
 * A reply never combines a secret with text that somebody else may choose, so that its packed length reveals
 * nothing. */
#include <string.h>

#include "interfaces/http/http_private.h"

#define PACKED_FROM 1024 /* bytes: shorter replies fit one packet either way */

/* Types worth compressing; pictures and archives already are. */
static const char *const packed_types[] = {
    "application/json", "application/problem+json", "application/x-ndjson", "image/svg+xml", "text/",
};

/* ---- incoming ---- */

gboolean
http_coding_begin (struct http_request *request)
{
  const char *coding = http_header (request, "Content-Encoding");
  if (!coding || g_ascii_strcasecmp (coding, "identity") == 0)
    return TRUE;
  if (g_ascii_strcasecmp (coding, "gzip") == 0 || g_ascii_strcasecmp (coding, "x-gzip") == 0)
    request->gunzip = request->server->wire->gunzip_new ();
  return request->gunzip != NULL;
}

void
http_coding_end (struct http_request *request)
{
  if (request->gunzip)
    request->server->wire->gunzip_free (g_steal_pointer (&request->gunzip));
}

/* ---- outgoing ---- */

/* The weight that ACCEPT, a list such as "gzip;q=0.5, *", gives CODING; -1 where it is not named. */
static double
coding_weight (const char *accept, const char *coding)
{
  g_auto (GStrv) each = g_strsplit (accept, ",", -1);
  double weight = -1;
  for (gsize i = 0; each[i]; i++) {
    char *parameters = strchr (each[i], ';');
    if (parameters)
      *parameters++ = '\0';
    if (g_ascii_strcasecmp (g_strstrip (each[i]), coding) != 0)
      continue;
    g_autofree char *quality = parameters ? g_strdup (g_strstrip (parameters)) : NULL;
    weight = quality && g_ascii_strncasecmp (quality, "q=", 2) == 0 ? g_ascii_strtod (quality + 2, NULL) : 1;
  }
  return weight;
}

/* A client that prefers it uncompressed gets it so. */
gboolean
http_coding_accepts_gzip (struct http_request *request)
{
  const char *accept = http_header (request, "Accept-Encoding");
  if (!accept)
    return FALSE;
  double others = coding_weight (accept, "*"), gzip = coding_weight (accept, "gzip");
  if (gzip < 0)
    gzip = coding_weight (accept, "x-gzip");
  if (gzip < 0)
    gzip = others;
  return gzip > 0 && gzip >= coding_weight (accept, "identity");
}

void
http_coding_pack (struct http_request *request, const char *type, struct wire_reply *reply)
{
  gboolean fits = FALSE;
  if (!reply->text || reply->length < PACKED_FROM || !type)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (packed_types); i++)
    fits = fits || g_str_has_prefix (type, packed_types[i]);
  if (!fits)
    return;
  http_set_header (request, "Vary", "Accept-Encoding");
  gsize length = 0;
  char *packed = http_coding_accepts_gzip (request)
                     ? request->server->wire->gzip (reply->text, reply->length, &length)
                     : NULL;
  if (!packed)
    return;
  http_set_header (request, "Content-Encoding", "gzip");
  g_free (reply->text);
  reply->text = packed;
  reply->length = length;
}
