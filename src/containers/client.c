/* SPDX-License-Identifier: Apache-2.0 */
#include "containers/client.h"

#include <string.h>

#include "adder.h"
#include "common/error.h"
#include "common/json.h"
#include "common/module.h"
#include "containers/find.h"
#include "containers/transport.h"

/* The version of the API that is spoken; with engines that are older, theirs. Without one each engine would
 * take its newest, whose answers nobody has seen yet. */
#define API_MAJOR 1
#define API_MINOR 44

/* Podman asks the package manager for the versions of its programs, which takes seconds on a busy host. */
#define VERSION_MS   10000

#define ANSWER_BYTES (16 << 20)
#define WORDS_BYTES  4096

struct container_client {
  const struct container_transport_class *class;
  struct container_transport *transport;
  char *socket, *name, *version;
  char *prefix; /* of paths: "/v1.41" */
  guint status;
};

/* What came of one answer. */
struct taking {
  GString *text;
  container_news news; /* NULL: it is kept whole */
  gpointer news_data;
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
  g_autoptr (json_t) line = json_parse_object (blank, strlen (blank), "the engine's news", &taking->error);
  return line && !is_error (line, &taking->error) &&
         (!taking->news || taking->news (taking->news_data, line, &taking->error));
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

static gboolean
take_whole (gpointer data, gboolean yes, const char *bytes, gsize length)
{
  struct taking *taking = data;
  (void)yes;
  if (length > ANSWER_BYTES - taking->text->len) {
    g_set_error_literal (&taking->error, ADDER_ERROR, ADDER_ERROR_FAILED,
                         "the container engine's answer is too long");
    return FALSE;
  }
  g_string_append_len (taking->text, bytes, (gssize)length);
  return TRUE;
}

static gboolean
take_lines (gpointer data, gboolean yes, const char *bytes, gsize length)
{
  return take_whole (data, yes, bytes, length) && (!yes || tell_lines (data));
}

/* ---- how it ends ---- */

static void
set_refusal (const struct container_client *client, const char *text, gsize length, GError **error)
{
  g_autoptr (json_t) answer = json_parse_object (text, length, "the answer", NULL);
  const char *words = answer ? json_member_text (answer, "message") : "";
  g_set_error (error, ADDER_ERROR, client->status == 404 ? ADDER_ERROR_NOT_FOUND : ADDER_ERROR_FAILED,
               "%s: %.*s (status %u)", client->name, WORDS_BYTES, words[0] ? words : "it does not say why",
               client->status);
  error_make_printable (error);
}

static gboolean
set_failure (const struct container_client *client, const struct container_question *question,
             const struct container_answer *answer, GError **error)
{
  if (answer->end == CONTAINER_UNREACHABLE)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "no container engine can be reached at %s: %s",
                 client->socket, answer->err ? g_strerror (answer->err) : answer->reason);
  else if (answer->end == CONTAINER_LATE)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                 "the container engine at %s did not answer within %" G_GUINT64_FORMAT " ms", client->socket,
                 question->timeout_ms);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the connection to the container engine at %s broke off: %s", client->socket,
                 answer->reason);
  return FALSE;
}

static gboolean
ask (struct container_client *client, const struct container_question *question, struct taking *taking,
     GError **error)
{
  struct container_answer answer = client->class->ask (client->transport, question);
  client->status = (guint)MAX (answer.status, 0);
  gboolean yes = client->status >= 200 && client->status <= 299;
  if (taking->error) {
    g_propagate_error (error, g_steal_pointer (&taking->error));
    return FALSE;
  }
  if (answer.end != CONTAINER_ANSWERED)
    return set_failure (client, question, &answer, error);
  /* 304: it is so already. */
  if (!yes && client->status != 304)
    set_refusal (client, taking->text->str, taking->text->len, error);
  return yes || client->status == 304;
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
  g_autofree char *whole = g_strconcat (client->prefix, path, NULL);
  g_autofree char *text = body ? json_to_text (body) : NULL;
  g_autoptr (GString) came = g_string_new (NULL);
  struct taking taking = {.text = came};
  const struct container_question question = {
      .socket = client->socket,
      .method = method,
      .path = whole,
      .type = text ? "application/json" : NULL,
      .body = text,
      .length = text ? strlen (text) : 0,
      .body_fd = -1,
      .timeout_ms = MAX (timeout_ms, 1),
      .took = take_whole,
      .took_data = &taking,
  };
  if (ret_answer)
    *ret_answer = NULL;
  if (!ask (client, &question, &taking, error))
    return FALSE;
  if (!ret_answer || came->len == 0)
    return TRUE;
  *ret_answer = parse_answer (came, error);
  return *ret_answer != NULL;
}

gboolean
container_client_send (struct container_client *client, const char *path, const char *type, int body_fd,
                       guint64 timeout_ms, container_news news, gpointer data, GError **error)
{
  g_autofree char *whole = g_strconcat (client->prefix, path, NULL);
  g_autoptr (GString) came = g_string_new (NULL);
  struct taking taking = {.text = came, .news = news, .news_data = data};
  const struct container_question question = {
      .socket = client->socket,
      .method = "POST",
      .path = whole,
      .type = type,
      .body_fd = body_fd,
      .timeout_ms = MAX (timeout_ms, 1),
      .took = take_lines,
      .took_data = &taking,
  };
  if (!ask (client, &question, &taking, error))
    return FALSE;
  if (tell_line (&taking, came->str, came->len))
    return TRUE;
  g_propagate_error (error, taking.error);
  return FALSE;
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
                 problem ? problem->message : "what listens on the container engine's socket is none");
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
  const struct container_transport_class *class =
      module_load (CONTAINER_TRANSPORT_MODULE, CONTAINER_TRANSPORT_SYMBOL, error);
  if (!class)
    return NULL;
  struct container_client *client = g_new0 (struct container_client, 1);
  client->class = class;
  client->transport = class->open ();
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
  client->class->close (client->transport);
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
