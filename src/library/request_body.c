/* SPDX-License-Identifier: Apache-2.0 */
/* From the body of a run to the request: the rows of request_fields that are marked for it, and here those
 * for which that does not do. Fields with a place are put there; the others have a setter. */
#include <string.h>

#include "common/field_rows.h"
#include "common/json.h"
#include "library/request_private.h"

/* clang-format off */
#define AT(field_name, member) \
  {.name = (field_name), .types = FIELD_TEXT, .optional = TRUE, FIELD_AT (struct adder_request, member)}
#define SET(field_name, of) {.name = (field_name), .types = (of), .optional = TRUE}

static const struct field stored_fields[] = {
    MUST_TEXT ("file_id"),
    SET ("name", FIELD_TEXT), /* null: the file's own */
    {.name = "place", .types = FIELD_TEXT, .optional = TRUE, .standard = "\"work\""},
    {0},
};
static const struct field workdir_fields[] = {MUST_TEXT ("path"), MUST_TEXT ("mode"), {0}};

/* What a body has beside the members of request_fields that are marked for it. */
static const struct field other_fields[] = {
    AT ("isolation", isolation),
    AT ("role", asked.origin.role),
    AT ("approval", approval),
    AT ("tables", tables),
    SET ("conversation", FIELD_TEXT),
    SET ("description", FIELD_TEXT),
    SET ("wait", FIELD_BOOLEAN),
    SET ("values", FIELD_OBJECT),
    SET ("analysis", FIELD_OBJECT),
    {.name = "variables", .types = FIELD_OBJECT, .items = FIELD_TEXT, .optional = TRUE},
    {.name = "limits", .types = FIELD_OBJECT, .items = FIELD_INTEGER, .optional = TRUE},
    {.name = "files", .types = FIELD_LIST, .items = FIELD_TEXT, .optional = TRUE},
    {.name = "stored", .types = FIELD_LIST, .items = FIELD_OBJECT, .members = stored_fields, .optional = TRUE},
    SET ("stdin", FIELD_BOOLEAN),
    {.name = "workdir", .types = FIELD_OBJECT, .members = workdir_fields, .optional = TRUE},
    SET ("save", FIELD_BOOLEAN),
    SET ("force", FIELD_BOOLEAN),
    {0},
};
/* clang-format on */

G_STATIC_ASSERT (offsetof (struct adder_request, asked) == 0);

static gpointer
join_fields (G_GNUC_UNUSED gpointer data)
{
  GArray *fields = g_array_new (TRUE, TRUE, sizeof (struct field));
  for (const struct field *field = request_fields; field->name; field++)
    if (field->marks & REQUEST_BODY)
      g_array_append_vals (fields, field, 1);
  for (const struct field *field = other_fields; field->name; field++)
    g_array_append_vals (fields, field, 1);
  return g_array_free (fields, FALSE);
}

/* Both, made once. */
static const struct field *
body_fields (void)
{
  static GOnce once = G_ONCE_INIT;
  return g_once (&once, join_fields, NULL);
}

gboolean
library_request_has (const char *name)
{
  return field_find (body_fields (), name) != NULL;
}

struct reading {
  AdderRequest *request;
  const int *fds;
  gsize fd_count, next_fd;
};

static gboolean
next_fd (struct reading *reading, const char *field, int *ret_fd, GError **error)
{
  if (reading->next_fd >= reading->fd_count) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "no descriptor came with the request for %s",
                 field);
    return FALSE;
  }
  *ret_fd = reading->fds[reading->next_fd++];
  return TRUE;
}

static gboolean
set_description (struct reading *reading, const json_t *value, G_GNUC_UNUSED GError **error)
{
  adder_request_set_description (reading->request, json_string_value (value));
  return TRUE;
}

/* A cell waits for its turn unless it says otherwise. */
static gboolean
set_wait (struct reading *reading, const json_t *value, GError **error)
{
  struct run_request *asked = &reading->request->asked;
  if (!asked->session && !json_is_null (value)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the field wait of the request needs a session");
    return FALSE;
  }
  asked->session_wait = asked->session && !json_is_false (value);
  return TRUE;
}

static gboolean
set_values (struct reading *reading, const json_t *value, GError **error)
{
  const char *name;
  json_t *item;
  json_object_foreach ((json_t *)(guintptr)value, name, item)
  {
    if (!library_set_value (reading->request, name, item, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
set_analysis (struct reading *reading, const json_t *value, GError **error)
{
  return json_is_null (value) || library_set_analysis (reading->request, (json_t *)(guintptr)value, error);
}

static gboolean
set_variables (struct reading *reading, const json_t *value, G_GNUC_UNUSED GError **error)
{
  const char *name;
  json_t *item;
  json_object_foreach ((json_t *)(guintptr)value, name, item)
  {
    adder_request_set_variable (reading->request, name, json_string_value (item));
  }
  return TRUE;
}

static gboolean
set_limits (struct reading *reading, const json_t *value, GError **error)
{
  const char *name;
  json_t *item;
  json_object_foreach ((json_t *)(guintptr)value, name, item)
  {
    gint64 limit = (gint64)json_integer_value (item);
    if (limit < 0) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the request: a limit must be at least 0");
      return FALSE;
    }
    if (!adder_request_set_limit (reading->request, name, (guint64)limit, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_files (struct reading *reading, const json_t *value, GError **error)
{
  gsize i;
  json_t *item;
  json_array_foreach (value, i, item)
  {
    int fd;
    const char *name = json_string_value (item);
    if (!next_fd (reading, name, &fd, error) || !adder_request_add_file (reading->request, name, fd, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_stored (struct reading *reading, const json_t *value, GError **error)
{
  gsize i;
  json_t *item;
  json_array_foreach (value, i, item)
  {
    if (!adder_request_add_stored_file (reading->request,
                                        json_string_value (json_object_get (item, "file_id")),
                                        json_string_value (json_object_get (item, "name")),
                                        json_string_value (json_object_get (item, "place")), error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
set_stdin (struct reading *reading, const json_t *value, GError **error)
{
  int fd;
  if (!json_is_true (value))
    return TRUE;
  if (!next_fd (reading, "standard input", &fd, error))
    return FALSE;
  adder_request_set_stdin (reading->request, fd);
  return TRUE;
}

static gboolean
set_workdir (struct reading *reading, const json_t *value, GError **error)
{
  int fd;
  return json_is_null (value) ||
         (next_fd (reading, "the work directory", &fd, error) &&
          adder_request_set_workdir (reading->request, fd,
                                     json_string_value (json_object_get (value, "path")),
                                     json_string_value (json_object_get (value, "mode")), error));
}

static gboolean
set_save (struct reading *reading, const json_t *value, GError **error)
{
  int fd;
  return !json_is_true (value) || next_fd (reading, "the directory to save to", &fd, error);
}

/* In this order: it is the order of the descriptors. */
static const struct {
  const char *name;
  gboolean (*set) (struct reading *reading, const json_t *value, GError **error);
} setters[] = {
    {"description", set_description},
    {"wait", set_wait},
    {"values", set_values},
    {"analysis", set_analysis},
    {"variables", set_variables},
    {"limits", set_limits},
    {"files", add_files},
    {"stored", add_stored},
    {"stdin", set_stdin},
    {"workdir", set_workdir},
    {"save", set_save},
};

static gboolean
set_all (struct reading *reading, const json_t *body, GError **error)
{
  field_fill (body_fields (), body, reading->request);
  for (gsize i = 0; i < G_N_ELEMENTS (setters); i++)
    if (!setters[i].set (reading, json_object_get (body, setters[i].name), error))
      return FALSE;
  if (reading->next_fd == reading->fd_count)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "%zu descriptors came with the request, but it speaks of %zu", reading->fd_count,
               reading->next_fd);
  return FALSE;
}

AdderRequest *
library_request_read (const char *code, gsize code_length, const json_t *body, const int *fds, gsize fd_count,
                      GError **error)
{
  g_autoptr (json_t) checked = field_check (body_fields (), "the request", body, error);
  if (!checked)
    return NULL;
  g_autoptr (AdderRequest) request = adder_request_new (code, (gssize)code_length);
  struct reading reading = {request, fds, fd_count, 0};
  return set_all (&reading, checked, error) ? g_steal_pointer (&request) : NULL;
}
