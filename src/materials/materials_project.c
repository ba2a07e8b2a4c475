/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/materials_project.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "common/url.h"
#include "materials/get.h"
#include "models/keys.h"
#include "models/mask.h"
#include "models/private_file.h"

#define KEY_VARIABLE "MP_API_KEY" /* as the project's own client has it */
#define PATH         "/materials/summary/"
#define FIELDS_MAX   60
#define WAIT_US      (G_GINT64_CONSTANT (60) * 1000 * 1000)
#define TRIES        4
#define AGAIN_MS     1000 /* and twice as long each time, where the server does not say */
#define SHOWN_BYTES  200

static const char short_list[] =
    "material_id,formula_pretty,chemsys,elements,nsites,symmetry,volume,density,band_gap,is_gap_direct,is_"
    "metal,"
    "energy_per_atom,formation_energy_per_atom,energy_above_hull,is_stable,theoretical,last_updated";

static gboolean
materials_project_wrong (GError **error, const char *what, const char *text)
{
  g_autofree char *shown = text_one_line (text, 60);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s: \"%s\"", what, shown);
  return FALSE;
}

/* ---- the question ---- */

static gboolean
check_symbols (const char *const *symbols, const char *what, GError **error)
{
  for (guint i = 0; symbols[i]; i++)
    if (i == QUERY_ELEMENTS_MAX || !materials_is_element (symbols[i]))
      return materials_project_wrong (error, what, symbols[i]);
  return TRUE;
}

static gboolean
check_chemsys (const char *chemsys, GError **error)
{
  g_auto (GStrv) symbols = g_strsplit (chemsys, "-", QUERY_ELEMENTS_MAX + 2);
  if (!symbols[0])
    return materials_project_wrong (error, "the chemical system is empty", chemsys);
  return check_symbols (
      (const char *const *)symbols,
      "a chemical system is symbols of elements with \"-\" between them, such as Ti-O; there is no "
      "such element",
      error);
}

static gboolean
check_fields (const char *const *fields, GError **error)
{
  for (guint i = 0; fields[i]; i++) {
    gsize length = strspn (fields[i], "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (i == FIELDS_MAX || !length || length > 64 || fields[i][length])
      return materials_project_wrong (
          error, "fields are at most 60 names of a-z, 0-9 and \"_\", such as band_gap", fields[i]);
  }
  return TRUE;
}

/* Whether NUMBER, which may be NAN, is one that can be asked for. */
static gboolean
materials_project_check_number (double number, const char *what, GError **error)
{
  if (isnan (number) || (number >= 0 && number <= 1000))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is 0 to 1000 eV", what);
  return FALSE;
}

static gboolean
check_formula (const char *formula, GError **error)
{
  g_autofree char *reduced = materials_formula_reduce (formula, error);
  return reduced != NULL;
}

static gboolean
materials_project_check (const struct materials_project_query *query, GError **error)
{
  gboolean has_elements = query->elements && query->elements[0];
  if (!has_elements && !query->formula && !query->chemsys && isnan (query->band_gap_least) &&
      isnan (query->band_gap_most) && isnan (query->energy_above_hull_most)) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_INVALID,
        "the query is empty: name elements, a formula, a chemical system, a band gap or an energy above "
        "the hull");
    return FALSE;
  }
  if (query->limit > MATERIALS_PROJECT_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "at most %d documents can be requested",
                 MATERIALS_PROJECT_MAX);
    return FALSE;
  }
  if (query->band_gap_least > query->band_gap_most) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the least band gap is larger than the largest");
    return FALSE;
  }
  return (!has_elements || check_symbols (query->elements, "there is no such element", error)) &&
         (!query->formula || check_formula (query->formula, error)) &&
         (!query->chemsys || check_chemsys (query->chemsys, error)) &&
         materials_project_check_number (query->band_gap_least, "the least band gap", error) &&
         materials_project_check_number (query->band_gap_most, "the largest band gap", error) &&
         materials_project_check_number (query->energy_above_hull_most, "the most energy above the hull",
                                         error) &&
         (!query->fields || check_fields (query->fields, error));
}

static void
materials_project_add_text (GString *url, const char *name, const char *value)
{
  g_autofree char *escaped = value ? g_uri_escape_string (value, ",", FALSE) : NULL;
  if (escaped)
    g_string_append_printf (url, "%s=%s&", name, escaped);
}

static void
materials_project_add_list (GString *url, const char *name, const char *const *values)
{
  g_autofree char *joined = values && values[0] ? g_strjoinv (",", (char **)(guintptr)values) : NULL;
  materials_project_add_text (url, name, joined);
}

static void
materials_project_add_number (GString *url, const char *name, double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  if (!isnan (number))
    materials_project_add_text (url, name, g_ascii_formatd (text, sizeof text, "%.10g", number));
}

static char *
materials_project_make_url (const struct materials_project_query *query)
{
  const char *base = query->config->materials_project_url;
  gboolean slash = g_str_has_suffix (base, "/");
  GString *url = g_string_new_len (base, (gssize)strlen (base) - slash);
  g_string_append (url, PATH "?");
  materials_project_add_list (url, "elements", query->elements);
  materials_project_add_text (url, "formula", query->formula);
  materials_project_add_text (url, "chemsys", query->chemsys);
  materials_project_add_number (url, "band_gap_min", query->band_gap_least);
  materials_project_add_number (url, "band_gap_max", query->band_gap_most);
  materials_project_add_number (url, "energy_above_hull_max", query->energy_above_hull_most);
  if (query->fields && query->fields[0])
    materials_project_add_list (url, "_fields", query->fields);
  else
    materials_project_add_text (url, "_fields", short_list);
  g_string_append_printf (url, "deprecated=false&_limit=%u", query->limit ? query->limit : SEARCH_LIMIT);
  return g_string_free (url, FALSE);
}

/* ---- the key ---- */

static char *
materials_project_read_key_file (const char *path, GError **error)
{
  gsize length;
  gboolean missing = FALSE;
  g_autofree char *text =
      private_file_read (path, KEY_BYTES_MAX, S_IRWXG | S_IRWXO, &length, &missing, error);
  if (missing)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "there is no file %s, which [materials] project_key_file names", path);
  char *key = text ? keys_clean (text, error) : NULL;
  if (text)
    explicit_bzero (text, length);
  return key;
}

static char *
materials_project_read_key (const struct config *config, GError **error)
{
  g_autoptr (GError) problem = NULL;
  const char *value = g_getenv (KEY_VARIABLE), *file = config->materials_project_key_file;
  if ((value && value[0]) || file) {
    char *key =
        value && value[0] ? keys_clean (value, &problem) : materials_project_read_key_file (file, &problem);
    if (!key)
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the key of the Materials Project: %s",
                   problem->message);
    return key;
  }
  g_set_error (
      error, ADDER_ERROR, ADDER_ERROR_INVALID,
      "the Materials Project answers those alone who have a key of its: it is free at its web site, and "
      "goes into a file of mode 0600 that [materials] project_key_file names, or into the variable %s of "
      "the daemon",
      KEY_VARIABLE);
  return NULL;
}

/* A key goes over the network where nobody can read it, or stays on this machine. */
static gboolean
check_address (const struct config *config, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (config->materials_project_url, G_URI_FLAGS_NONE, NULL);
  if (uri && g_uri_get_host (uri) && url_keeps_secrets (uri) && !g_uri_get_userinfo (uri) &&
      !g_uri_get_query (uri) && !g_uri_get_fragment (uri))
    return TRUE;
  return materials_project_wrong (error, "[materials] project_url must be an https address",
                                  config->materials_project_url);
}

/* ---- the answer ---- */

/* What a server says of what is wrong: {"detail": "..."}, {"detail": [{"msg": "..."}]}, {"message": "..."}.
 */
static char *
server_words (const struct get *get)
{
  g_autoptr (json_t) answer = json_loadb (get->response.body->str, get->response.body->len, 0, NULL);
  const json_t *detail = json_object_get (answer, "detail");
  const char *words = json_string_value (detail);
  if (!words)
    words = json_string_value (json_object_get (json_array_get (detail, 0), "msg"));
  if (!words)
    words = json_string_value (json_object_get (answer, "message"));
  if (!words || !*words)
    return g_strdup ("");
  g_autofree char *masked = mask_parts (get->key, words), *shown = text_one_line (masked, SHOWN_BYTES);
  return g_strconcat (": ", shown, NULL);
}

static const struct {
  long status;
  AdderError code;
  const char *text;
} refusals[] = {
    {401, ADDER_ERROR_REFUSED,
     "the Materials Project refuses the key: look whether it is whole and still holds"},
    {403, ADDER_ERROR_REFUSED,
     "the Materials Project refuses the key: look whether it is whole and still holds"},
    {400, ADDER_ERROR_INVALID, "the Materials Project does not understand the question"},
    {422, ADDER_ERROR_INVALID, "the Materials Project does not understand the question"},
    {404, ADDER_ERROR_NOT_FOUND, "there is no such page at [materials] project_url"},
    {429, ADDER_ERROR_BUSY, "the Materials Project wants fewer questions: ask again later"},
};

static void
refusal (const struct get *get, GError **error)
{
  g_autofree char *words = server_words (get);
  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++)
    if (refusals[i].status == get->response.status) {
      g_set_error (error, ADDER_ERROR, (int)refusals[i].code, "%s (HTTP %ld)%s", refusals[i].text,
                   get->response.status, words);
      return;
    }
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the Materials Project answers with HTTP %ld%s",
               get->response.status, words);
}

static void
no_answer (const struct get *get, GError **error)
{
  if (get_is_late (get))
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT, "the Materials Project did not answer in time");
  else if (get->response.end == HTTP_LONG)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the Materials Project answers with more than %" G_GUINT64_FORMAT
                 " bytes ([materials] page_bytes): ask for fewer documents or fields",
                 get->answer_bytes);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the Materials Project cannot be reached: %s",
                 get->response.reason);
}

/* A new reference. */
static json_t *
materials_project_read_answer (const struct get *get, guint limit, GError **error)
{
  g_autoptr (json_t) answer =
      json_loadb (get->response.body->str, get->response.body->len, JSON_REJECT_DUPLICATES, NULL);
  const json_t *data = json_object_get (answer, "data");
  const json_t *available = json_object_get (json_object_get (answer, "meta"), "total_doc");
  if (!json_is_array (data)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the Materials Project's answer is not what it documents: %s",
                 answer ? "it has no data" : "it is not JSON");
    return NULL;
  }
  json_t *documents = json_array ();
  gsize i;
  json_t *document;
  json_array_foreach ((json_t *)data, i, document)
  {
    if (json_is_object (document) && json_array_size (documents) < limit)
      json_array_append (documents, document);
  }
  g_autoptr (json_t) masked = mask_json (get->key, documents);
  json_decref (documents);
  return json_pack ("{sOsOss}", "documents", masked, "available",
                    json_is_integer (available) ? (json_t *)available : json_null (), "url", get->url);
}

/* ---- the way there and back ---- */

/* FALSE with ERROR where somebody said that it is enough. */
static gboolean
materials_project_pause_ms (gint64 ms, int cancel_fd, GError **error)
{
  struct pollfd cancel = {.fd = cancel_fd, .events = POLLIN};
  if (poll (&cancel, 1, (int)ms) <= 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "cancelled");
  return FALSE;
}

static gboolean
may_try_again (const struct get *get)
{
  return get->response.end == HTTP_ARRIVED && (get->response.status == 429 || get->response.status == 502 ||
                                               get->response.status == 503 || get->response.status == 504);
}

/* Asks until there is an answer that is final. FALSE with ERROR where there is none. */
static gboolean
materials_project_ask (struct http_client *client, struct get *get, int cancel_fd, GError **error)
{
  for (int try = 0;; try++) {
    get_start (client, get);
    gboolean done = http_client_wait (client, get->deadline_us, cancel_fd) != NULL;
    http_client_stop (client, &get->response);
    if (!done && !materials_project_pause_ms (0, cancel_fd, error))
      return FALSE;
    if (!done)
      get->response.end = HTTP_LATE;
    gint64 wait_ms = get->response.again_ms >= 0 ? get->response.again_ms : (gint64)AGAIN_MS << try;
    if (!may_try_again (get) || try + 1 == TRIES ||
        g_get_monotonic_time () + wait_ms * 1000 > get->deadline_us)
      return TRUE;
    if (!materials_project_pause_ms (wait_ms, cancel_fd, error))
      return FALSE;
  }
}

static json_t *
materials_project_fetch (const struct materials_project_query *query, const char *key, const char *url,
                         int cancel_fd, GError **error)
{
  struct http_client *client = http_client_new (error);
  if (!client)
    return NULL;
  struct get get = {.url = url,
                    .key = key,
                    .deadline_us = g_get_monotonic_time () + WAIT_US,
                    .answer_bytes = query->config->materials_page_bytes};
  json_t *result = NULL;
  if (materials_project_ask (client, &get, cancel_fd, error)) {
    if (get.response.end != HTTP_ARRIVED)
      no_answer (&get, error);
    else if (get.response.status != 200)
      refusal (&get, error);
    else
      result = materials_project_read_answer (&get, query->limit ? query->limit : SEARCH_LIMIT, error);
  }
  get_clear (&get);
  http_client_free (client);
  return result;
}

json_t *
materials_project_search (const struct materials_project_query *query, const struct materials_watch *watch,
                          GError **error)
{
  if (!materials_project_check (query, error) || !check_address (query->config, error))
    return NULL;
  g_autofree char *key = materials_project_read_key (query->config, error);
  if (!key)
    return NULL;
  g_autofree char *url = materials_project_make_url (query);
  json_t *result = materials_project_fetch (query, key, url, watch ? watch->cancel_fd : -1, error);
  explicit_bzero (key, strlen (key));
  return result;
}
