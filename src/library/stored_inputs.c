/* SPDX-License-Identifier: Apache-2.0 */
/* Stored files that a run gets in its workspace: found before an approval is requested, which covers their
 * digests, and opened after it. */
#include "adder.h"
#include "base/fd.h"
#include "common/log.h"
#include "engine/files/workspace.h"
#include "library/library.h"
#include "store/blobs.h"
#include "store/files.h"

/* ---- finding ---- */

void
library_find_input (AdderEngine *engine, struct run_request *resolved, const char *id, const char *name,
                    enum input_place place)
{
  if (resolved->invalid)
    return;
  struct file_row *row =
      library_find_file (engine, resolved->owner ? resolved->owner : "", id, &resolved->invalid);
  if (!row)
    return;
  struct input input = {
      .name = g_strdup (name ? name : row->name),
      .fd = -1,
      .place = place,
      .bytes = row->bytes,
      .sha256 = g_strdup (row->sha256),
      .key = g_strdup (row->blob),
  };
  file_row_free (row);
  g_array_append_val (resolved->files, input);
  (void)workspace_check_name (input.name, &resolved->invalid);
}

/* ---- opening ---- */

/* Of one request, as long as its run lasts. */
struct fetched {
  struct store *store;
  struct blobs *blobs;
  struct blob_links *links; /* NULL: none yet */
  gboolean may_link;
};

static void
fetched_free (gpointer data)
{
  struct fetched *fetched = data;
  blob_links_free (fetched->links);
  store_unref (fetched->store);
  g_free (fetched);
}

/* Whether sandboxes for RESOLVED have mounts of their own. */
static gboolean
can_bind (const AdderEngine *engine, const struct run_request *resolved)
{
  enum isolation isolation = resolved->isolation;
  if (isolation == ISOLATION_AUTO)
    isolation = engine->engine->host->isolation;
  return isolation == ISOLATION_NAMESPACES && !resolved->session;
}

/* A file that cannot be linked is copied; that is no error. */
static gboolean
link_one (struct fetched *fetched, const struct input *input, GError **error)
{
  g_autofree char *path = g_strconcat (input_place_name (input->place), "/", input->name, NULL);
  if (!fetched->links)
    fetched->links = blob_links_new (fetched->blobs, error);
  return fetched->links &&
         blob_links_add (fetched->links, input->key, input->bytes, input->sha256, path, error);
}

static gboolean
fetch_one (struct fetched *fetched, struct input *input, GError **error)
{
  g_autoptr (GError) problem = NULL;
  input->fd = blobs_get (fetched->blobs, input->key, input->bytes, input->sha256, error);
  if (input->fd < 0)
    return FALSE;
  if (!fetched->may_link || input->bytes < INPUT_BIND_BYTES)
    return TRUE;
  input->linked = link_one (fetched, input, &problem);
  if (!input->linked) {
    fetched->may_link = FALSE;
    log_debug ("stored files are copied for a run: %s", problem->message);
  }
  return TRUE;
}

static gboolean
stored_inputs_fetch (struct fetched *fetched, struct run_request *resolved, GError **error)
{
  for (guint i = 0; i < resolved->files->len; i++) {
    struct input *input = &g_array_index (resolved->files, struct input, i);
    if (input->key && !fetch_one (fetched, input, error)) {
      g_prefix_error (error, "the stored file %s cannot be read: ", input->name);
      return FALSE;
    }
  }
  for (gsize i = 0; fetched->links && i < INPUT_PLACES; i++)
    resolved->links.directory_fd[i] =
        blob_links_open (fetched->links, input_place_name ((enum input_place)i));
  return TRUE;
}

static gboolean
has_stored (const struct run_request *resolved)
{
  for (guint i = 0; i < resolved->files->len; i++)
    if (g_array_index (resolved->files, struct input, i).key)
      return TRUE;
  return FALSE;
}

static void
stored_inputs_fetch_all (AdderEngine *engine, struct run_request *resolved, gboolean session)
{
  /* Linking would find duplicate names too, but with another message. */
  if (resolved->invalid || !has_stored (resolved) || !inputs_check (resolved, &resolved->invalid))
    return;
  struct blobs *blobs = store_blobs (engine->store, &resolved->invalid);
  if (!blobs)
    return;
  struct fetched *fetched = g_new0 (struct fetched, 1);
  fetched->store = store_ref (engine->store);
  fetched->blobs = blobs;
  fetched->may_link = !session && can_bind (engine, resolved);
  resolved->links.release = fetched_free;
  resolved->links.data = fetched;
  (void)stored_inputs_fetch (fetched, resolved, &resolved->invalid);
}

void
library_fetch_inputs (AdderEngine *engine, struct run_request *resolved, gboolean session)
{
  GError *problem;
  stored_inputs_fetch_all (engine, resolved, session);
  if (!(problem = resolved->invalid))
    return;
  resolved->invalid =
      g_error_new_literal (problem->domain, problem->code, store_told (resolved->owner, problem));
  g_error_free (problem);
}
