/* SPDX-License-Identifier: Apache-2.0 */
#include "containers/client.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/http_client.h"
#include "common/json.h"
#include "containers/find.h"

/* The version of the API that is spoken; with engines that are older, theirs. Without one each engine would
 * take its newest, whose answers nobody has seen yet. */
#define API_MAJOR 1
#define API_MINOR 44

/* Podman asks the package manager for the versions of its programs, which takes seconds on a busy host. */
#define VERSION_MS   30000

#define ANSWER_BYTES (16 << 20)
#define WORDS_BYTES  4096

struct container_client {
  struct http_client *http;
  char *socket, *name, *version;
  char *prefix; /* of paths: "/v1.41" */
  guint status;
};

/* The socket's is the address that counts. */
#define HOST "http://engine"

/* One answer in lines, and what is sent for it. */
struct taking {
  GString *text; /* of the line that is not whole yet */
  container_progress progress;
  gpointer progress_data;
  int body_fd;
  GError *error;
};

/* ---- what comes ---- */

static gboolean
is_error (json_t *line, GError **error)
{
  const char *words = json_member_text (line, "error");
  if (words[0] == '\0')
    return FALSE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the container engine: %.*s", WORDS_BYTES, words);
  error_make_printable (error);
  return TRUE;
}

static gboolean
tell_line (struct taking *taking, const char *text, gsize length)
{
  g_autofree char *blank = g_strstrip (g_strndup (text, length));
  if (blank[0] == '\0')
    return TRUE;
  g_autoptr (json_t) line =
      json_parse_object (blank, strlen (blank), "the engine's progress", &taking->error);
  return line && !is_error (line, &taking->error) &&
         (!taking->progress || taking->progress (taking->progress_data, line, &taking->error));
}

static gboolean
tell_lines (struct taking *taking)
{
  const char *end;
  while ((end = memchr (taking->text->str, '\n', taking->text->len))) {
    gsize length = (gsize)(end - taking->text->str);
    gboolean told = tell_line (taking, taking->text->str, length);
    g_string_erase (taking->text, 0, (gssize)length + 1);
    if (!told)
      return FALSE;
  }
  return TRUE;
}

static void
set_too_long (GError **error)
{
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the container engine's answer is too long");
}

static enum http_want
take_lines (gpointer data, G_GNUC_UNUSED const struct http_response *response, const char *bytes,
            gsize length)
{
  struct taking *taking = data;
  if (length > ANSWER_BYTES - taking->text->len) {
    set_too_long (&taking->error);
    return HTTP_STOP;
  }
  g_string_append_len (taking->text, bytes, (gssize)length);
  return tell_lines (taking) ? HTTP_MORE : HTTP_STOP;
}

static gssize
client_give (gpointer data, char *to, gsize most)
{
  const struct taking *taking = data;
  ssize_t got;
  do
    got = read (taking->body_fd, to, most);
  while (got < 0 && errno == EINTR);
  return got;
}

/* ---- how it ends ---- */

static void
client_set_refusal (const struct container_client *client, const char *text, gsize length, GError **error)
{
  g_autoptr (json_t) answer = json_parse_object (text, length, "the answer", NULL);
  const char *words = answer ? json_member_text (answer, "message") : "";
  g_set_error (error, ADDER_ERROR, client->status == 404 ? ADDER_ERROR_NOT_FOUND : ADDER_ERROR_FAILED,
               "%s: %.*s (status %u)", client->name, WORDS_BYTES, words[0] ? words : "it does not say why",
               client->status);
  error_make_printable (error);
}

static void
client_set_failure (const struct container_client *client, guint64 timeout_ms,
                    const struct http_response *response, GError **error)
{
  if (response->end == HTTP_LONG)
    set_too_long (error);
  else if (response->end == HTTP_UNREACHABLE)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "no container engine can be reached at %s: %s",
                 client->socket, response->err ? g_strerror (response->err) : response->reason);
  else if (response->end == HTTP_LATE)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                 "the container engine at %s did not answer within %" G_GUINT64_FORMAT " ms", client->socket,
                 timeout_ms);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the connection to the container engine at %s broke off: %s", client->socket,
                 response->reason);
}

/* REQUEST, with what is the same in all of them, to PATH. */
static gboolean
client_send (struct container_client *client, struct http_client_request *request, const char *path,
             guint64 timeout_ms, struct http_response *ret_response, GError **error)
{
  g_autofree char *url = g_strconcat (HOST, client->prefix, path, NULL);
  timeout_ms = MAX (timeout_ms, 1);
  request->url = url;
  request->unix_socket = client->socket;
  request->deadline_us = g_get_monotonic_time () + (gint64)MIN (timeout_ms, G_MAXINT32) * 1000;
  enum http_end end = http_client_perform (client->http, request, -1, ret_response);
  client->status = (guint)MAX (ret_response->status, 0);
  if (end != HTTP_ARRIVED)
    client_set_failure (client, timeout_ms, ret_response, error);
  /* 304: it is so already. */
  else if (http_response_is_yes (ret_response) || client->status == 304)
    return TRUE;
  else
    client_set_refusal (client, ret_response->body->str, ret_response->body->len, error);
  return FALSE;
}

/* ---- questions ---- */

static json_t *
parse_answer (const GString *text, GError **error)
{
  json_error_t problem;
  json_t *value = json_loadb (text->str, text->len, JSON_DECODE_ANY, &problem);
  if (!value)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the container engine's answer is not JSON: %s",
                 problem.text);
  return value;
}

gboolean
container_client_call (struct container_client *client, const char *method, const char *path, json_t *body,
                       guint64 timeout_ms, json_t **ret_answer, GError **error)
{
  static const char *const headers[] = {"Content-Type: application/json", NULL};
  g_autofree char *text = body ? json_to_text (body) : NULL;
  g_auto (http_response_t) response = {0};
  struct http_client_request request = {.method = method,
                                        .headers = text ? headers : NULL,
                                        .body = text,
                                        .length = text ? (gint64)strlen (text) : 0,
                                        .answer_bytes = ANSWER_BYTES};
  if (ret_answer)
    *ret_answer = NULL;
  if (!client_send (client, &request, path, timeout_ms, &response, error))
    return FALSE;
  if (!ret_answer || response.body->len == 0)
    return TRUE;
  *ret_answer = parse_answer (response.body, error);
  return *ret_answer != NULL;
}

gboolean
container_client_send (struct container_client *client, const char *path, const char *type, int body_fd,
                       guint64 timeout_ms, container_progress progress, gpointer data, GError **error)
{
  g_autofree char *header = g_strconcat ("Content-Type: ", type, NULL);
  const char *const headers[] = {header, NULL};
  g_autoptr (GString) came = g_string_new (NULL);
  g_autoptr (GError) problem = NULL;
  struct taking taking = {.text = came, .progress = progress, .progress_data = data, .body_fd = body_fd};
  g_auto (http_response_t) response = {0};
  struct http_client_request request = {.method = "POST",
                                        .headers = headers,
                                        .data = &taking,
                                        .length = -1,
                                        .give = client_give,
                                        .answer_bytes = G_MAXUINT64,
                                        .took = take_lines};
  gboolean ok = client_send (client, &request, path, timeout_ms, &response, &problem) &&
                tell_line (&taking, came->str, came->len);
  /* Why it was broken off is more than that it was. */
  if (taking.error)
    g_propagate_error (error, taking.error);
  else if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  return ok;
}

/* ---- beginning and end ---- */

static gboolean
is_podman (const json_t *answer)
{
  gsize index;
  json_t *component;
  json_array_foreach (
      json_object_get (answer, "Components"), index,
      component) if (g_str_has_prefix (json_member_text (component, "Name"), "Podman")) return TRUE;
  return FALSE;
}

/* "1.41" */
static guint
minor_of (const char *version)
{
  g_auto (GStrv) parts = g_strsplit (version, ".", 3);
  guint64 major = 0, minor = 0;
  if (g_strv_length (parts) < 2 ||
      !g_ascii_string_to_unsigned (parts[0], 10, API_MAJOR, API_MAJOR, &major, NULL) ||
      !g_ascii_string_to_unsigned (parts[1], 10, 0, G_MAXUINT16, &minor, NULL))
    return API_MINOR;
  return MIN ((guint)minor, API_MINOR);
}

/* Whatever is wrong with it: it is no engine that could be used. */
static gboolean
ask_version (struct container_client *client, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) answer = NULL;
  gboolean asked = container_client_call (client, "GET", "/version", NULL, VERSION_MS, &answer, &problem);
  const char *version = json_member_text (answer, "Version");
  if (!asked || version[0] == '\0') {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "%s",
                 problem ? problem->message : "the container engine's socket belongs to something else");
    return FALSE;
  }
  g_free (client->name);
  client->name = g_strdup (is_podman (answer) ? "podman" : "docker");
  client->version = g_strdup (version);
  g_free (client->prefix);
  client->prefix = g_strdup_printf ("/v%d.%u", API_MAJOR, minor_of (json_member_text (answer, "ApiVersion")));
  return TRUE;
}

struct container_client *
container_client_new (const struct config *config, GError **error)
{
  g_autofree char *socket = container_find (config, error);
  if (!socket)
    return NULL;
  struct http_client *http = http_client_new (error);
  if (!http)
    return NULL;
  struct container_client *client = g_new0 (struct container_client, 1);
  client->http = http;
  client->socket = g_steal_pointer (&socket);
  client->name = g_strdup ("the container engine");
  client->prefix = g_strdup ("");
  if (!ask_version (client, error))
    g_clear_pointer (&client, container_client_free);
  return client;
}

void
container_client_free (struct container_client *client)
{
  if (!client)
    return;
  http_client_free (client->http);
  g_free (client->socket);
  g_free (client->name);
  g_free (client->version);
  g_free (client->prefix);
  g_free (client);
}

gboolean
container_client_is_podman (const struct container_client *client)
{
  return strcmp (client->name, "podman") == 0;
}

const char *
container_client_name (const struct container_client *client)
{
  return client->name;
}

const char *
container_client_version (const struct container_client *client)
{
  return client->version;
}

const char *
container_client_socket (const struct container_client *client)
{
  return client->socket;
}

guint
container_client_status (const struct container_client *client)
{
  return client->status;
}
