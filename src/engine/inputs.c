/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/inputs.h"

#include <string.h>

#include "adder.h"
#include "base/fd.h"
#include "common/log.h"
#include "common/text.h"
#include "engine/lend.h"
#include "engine/request.h"
#include "engine/workspace.h"

static const struct {
  const char *name;
  enum mounts_lent lent;
  const char *made; /* a directory that is there from the beginning */
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
  fd_close (&input->fd);
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
invalid (GError **error, const struct input *input, const char *fault)
{
  g_autofree char *shown = text_one_line (input->name, -1);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "/%s/%s %s", places[input->place].name, shown, fault);
  return FALSE;
}

static gboolean
check_place (const struct run_request *request, const struct input *input, GError **error)
{
  const char *made = places[input->place].made;
  if (made && strcmp (input->name, made) == 0)
    return invalid (error, input,
                    "cannot be a file: a directory of that name is there; give it another name");
  /* The directory is the one at hand: what else came would have to be written into it. */
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
    if (!check_place (request, input, error))
      return FALSE;
    if (!input->sha256)
      continue;
    /* Which of two would be seen would depend on how each came there. */
    g_autofree char *path = g_strconcat (places[input->place].name, "/", input->name, NULL);
    if (!g_hash_table_add (stored, g_steal_pointer (&path)))
      return invalid (error, input, "would be two files: give one of them another name");
  }
  if (g_hash_table_size (stored) == 0)
    return TRUE;
  for (guint i = 0; i < request->files->len; i++) {
    const struct input *input = &g_array_index (request->files, struct input, i);
    g_autofree char *path = g_strconcat (places[input->place].name, "/", input->name, NULL);
    if (!input->sha256 && g_hash_table_contains (stored, path))
      return invalid (error, input, "would be two files: give one of them another name");
  }
  return TRUE;
}

/* ---- lending ---- */

void
inputs_lend (const struct run_request *request, const struct host *host, enum isolation isolation,
             struct shape *shape, gboolean ret_lent[INPUT_PLACES])
{
  for (gsize i = 0; i < INPUT_PLACES; i++) {
    g_autoptr (GError) problem = NULL;
    int mount_fd;
    ret_lent[i] = FALSE;
    if (request->links.directory_fd[i] < 0)
      continue;
    if (lend_check (host, isolation, "a file without a copy", &problem) &&
        lend_directory (host, request->links.directory_fd[i], FALSE, "stored files", &mount_fd, &problem)) {
      shape_lend (shape, places[i].lent, mount_fd);
      ret_lent[i] = TRUE;
    } else
      log_debug ("stored files are copied for a run: %s", problem->message);
  }
}

gboolean
inputs_unlend (struct shape *shape, gboolean lent[INPUT_PLACES])
{
  gboolean was_lent = FALSE;
  for (gsize i = 0; i < INPUT_PLACES; i++) {
    was_lent |= lent[i];
    lent[i] = FALSE;
    fd_close (&shape->lent_fd[places[i].lent]);
  }
  if (shape->lent_fd[MOUNTS_DIRECTORY] < 0)
    shape->lent = 0;
  return was_lent;
}
