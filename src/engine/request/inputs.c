/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request/inputs.h"

#include <string.h>
#include <sys/stat.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/log.h"
#include "common/text.h"
#include "engine/files/bind_mount.h"
#include "engine/files/workspace.h"
#include "engine/request/request.h"
#include "runner/wire.h"

static const struct {
  const char *name;
  enum mounts_bind bind;
  const char *made; /* a directory that exists from the start */
} places[INPUT_PLACES] = {
    [INPUT_WORK] = {"work", MOUNTS_INPUTS_WORK, NULL},
    [INPUT_TMP] = {"tmp", MOUNTS_INPUTS_TMP, "output"},
};

void
input_clear (struct input *input)
{
  g_free (input->name);
  g_free (input->sha256);
  g_free (input->key);
  g_free (input->copied_for);
  fd_close (&input->fd);
}

struct input
input_describe (const struct input *input)
{
  return (struct input){
      .name = g_strdup (input->name),
      .fd = -1,
      .place = input->place,
      .bytes = input->bytes,
      .sha256 = g_strdup (input->sha256),
      .key = g_strdup (input->key),
  };
}

GArray *
inputs_new (void)
{
  GArray *inputs = g_array_new (FALSE, TRUE, sizeof (struct input));
  g_array_set_clear_func (inputs, (GDestroyNotify)input_clear);
  return inputs;
}

GArray *
inputs_copy (const GArray *inputs)
{
  GArray *copy = inputs_new ();
  for (guint i = 0; inputs && i < inputs->len; i++) {
    struct input input = input_describe (&g_array_index (inputs, struct input, i));
    g_array_append_val (copy, input);
  }
  return copy;
}

void
inputs_replace (GArray *inputs, struct input *input)
{
  for (guint i = 0; i < inputs->len; i++) {
    const struct input *other = &g_array_index (inputs, struct input, i);
    if (other->place == input->place && strcmp (other->name, input->name) == 0)
      g_array_remove_index (inputs, i--);
  }
  g_array_append_vals (inputs, input, 1);
  *input = (struct input){.fd = -1};
}

const char *
input_place_name (enum input_place place)
{
  return places[place].name;
}

gboolean
input_place_parse (const char *text, enum input_place *ret_place, GError **error)
{
  for (gsize i = 0; i < INPUT_PLACES; i++)
    if (strcmp (text, places[i].name) == 0) {
      *ret_place = (enum input_place)i;
      return TRUE;
    }
  g_autofree char *shown = text_one_line (text, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "\"%s\" is no place for a file; there are \"work\" (/work) and \"tmp\" (/tmp)", shown);
  return FALSE;
}

/* ---- checking ---- */

static gboolean
inputs_invalid (GError **error, const struct input *input, const char *fault)
{
  g_autofree char *shown = text_one_line (input->name, -1);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "/%s/%s %s", places[input->place].name, shown, fault);
  return FALSE;
}

static gboolean
inputs_check_place (const struct run_request *request, const struct input *input, GError **error)
{
  const char *made = places[input->place].made;
  if (made && strcmp (input->name, made) == 0)
    return inputs_invalid (error, input,
                           "cannot be a file: a directory of that name is there; give it another name");
  /* The directory is the caller's own: other files would have to be written into it. */
  if (input->place == INPUT_WORK && request->workdir.fd >= 0) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_INVALID,
        "files cannot be put into a work directory: copy them there, or leave the work directory out");
    return FALSE;
  }
  return TRUE;
}

gboolean
inputs_check (const struct run_request *request, GError **error)
{
  g_autoptr (GHashTable) stored = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < request->files->len; i++) {
    const struct input *input = &g_array_index (request->files, struct input, i);
    if (!inputs_check_place (request, input, error))
      return FALSE;
    if (!input->sha256)
      continue;
    /* Which of the two files is visible would depend on how each is provided. */
    g_autofree char *path = g_strconcat (places[input->place].name, "/", input->name, NULL);
    if (!g_hash_table_add (stored, g_steal_pointer (&path)))
      return inputs_invalid (error, input, "would be two files: give one of them another name");
  }
  if (g_hash_table_size (stored) == 0)
    return TRUE;
  for (guint i = 0; i < request->files->len; i++) {
    const struct input *input = &g_array_index (request->files, struct input, i);
    g_autofree char *path = g_strconcat (places[input->place].name, "/", input->name, NULL);
    if (!input->sha256 && g_hash_table_contains (stored, path))
      return inputs_invalid (error, input, "would be two files: give one of them another name");
  }
  return TRUE;
}

/* ---- bind mounts ---- */

/* Whether the two paths are equal, or one lies inside the other. */
static gboolean
collide (const struct input *a, const struct input *b)
{
  gsize length = MIN (strlen (a->name), strlen (b->name));
  return a->place == b->place && strncmp (a->name, b->name, length) == 0 &&
         (a->name[length] == '\0' || a->name[length] == '/') &&
         (b->name[length] == '\0' || b->name[length] == '/');
}

static gboolean
inputs_refuse (GError **error, const char *why)
{
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, why);
  return FALSE;
}

/* Whether the file at INDEX, in PATH, is compatible with everything else in SPEC. */
static gboolean
inputs_check_room (const struct run_request *request, guint index, const char *path,
                   const struct sandbox_spec *spec, GError **error)
{
  const struct input *input = &g_array_index (request->files, struct input, index);
  if (spec->files && spec->files->len == MOUNTS_FILES)
    return inputs_refuse (error, "the run already has the maximum number of bind-mounted files");
  if (strlen (path) >= WIRE_FILE_PATH_BYTES)
    return inputs_refuse (error, "its name is too long for a file that is bind-mounted");
  /* Copying one after the other decides which of the two is visible. */
  for (guint i = 0; i < request->files->len; i++)
    if (i != index && collide (&g_array_index (request->files, struct input, i), input))
      return inputs_refuse (error, "another file is to be in its place");
  return TRUE;
}

/* Whether INPUT is a caller's file large enough to mount. */
static gboolean
is_large (const struct input *input)
{
  struct stat st;
  return !input->key && input->fd >= 0 && fstat (input->fd, &st) == 0 && S_ISREG (st.st_mode) &&
         (guint64)st.st_size >= INPUT_BIND_BYTES;
}

static gboolean
bind_one (const struct run_request *request, guint index, const struct host *host, enum isolation isolation,
          struct sandbox_spec *spec, GError **error)
{
  const struct input *input = &g_array_index (request->files, struct input, index);
  g_autofree char *path = g_strconcat (places[input->place].name, "/", input->name, NULL);
  struct bind_mount bind_mount;
  if (!inputs_check_room (request, index, path, spec, error) ||
      !bind_mount_check (host, isolation, "a file without a copy", error) ||
      !bind_mount_file (host, input->fd, input->name, &bind_mount, error))
    return FALSE;
  sandbox_spec_bind_file (spec, path, &bind_mount);
  return TRUE;
}

/* Why INPUT is copied. */
static void
inputs_note (struct input *input, const GError *problem)
{
  log_info ("%s is copied for a run: %s", input->name, problem->message);
  g_free (input->copied_for);
  input->copied_for = g_strdup (problem->message);
}

void
inputs_bind (struct run_request *request, const struct host *host, enum isolation isolation,
             struct sandbox_spec *spec, gboolean ret_bind_mounted[INPUT_PLACES])
{
  for (gsize i = 0; i < INPUT_PLACES; i++) {
    g_autoptr (GError) problem = NULL;
    struct bind_mount bind_mount;
    ret_bind_mounted[i] = FALSE;
    if (request->links.directory_fd[i] < 0)
      continue;
    if (bind_mount_check (host, isolation, "a file without a copy", &problem) &&
        bind_mount_directory (host, request->links.directory_fd[i], FALSE, "stored files", &bind_mount,
                              &problem)) {
      sandbox_spec_bind (spec, places[i].bind, &bind_mount);
      ret_bind_mounted[i] = TRUE;
    } else
      log_debug ("stored files are copied for a run: %s", problem->message);
  }
  for (guint i = 0; i < request->files->len; i++) {
    g_autoptr (GError) problem = NULL;
    struct input *input = &g_array_index (request->files, struct input, i);
    if (!is_large (input))
      continue;
    input->bind_mounted = bind_one (request, i, host, isolation, spec, &problem);
    if (problem)
      inputs_note (input, problem);
  }
}

gboolean
inputs_unbind (struct run_request *request, struct sandbox_spec *spec, gboolean bind_mounted[INPUT_PLACES],
               const GError *problem)
{
  gboolean was_bind_mounted = FALSE;
  for (gsize i = 0; i < INPUT_PLACES; i++) {
    was_bind_mounted |= bind_mounted[i];
    bind_mounted[i] = FALSE;
    fd_close (&spec->bind_fd[places[i].bind]);
  }
  for (guint i = 0; i < request->files->len; i++) {
    struct input *input = &g_array_index (request->files, struct input, i);
    was_bind_mounted |= input->bind_mounted;
    if (input->bind_mounted)
      inputs_note (input, problem);
    input->bind_mounted = FALSE;
  }
  sandbox_spec_unbind_files (spec);
  if (spec->bind_fd[MOUNTS_DIRECTORY] < 0)
    spec->bind_caller = 0;
  return was_bind_mounted;
}

void
inputs_explain (const struct input *input, GError **error)
{
  if (!is_large (input) || !g_error_matches (*error, ADDER_ERROR, ADDER_ERROR_INVALID))
    return;
  g_autoptr (GError) cause = g_steal_pointer (error);
  g_set_error (error, cause->domain, cause->code, "%s; it had to be copied: %s", cause->message,
               input->copied_for ? input->copied_for : "a session has copies of all its files");
}
