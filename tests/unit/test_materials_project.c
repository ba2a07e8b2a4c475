/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the Materials Project's own API, put to a server that answers as it does, and as it should
 * not. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "common/json.h"
#include "materials/materials_project.h"
#include "suite.h"

#define KEY "0123456789abcdef0123456789abcdef"
#define HTTP(status, body)                                                                                   \
  "HTTP/1.1 " status "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" body
#define DOCUMENT "{\"material_id\":\"mp-2657\",\"formula_pretty\":\"TiO2\",\"band_gap\":1.78}"
#define ANSWER                                                                                               \
  HTTP ("200 OK",                                                                                            \
        "{\"data\":[" DOCUMENT "," DOCUMENT "],\"meta\":{\"api_version\":\"0.84\",\"total_doc\":37}}")

/* Answers with one reply after the other, the last one again and again. */
struct double_server {
  int fd;
  struct config config;
  const char *const *replies;
  GString *asked; /* the last request */
  guint count;
  GThread *thread;
};

static gpointer
answer_all (gpointer data)
{
  struct double_server *server = data;
  for (int fd; (fd = accept4 (server->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0; close (fd)) {
    char bytes[4096];
    g_string_truncate (server->asked, 0);
    for (gssize got; !strstr (server->asked->str, "\r\n\r\n") && (got = read (fd, bytes, sizeof bytes)) > 0;)
      g_string_append_len (server->asked, bytes, got);
    const char *reply = server->replies[0];
    if (server->replies[1])
      server->replies++;
    server->count++;
    send (fd, reply, strlen (reply), MSG_NOSIGNAL);
    shutdown (fd, SHUT_WR);
    while (read (fd, bytes, sizeof bytes) > 0)
      ;
  }
  return NULL;
}

static void
double_start (struct double_server *server, const char *const *replies)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  *server = (struct double_server){.replies = replies, .asked = g_string_new (NULL)};
  server->fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (server->fd, (struct sockaddr *)&address, size), ==, 0);
  g_assert_cmpint (listen (server->fd, 8), ==, 0);
  g_assert_cmpint (getsockname (server->fd, (struct sockaddr *)&address, &size), ==, 0);
  server->config.materials_project_url = g_strdup_printf ("http://127.0.0.1:%u/", ntohs (address.sin_port));
  server->config.materials_page_bytes = 4096;
  server->thread = g_thread_new ("double", answer_all, server);
}

static void
double_stop (struct double_server *server)
{
  shutdown (server->fd, SHUT_RDWR);
  g_thread_join (server->thread);
  close (server->fd);
  g_free (server->config.materials_project_url);
  g_string_free (server->asked, TRUE);
}

static struct materials_project_query
nothing (const struct config *config)
{
  return (struct materials_project_query){
      .config = config, .band_gap_least = NAN, .band_gap_most = NAN, .energy_above_hull_most = NAN};
}

static void
assert_error (GError **error, AdderError code, const char *words)
{
  g_assert_error (*error, ADDER_ERROR, (int)code);
  if (!strstr ((*error)->message, words))
    g_error ("\"%s\" does not say \"%s\"", (*error)->message, words);
  g_assert_null (strstr ((*error)->message, KEY));
  g_clear_error (error);
}

static void
test_question (void)
{
  static const char *const replies[] = {ANSWER, NULL}, *const elements[] = {"Ti", "O", NULL};
  struct double_server server;
  double_start (&server, replies);
  struct materials_project_query query = nothing (&server.config);
  query.elements = elements;
  query.formula = "TiO2";
  query.chemsys = "O-Ti";
  query.band_gap_least = 0.5;
  query.band_gap_most = 3;
  query.energy_above_hull_most = 0.05;
  query.limit = 2;
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) result = materials_project_search (&query, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (result);
  g_assert_cmpuint (json_array_size (json_object_get (result, "documents")), ==, 2);
  g_assert_cmpint (json_integer_value (json_object_get (result, "available")), ==, 37);
  g_assert_true (g_str_has_prefix (
      server.asked->str, "GET /materials/summary/?elements=Ti,O&formula=TiO2&chemsys=O-Ti&band_gap_min=0.5&"
                         "band_gap_max=3&energy_above_hull_max=0.05&_fields=material_id,"));
  g_assert_nonnull (strstr (server.asked->str, "&deprecated=false&_limit=2 HTTP/1.1\r\n"));
  g_autofree char *lower = g_ascii_strdown (server.asked->str, -1);
  g_assert_nonnull (strstr (lower, "\r\nx-api-key: " KEY "\r\n"));
  g_assert_null (strstr (json_member_text (result, "url"), KEY));
  double_stop (&server);
}

static void
test_fields (void)
{
  static const char *const replies[] = {ANSWER, NULL}, *const fields[] = {"material_id", "band_gap", NULL};
  struct double_server server;
  double_start (&server, replies);
  struct materials_project_query query = nothing (&server.config);
  query.formula = "TiO2";
  query.fields = fields;
  query.limit = 1;
  g_autoptr (json_t) result = materials_project_search (&query, NULL, NULL);
  g_assert_nonnull (strstr (server.asked->str, "&_fields=material_id,band_gap&"));
  /* more than were asked for are not taken */
  g_assert_cmpuint (json_array_size (json_object_get (result, "documents")), ==, 1);
  double_stop (&server);
}

static const struct {
  const char *reply;
  AdderError code;
  const char *words;
} refusals[] = {
    {HTTP ("403 Forbidden", "{\"message\":\"Invalid key " KEY "\"}"), ADDER_ERROR_REFUSED, "refuses the key"},
    {HTTP ("401 Unauthorized", "{\"message\":\"No API key found in request\"}"), ADDER_ERROR_REFUSED,
     "No API key found"},
    {HTTP ("422 Unprocessable", "{\"detail\":[{\"loc\":[\"query\",\"formula\"],\"msg\":\"bad formula\"}]}"),
     ADDER_ERROR_INVALID, "bad formula"},
    {HTTP ("400 Bad", "{\"detail\":\"no such field\\u001b[2J\"}"), ADDER_ERROR_INVALID, "no such field\\x1b"},
    {HTTP ("404 Not Found", "<html>"), ADDER_ERROR_NOT_FOUND, "project_url"},
    {HTTP ("500 Error", ""), ADDER_ERROR_FAILED, "HTTP 500"},
    {HTTP ("301 Moved", ""), ADDER_ERROR_FAILED, "HTTP 301"},
    {HTTP ("200 OK", "<html>hello</html>"), ADDER_ERROR_FAILED, "not JSON"},
    {HTTP ("200 OK", "{\"meta\":{}}"), ADDER_ERROR_FAILED, "no data"},
    {HTTP ("200 OK", "[]"), ADDER_ERROR_FAILED, "no data"},
    {HTTP ("200 OK", "{\"data\":{}}"), ADDER_ERROR_FAILED, "no data"},
    {"nonsense\r\n\r\n", ADDER_ERROR_FAILED, "cannot be reached"},
};

static void
test_refusals (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++) {
    const char *const replies[] = {refusals[i].reply, NULL};
    struct double_server server;
    double_start (&server, replies);
    struct materials_project_query query = nothing (&server.config);
    query.formula = "TiO2";
    g_autoptr (GError) error = NULL;
    g_test_message ("%s", refusals[i].words);
    g_assert_null (materials_project_search (&query, NULL, &error));
    assert_error (&error, refusals[i].code, refusals[i].words);
    g_assert_cmpuint (server.count, ==, 1);
    double_stop (&server);
  }
}

static void
test_long_answer (void)
{
  g_autofree char *blanks = g_strnfill (8192, ' '), *reply = g_strconcat (HTTP ("200 OK", ""), blanks, NULL);
  const char *const replies[] = {reply, NULL};
  struct double_server server;
  double_start (&server, replies);
  struct materials_project_query query = nothing (&server.config);
  query.formula = "TiO2";
  g_autoptr (GError) error = NULL;
  g_assert_null (materials_project_search (&query, NULL, &error));
  assert_error (&error, ADDER_ERROR_FAILED, "page_bytes");
  double_stop (&server);
}

/* A server that is busy is asked again when it says so. */
static void
test_again (void)
{
  static const char *const replies[] = {"HTTP/1.1 429 Slow\r\nRetry-After: 0\r\nConnection: close\r\n\r\n",
                                        "HTTP/1.1 503 Down\r\nRetry-After: 0\r\nConnection: close\r\n\r\n",
                                        ANSWER, NULL};
  struct double_server server;
  double_start (&server, replies);
  struct materials_project_query query = nothing (&server.config);
  query.formula = "TiO2";
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) result = materials_project_search (&query, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (result);
  g_assert_cmpuint (server.count, ==, 3);
  double_stop (&server);
}

static void
test_never (void)
{
  static const char *const replies[] = {
      "HTTP/1.1 429 Slow\r\nRetry-After: 86400\r\nConnection: close\r\n\r\n", NULL};
  struct double_server server;
  double_start (&server, replies);
  struct materials_project_query query = nothing (&server.config);
  query.formula = "TiO2";
  g_autoptr (GError) error = NULL;
  g_assert_null (materials_project_search (&query, NULL, &error));
  assert_error (&error, ADDER_ERROR_BUSY, "ask again later");
  g_assert_cmpuint (server.count, ==, 1);
  double_stop (&server);
}

static void
test_cancelled (void)
{
  int ends[2];
  static const char *const replies[] = {"HTTP/1.1 429 Slow\r\nRetry-After: 30\r\nConnection: close\r\n\r\n",
                                        NULL};
  struct double_server server;
  double_start (&server, replies);
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  close (ends[1]);
  struct materials_project_query query = nothing (&server.config);
  const struct materials_watch watch = {.cancel_fd = ends[0]};
  query.formula = "TiO2";
  g_autoptr (GError) error = NULL;
  g_assert_null (materials_project_search (&query, &watch, &error));
  assert_error (&error, ADDER_ERROR_CANCELLED, "cancelled");
  close (ends[0]);
  double_stop (&server);
}

/* Nothing is asked where the question is none. */
static void
test_bad_questions (void)
{
  static const char *const xx[] = {"Ti", "Xx", NULL}, *const odd[] = {"band gap", NULL},
                           *const none[] = {NULL}, *const escape[] = {"a&_limit=1", NULL};
  struct config config = {.materials_project_url = (char *)"https://127.0.0.1:1"};
  const struct {
    struct materials_project_query query;
    const char *words;
  } questions[] = {
      {{.band_gap_least = NAN, .band_gap_most = NAN}, "the query is empty"},
      {{.band_gap_least = NAN, .band_gap_most = NAN, .elements = none}, "the query is empty"},
      {{.band_gap_least = NAN, .band_gap_most = NAN, .elements = xx}, "no such element: \"Xx\""},
      {{.band_gap_least = NAN, .band_gap_most = NAN, .formula = "tio2"}, "formula"},
      {{.band_gap_least = NAN, .band_gap_most = NAN, .formula = "TiO2&x=1"}, "formula"},
      {{.band_gap_least = NAN, .band_gap_most = NAN, .chemsys = "Ti-"}, "chemical system"},
      {{.band_gap_least = NAN, .band_gap_most = NAN, .chemsys = ""}, "chemical system"},
      {{.band_gap_least = NAN, .band_gap_most = NAN, .chemsys = "Ti,O"}, "chemical system"},
      {{.band_gap_least = 3, .band_gap_most = 1}, "larger"},
      {{.band_gap_least = -1, .band_gap_most = 1}, "0 to 1000"},
      {{.band_gap_least = NAN, .band_gap_most = INFINITY}, "0 to 1000"},
      {{.band_gap_least = NAN, .band_gap_most = 1, .fields = odd}, "band gap"},
      {{.band_gap_least = NAN, .band_gap_most = 1, .fields = escape}, "fields"},
      {{.band_gap_least = NAN, .band_gap_most = 1, .limit = 1001}, "at most 1000"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (questions); i++) {
    struct materials_project_query query = questions[i].query;
    g_autoptr (GError) error = NULL;
    query.config = &config;
    query.energy_above_hull_most = NAN;
    g_assert_null (materials_project_search (&query, NULL, &error));
    assert_error (&error, ADDER_ERROR_INVALID, questions[i].words);
  }
}

static void
test_addresses (void)
{
  static const char *const addresses[] = {
      "http://api.example",      "ftp://127.0.0.1", "https://u:p@api.example", "x", "",
      "https://api.example/?x=1"};
  for (gsize i = 0; i < G_N_ELEMENTS (addresses); i++) {
    struct config config = {.materials_project_url = (char *)(guintptr)addresses[i]};
    struct materials_project_query query = nothing (&config);
    query.formula = "TiO2";
    g_autoptr (GError) error = NULL;
    g_assert_null (materials_project_search (&query, NULL, &error));
    assert_error (&error, ADDER_ERROR_INVALID, "project_url");
  }
}

static void
test_keys (void)
{
  static const char *const replies[] = {ANSWER, NULL};
  struct double_server server;
  double_start (&server, replies);
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp (NULL, NULL), *path = g_build_filename (folder, "key", NULL);
  struct materials_project_query query = nothing (&server.config);
  query.formula = "TiO2";
  g_unsetenv ("MP_API_KEY");
  g_assert_null (materials_project_search (&query, NULL, &error));
  assert_error (&error, ADDER_ERROR_INVALID, "project_key_file");
  server.config.materials_project_key_file = path;
  g_assert_null (materials_project_search (&query, NULL, &error));
  assert_error (&error, ADDER_ERROR_INVALID, path);
  g_assert_true (g_file_set_contents (path, KEY "\n", -1, NULL));
  g_assert_cmpint (g_chmod (path, 0644), ==, 0);
  g_assert_null (materials_project_search (&query, NULL, &error));
  assert_error (&error, ADDER_ERROR_INVALID, "chmod 600");
  g_assert_cmpint (g_chmod (path, 0600), ==, 0);
  g_autoptr (json_t) result = materials_project_search (&query, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (result);
  g_assert_nonnull (strstr (server.asked->str, KEY));
  g_unlink (path);
  g_rmdir (folder);
  g_setenv ("MP_API_KEY", KEY, TRUE);
  double_stop (&server);
}

UNIT_SUITE (materials_project)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("MP_API_KEY", KEY, TRUE);
  g_test_add_func ("/materials/project/question", test_question);
  g_test_add_func ("/materials/project/fields", test_fields);
  g_test_add_func ("/materials/project/refusals", test_refusals);
  g_test_add_func ("/materials/project/long", test_long_answer);
  g_test_add_func ("/materials/project/again", test_again);
  g_test_add_func ("/materials/project/never", test_never);
  g_test_add_func ("/materials/project/cancelled", test_cancelled);
  g_test_add_func ("/materials/project/bad_questions", test_bad_questions);
  g_test_add_func ("/materials/project/addresses", test_addresses);
  g_test_add_func ("/materials/project/keys", test_keys);
  return g_test_run ();
}
