/* SPDX-License-Identifier: Apache-2.0 */
/* From the body of a run on the local socket to the library's request: one table of fields. */
#include "frontends/submission.h"

#include <string.h>

#include "base/fd.h"
#include "common/json.h"

void
submission_init (struct submission *request)
{
  memset (request, 0, sizeof *request);
  request->body = json_object ();
}

void
submission_clear (struct submission *request)
{
  g_clear_pointer (&request->body, json_decref);
  g_clear_pointer (&request->code, g_free);
  for (gsize i = 0; i < request->fd_count; i++)
    fd_close (&request->fds[i]);
  request->fd_count = 0;
}

gboolean
submission_take_fd (struct submission *request, int *fd, GError **error)
{
  if (request->fd_count >= G_N_ELEMENTS (request->fds)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "more than %d files cannot go into one run",
                 PROTOCOL_FDS_MAX - 2);
    return FALSE;
  }
  request->fds[request->fd_count++] = fd_steal (fd);
  return TRUE;
}

/* ---- fields ---- */

struct building {
  const struct submission *request;
  AdderRequest *result;
  gsize next_fd;
};

gboolean
submission_wrong_type (const char *field, const char *wanted, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the field %s of the request must be %s", field,
               wanted);
  return FALSE;
}

static gboolean
next_fd (struct building *building, const char *field, int *ret_fd, GError **error)
{
  if (building->next_fd >= building->request->fd_count) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "no descriptor came with the request for %s",
                 field);
    return FALSE;
  }
  *ret_fd = building->request->fds[building->next_fd++];
  return TRUE;
}

static gboolean
set_arguments (struct building *building, const json_t *value, GError **error)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  if (!json_is_array (value))
    return submission_wrong_type ("arguments", "a list of texts", error);
  gsize i;
  json_t *item;
  json_array_foreach (value, i, item)
  {
    if (!json_is_string (item))
      return submission_wrong_type ("arguments", "a list of texts", error);
    g_ptr_array_add (texts, (char *)json_string_value (item));
  }
  g_ptr_array_add (texts, NULL);
  adder_request_set_arguments (building->result, (const char *const *)texts->pdata);
  return TRUE;
}

static gboolean
set_variables (struct building *building, const json_t *value, GError **error)
{
  if (!json_is_object (value))
    return submission_wrong_type ("variables", "an object of texts", error);
  const char *name;
  json_t *item;
  json_object_foreach ((json_t *)value, name, item)
  {
    if (!json_is_string (item))
      return submission_wrong_type ("variables", "an object of texts", error);
    adder_request_set_variable (building->result, name, json_string_value (item));
  }
  return TRUE;
}

static gboolean
set_limits (struct building *building, const json_t *value, GError **error)
{
  if (!json_is_object (value))
    return submission_wrong_type ("limits", "an object of numbers", error);
  const char *name;
  json_t *item;
  json_object_foreach ((json_t *)value, name, item)
  {
    if (!json_is_integer (item) || json_integer_value (item) < 0)
      return submission_wrong_type ("limits", "an object of numbers", error);
    if (!adder_request_set_limit (building->result, name, (guint64)json_integer_value (item), error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_files (struct building *building, const json_t *value, GError **error)
{
  if (!json_is_array (value))
    return submission_wrong_type ("files", "a list of texts", error);
  gsize i;
  json_t *item;
  json_array_foreach (value, i, item)
  {
    int fd;
    if (!json_is_string (item))
      return submission_wrong_type ("files", "a list of texts", error);
    if (!next_fd (building, json_string_value (item), &fd, error) ||
        !adder_request_add_file (building->result, json_string_value (item), fd, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_text_or_null (const json_t *value)
{
  return !value || json_is_null (value) || json_is_string (value);
}

/* {"file_id", "name", "place"}; a name that is null is the file's own, a place that is null is "work". */
static gboolean
add_stored (struct building *building, const json_t *value, GError **error)
{
  static const char wanted[] = "a list of objects with file_id, name and place, all text";
  gsize i;
  json_t *item;
  if (!json_is_array (value))
    return submission_wrong_type ("stored", wanted, error);
  json_array_foreach (value, i, item)
  {
    const json_t *id = json_object_get (item, "file_id"), *name = json_object_get (item, "name");
    const json_t *place = json_object_get (item, "place");
    gsize members = 1 + (name != NULL) + (place != NULL);
    if (!json_is_string (id) || !is_text_or_null (name) || !is_text_or_null (place) ||
        json_object_size (item) != members)
      return submission_wrong_type ("stored", wanted, error);
    if (!adder_request_add_stored_file (building->result, json_string_value (id), json_string_value (name),
                                        json_is_string (place) ? json_string_value (place) : "work", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
set_stdin (struct building *building, const json_t *value, GError **error)
{
  int fd;
  if (!json_is_boolean (value))
    return submission_wrong_type ("stdin", "true or false", error);
  if (json_is_false (value))
    return TRUE;
  if (!next_fd (building, "standard input", &fd, error))
    return FALSE;
  adder_request_set_stdin (building->result, fd);
  return TRUE;
}

/* {"path", "mode"}. */
static gboolean
set_workdir (struct building *building, const json_t *value, GError **error)
{
  const char *path = json_string_value (json_object_get (value, "path"));
  const char *mode = json_string_value (json_object_get (value, "mode"));
  int fd;
  if (!path || !mode || json_object_size (value) != 2)
    return submission_wrong_type ("workdir", "an object with path and mode, both text", error);
  return next_fd (building, "the work directory", &fd, error) &&
         adder_request_set_workdir (building->result, fd, path, mode, error);
}

static gboolean
set_force (G_GNUC_UNUSED struct building *building, const json_t *value, GError **error)
{
  return json_is_boolean (value) || submission_wrong_type ("force", "true or false", error);
}

static gboolean
set_save (struct building *building, const json_t *value, GError **error)
{
  int fd;
  if (!json_is_boolean (value))
    return submission_wrong_type ("save", "true or false", error);
  return json_is_false (value) || next_fd (building, "the directory to save to", &fd, error);
}

/* With "wait", which says nothing by itself. */
static gboolean
set_session (struct building *building, const json_t *value, GError **error)
{
  const json_t *wait = json_object_get (building->request->body, "wait");
  if (!json_is_string (value))
    return submission_wrong_type ("session", "text", error);
  if (wait && !json_is_boolean (wait) && !json_is_null (wait))
    return submission_wrong_type ("wait", "true or false", error);
  adder_request_set_session (building->result, json_string_value (value), !json_is_false (wait));
  return TRUE;
}

static gboolean
set_wait (struct building *building, const json_t *value, GError **error)
{
  (void)value;
  if (json_is_string (json_object_get (building->request->body, "session")))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the field wait of the request needs a session");
  return FALSE;
}

static gboolean
set_svg (struct building *building, const json_t *value, GError **error)
{
  if (!json_is_boolean (value))
    return submission_wrong_type ("svg", "true or false", error);
  adder_request_set_svg (building->result, json_is_true (value));
  return TRUE;
}

static gboolean
set_check (struct building *building, const json_t *value, GError **error)
{
  if (!json_is_boolean (value))
    return submission_wrong_type ("check", "true or false", error);
  adder_request_set_check (building->result, json_is_true (value));
  return TRUE;
}

static gboolean
set_values (struct building *building, const json_t *value, GError **error)
{
  if (!json_is_object (value))
    return submission_wrong_type ("values", "an object", error);
  const char *name;
  json_t *item;
  json_object_foreach ((json_t *)value, name, item)
  {
    g_autofree char *text = json_to_text (item);
    if (!adder_request_set_value (building->result, name, text, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
set_analysis (struct building *building, const json_t *value, GError **error)
{
  g_autofree char *text = json_to_text (value);
  return adder_request_set_analysis (building->result, text, error);
}

static gboolean
set_accept_all (struct building *building, const json_t *value, GError **error)
{
  if (!json_is_boolean (value))
    return submission_wrong_type ("accept_all", "true or false", error);
  adder_request_set_accept_all (building->result, json_is_true (value));
  return TRUE;
}

struct field {
  const char *name;
  void (*set_text) (AdderRequest *request, const char *text); /* for a text or null; otherwise: */
  gboolean (*set) (struct building *building, const json_t *value, GError **error);
};

/* In this order: it is the order of the descriptors. "conversation" goes with the owner, whom the body does
 * not choose. */
static const struct field field_table[] = {
    {"name", adder_request_set_name, NULL},
    {"environment", adder_request_set_environment, NULL},
    {"profile", adder_request_set_profile, NULL},
    {"isolation", adder_request_set_isolation, NULL},
    {"role", adder_request_set_role, NULL},
    {"conversation", NULL, NULL},
    {"description", adder_request_set_description, NULL},
    {"approval", adder_request_set_approval, NULL},
    {"accept_all", NULL, set_accept_all},
    {"session", NULL, set_session},
    {"wait", NULL, set_wait},
    {"svg", NULL, set_svg},
    {"tables", adder_request_set_tables, NULL},
    {"check", NULL, set_check},
    {"values", NULL, set_values},
    {"analysis", NULL, set_analysis},
    {"arguments", NULL, set_arguments},
    {"variables", NULL, set_variables},
    {"limits", NULL, set_limits},
    {"files", NULL, add_files},
    {"stored", NULL, add_stored},
    {"stdin", NULL, set_stdin},
    {"workdir", NULL, set_workdir},
    {"save", NULL, set_save},
    {"force", NULL, set_force},
};

static gboolean
set_field (struct building *building, const struct field *field, GError **error)
{
  const json_t *value = json_object_get (building->request->body, field->name);
  if (!value || json_is_null (value))
    return TRUE;
  if (field->set)
    return field->set (building, value, error);
  if (!json_is_string (value))
    return submission_wrong_type (field->name, "text", error);
  if (field->set_text)
    field->set_text (building->result, json_string_value (value));
  return TRUE;
}

static gboolean
check_names (const json_t *body, GError **error)
{
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)body, name, value)
  {
    gsize i = 0;
    while (i < G_N_ELEMENTS (field_table) && strcmp (field_table[i].name, name) != 0)
      i++;
    if (i == G_N_ELEMENTS (field_table)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the request has the unknown field \"%s\"", name);
      return FALSE;
    }
  }
  return TRUE;
}

AdderRequest *
submission_build (const struct submission *request, GError **error)
{
  if (!check_names (request->body, error))
    return NULL;
  g_autoptr (AdderRequest) result =
      adder_request_new (request->code ? request->code : "", (gssize)request->code_length);
  adder_request_set_origin (result, "cli", NULL, NULL);
  struct building building = {request, result, 0};
  for (gsize i = 0; i < G_N_ELEMENTS (field_table); i++)
    if (!set_field (&building, &field_table[i], error))
      return NULL;
  if (building.next_fd != request->fd_count) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%zu descriptors came with the request, but it speaks of %zu", request->fd_count,
                 building.next_fd);
    return NULL;
  }
  return g_steal_pointer (&result);
}

int
submission_directory (const struct submission *request)
{
  gboolean save = json_is_true (json_object_get (request->body, "save"));
  return save && request->fd_count > 0 ? request->fds[request->fd_count - 1] : -1;
}

json_t *
submission_save (const struct submission *request, const AdderResult *result, GError **error)
{
  g_autofree char *text = NULL;
  adder_result_save_files (result, submission_directory (request),
                           json_is_true (json_object_get (request->body, "force")), &text, error);
  return json_loads (text, 0, NULL);
}
