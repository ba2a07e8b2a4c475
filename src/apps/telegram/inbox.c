/* SPDX-License-Identifier: Apache-2.0 */
/* {"offset": N, "updates": [update ...], "begun": [id ...], "seen": [id ...]}
 *
 * What came before is told by its number, not by the order of numbers: after a quiet week Telegram begins
 * anew with any. */
#include "apps/telegram/inbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/log.h"
#include "common/replace.h"
#include "models/private_file.h"

#define FILE_BYTES (64 << 20)
#define ID_MAX     ((G_GINT64_CONSTANT (1) << 53) - 1) /* Telegram's have 32 bits */
#define SEEN_MAX   300                                 /* three answers of getUpdates at their longest */

LOCK_CLASS (inbox);

/* What is in it is nobody else's: values of jansson are for one thread at a time. */
struct inbox {
  MUTEX (inbox) lock;
  char *path;
  int lock_fd;
  GUARDED_BY (inbox) gint64 offset;
  GUARDED_BY (inbox) json_t *updates, *begun, *seen;
};

gint64
inbox_id (const json_t *update)
{
  gint64 id = json_integer_value (json_object_get (update, "update_id"));
  return id > 0 && id <= ID_MAX ? id : 0;
}

/* ---- the file ---- */

REQUIRES (inbox)
static gboolean
inbox_write_down (struct inbox *inbox, GError **error)
{
  g_autoptr (json_t) all = json_pack ("{s:I, s:O, s:O, s:O}", "offset", (json_int_t)inbox->offset, "updates",
                                      inbox->updates, "begun", inbox->begun, "seen", inbox->seen);
  g_autofree char *text = json_to_text (all);
  return replace_file (inbox->path, inbox->path, text, error);
}

static void
read_array (const json_t *all, const char *name, json_t *array)
{
  json_t *read = json_object_get (all, name);
  if (json_is_array (read))
    json_array_extend (array, read);
}

REQUIRES (inbox)
static gboolean
inbox_read_file (struct inbox *inbox, GError **error)
{
  gsize length;
  gboolean missing = FALSE;
  g_autofree char *text = private_file_read (inbox->path, FILE_BYTES, 077, &length, &missing, error);
  if (missing)
    return TRUE;
  g_autoptr (json_t) all = text ? json_parse_object (text, length, inbox->path, error) : NULL;
  if (!all)
    return FALSE;
  inbox->offset = json_integer_value (json_object_get (all, "offset"));
  read_array (all, "updates", inbox->updates);
  read_array (all, "begun", inbox->begun);
  read_array (all, "seen", inbox->seen);
  return TRUE;
}

/* Beside the file, which is another one after each change. */
static gboolean
inbox_take_lock (struct inbox *inbox, GError **error)
{
  g_autofree char *beside = g_strconcat (inbox->path, ".lock", NULL);
  inbox->lock_fd = open (beside, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (inbox->lock_fd >= 0 && flock (inbox->lock_fd, LOCK_EX | LOCK_NB) == 0)
    return TRUE;
  if (inbox->lock_fd < 0 || errno != EWOULDBLOCK)
    return error_from_errno (error, errno, "cannot lock %s", beside);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
               "another `adder telegram` serves this bot already: it has locked %s", beside);
  return FALSE;
}

struct inbox *
inbox_open (const char *path, GError **error)
{
  struct inbox *inbox = g_new0 (struct inbox, 1);
  g_mutex_init (&inbox->lock);
  inbox->path = g_strdup (path);
  inbox->lock_fd = -1;
  inbox->updates = json_array ();
  inbox->begun = json_array ();
  inbox->seen = json_array ();
  if (!inbox_take_lock (inbox, error) || !inbox_read_file (inbox, error))
    g_clear_pointer (&inbox, inbox_close);
  return inbox;
}

void
inbox_close (struct inbox *inbox)
{
  if (!inbox)
    return;
  g_mutex_clear (&inbox->lock);
  fd_close (&inbox->lock_fd);
  g_free (inbox->path);
  UNSHARED (inbox);
  json_decref (inbox->updates);
  json_decref (inbox->begun);
  json_decref (inbox->seen);
  g_free (inbox);
}

/* ---- what is in it ---- */

static gssize
inbox_find_id (const json_t *ids, gint64 id)
{
  for (gsize i = 0; i < json_array_size (ids); i++)
    if (json_integer_value (json_array_get (ids, i)) == id)
      return (gssize)i;
  return -1;
}

static gssize
inbox_find_update (const json_t *updates, gint64 id)
{
  for (gsize i = 0; i < json_array_size (updates); i++)
    if (inbox_id (json_array_get (updates, i)) == id)
      return (gssize)i;
  return -1;
}

gint64
inbox_offset (struct inbox *inbox)
{
  g_mutex_lock (&inbox->lock);
  gint64 offset = inbox->offset;
  g_mutex_unlock (&inbox->lock);
  return offset;
}

void
inbox_skip (struct inbox *inbox, gint64 id)
{
  if (id > ID_MAX)
    return;
  g_mutex_lock (&inbox->lock);
  inbox->offset = id + 1;
  g_mutex_unlock (&inbox->lock);
}

gsize
inbox_count (struct inbox *inbox)
{
  g_mutex_lock (&inbox->lock);
  gsize count = json_array_size (inbox->updates);
  g_mutex_unlock (&inbox->lock);
  return count;
}

/* Adds UPDATE, or not: it is known. */
REQUIRES (inbox)
static void
add_fresh (struct inbox *inbox, json_t *update, json_t *fresh)
{
  gint64 id = inbox_id (update);
  if (inbox_find_id (inbox->seen, id) >= 0 || inbox_find_update (inbox->updates, id) >= 0)
    return;
  json_array_append_new (inbox->updates, json_deep_copy (update));
  json_array_append_new (inbox->seen, json_integer (id));
  json_array_append (fresh, update);
  if (json_array_size (inbox->seen) > SEEN_MAX)
    json_array_remove (inbox->seen, 0);
}

/* As it was before COUNT updates were added, but for the oldest numbers that were seen. */
REQUIRES (inbox)
static void
inbox_take_back (struct inbox *inbox, gsize count, gint64 offset)
{
  for (; count > 0; count--) {
    json_array_remove (inbox->updates, json_array_size (inbox->updates) - 1);
    json_array_remove (inbox->seen, json_array_size (inbox->seen) - 1);
  }
  inbox->offset = offset;
}

json_t *
inbox_take (struct inbox *inbox, const json_t *updates,
            gboolean (*is_wanted) (gpointer data, const json_t *update), gpointer data, GError **error)
{
  g_autoptr (json_t) fresh = json_array ();
  gsize index;
  json_t *update;
  g_mutex_lock (&inbox->lock);
  gint64 before = inbox->offset;
  json_array_foreach ((json_t *)(guintptr)updates, index, update)
  {
    if (inbox_id (update) <= 0)
      continue;
    inbox->offset = inbox_id (update) + 1;
    if (is_wanted (data, update))
      add_fresh (inbox, update, fresh);
  }
  gsize count = json_array_size (fresh);
  /* An offset alone need not be kept: what nobody wanted is not wanted when it comes again. */
  gboolean ok = count == 0 || inbox_write_down (inbox, error);
  if (!ok)
    inbox_take_back (inbox, count, before);
  g_mutex_unlock (&inbox->lock);
  return ok ? g_steal_pointer (&fresh) : NULL;
}

json_t *
inbox_left (struct inbox *inbox)
{
  json_t *left = json_array ();
  gsize index;
  json_t *update;
  g_mutex_lock (&inbox->lock);
  json_array_foreach (inbox->updates, index, update)
  {
    json_t *copy = json_deep_copy (update);
    if (inbox_find_id (inbox->begun, inbox_id (update)) >= 0)
      json_object_set_new (copy, "begun", json_true ());
    json_array_append_new (left, copy);
  }
  g_mutex_unlock (&inbox->lock);
  return left;
}

/* ---- work ---- */

REQUIRES (inbox)
static void
inbox_keep (struct inbox *inbox)
{
  g_autoptr (GError) problem = NULL;
  if (!inbox_write_down (inbox, &problem))
    log_error ("telegram: what was done cannot be written down: %s", problem->message);
}

void
inbox_begin (struct inbox *inbox, gint64 id)
{
  g_mutex_lock (&inbox->lock);
  if (inbox_find_id (inbox->begun, id) < 0) {
    json_array_append_new (inbox->begun, json_integer (id));
    inbox_keep (inbox);
  }
  g_mutex_unlock (&inbox->lock);
}

void
inbox_end (struct inbox *inbox, gint64 id)
{
  g_mutex_lock (&inbox->lock);
  gssize begun = inbox_find_id (inbox->begun, id), at = inbox_find_update (inbox->updates, id);
  if (begun >= 0)
    json_array_remove (inbox->begun, (gsize)begun);
  if (at >= 0)
    json_array_remove (inbox->updates, (gsize)at);
  inbox_keep (inbox);
  g_mutex_unlock (&inbox->lock);
}
