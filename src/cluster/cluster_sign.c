/* SPDX-License-Identifier: Apache-2.0 */
/* What a node says of a caller is believed because of the secret that all nodes share: HMAC-SHA256 (RFC
 * 2104), in hexadecimal digits, a blank, and the JSON that it is of. */
#include <string.h>

#include "adder_types.h"
#include "cluster/cluster_private.h"
#include "common/constant_time.h"
#include "common/json.h"

#define SIGNATURE_DIGITS 64

static char *
cluster_hmac (const struct cluster *cluster, const char *text, gsize length)
{
  return g_compute_hmac_for_data (G_CHECKSUM_SHA256, (const guchar *)cluster->secret,
                                  strlen (cluster->secret), (const guchar *)text, length);
}

char *
cluster_sign (struct cluster *cluster, const json_t *head)
{
  g_autofree char *text = json_to_text (head);
  g_autofree char *signature = cluster_hmac (cluster, text, strlen (text));
  return g_strconcat (signature, " ", text, NULL);
}

json_t *
cluster_verify (struct cluster *cluster, const char *text, gsize length, GError **error)
{
  const gsize before = SIGNATURE_DIGITS + 1;
  if (length > before && text[SIGNATURE_DIGITS] == ' ') {
    g_autofree char *signature = cluster_hmac (cluster, text + before, length - before);
    if (constant_time_equal (text, signature, SIGNATURE_DIGITS))
      return json_parse_object (text + before, length - before, "a request of a node", error);
  }
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                       "a request is not signed with the secret of this cluster ([cluster] secret_file)");
  return NULL;
}
