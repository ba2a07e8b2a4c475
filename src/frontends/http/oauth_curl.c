/* SPDX-License-Identifier: Apache-2.0 */
/* One question to an authorization server by libcurl: the module adder-oauth. */
#include <curl/curl.h>
#include <string.h>

#include "adder.h"
#include "frontends/http/oauth.h"

struct taken {
  GString *text;
  gsize most;
  gboolean too_long;
};

static size_t
take (char *bytes, size_t size, size_t count, void *data)
{
  struct taken *taken = data;
  if (taken->text->len + size * count > taken->most) {
    taken->too_long = TRUE;
    return 0;
  }
  g_string_append_len (taken->text, bytes, (gssize)(size * count));
  return size * count;
}

static void
start_library (void)
{
  static gsize started = 0;
  if (g_once_init_enter (&started)) {
    curl_global_init (CURL_GLOBAL_DEFAULT);
    g_once_init_leave (&started, 1);
  }
}

/* No redirect is followed: the token and our secret would go wherever it leads. */
static void
set_up (CURL *curl, const char *url, const char *body, guint64 timeout_ms, struct curl_slist *headers,
        struct taken *taken)
{
  curl_easy_setopt (curl, CURLOPT_URL, url);
  curl_easy_setopt (curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt (curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt (curl, CURLOPT_POSTFIELDS, body);
  curl_easy_setopt (curl, CURLOPT_POSTFIELDSIZE, (long)strlen (body));
  curl_easy_setopt (curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt (curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
  curl_easy_setopt (curl, CURLOPT_CONNECTTIMEOUT_MS, (long)timeout_ms);
  curl_easy_setopt (curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt (curl, CURLOPT_WRITEDATA, taken);
}

static char *
ask (const char *url, const char *client, const char *secret, const char *body, guint64 timeout_ms,
     gsize most, gsize *ret_length, GError **error)
{
  start_library ();
  long status = 0;
  struct taken taken = {.text = g_string_new (NULL), .most = most};
  CURL *curl = curl_easy_init ();
  struct curl_slist *headers = curl_slist_append (NULL, "Accept: application/json");
  set_up (curl, url, body, timeout_ms, headers, &taken);
  if (client) {
    /* RFC 6749, 2.3.1: both as in a form. */
    g_autofree char *name = g_uri_escape_string (client, NULL, FALSE);
    g_autofree char *word = g_uri_escape_string (secret ? secret : "", NULL, FALSE);
    curl_easy_setopt (curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    curl_easy_setopt (curl, CURLOPT_USERNAME, name);
    curl_easy_setopt (curl, CURLOPT_PASSWORD, word);
  }
  CURLcode result = curl_easy_perform (curl);
  curl_easy_getinfo (curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_cleanup (curl);
  curl_slist_free_all (headers);
  if (result == CURLE_OK && status == 200) {
    *ret_length = taken.text->len;
    return g_string_free (taken.text, FALSE);
  }
  if (result == CURLE_OK)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "it answered with status %ld", status);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "%s",
                 taken.too_long ? "its answer is too long" : curl_easy_strerror (result));
  g_string_free (taken.text, TRUE);
  return NULL;
}

ADDER_PUBLIC extern const struct oauth_asker adder_oauth_asker;
const struct oauth_asker adder_oauth_asker = {ask};
