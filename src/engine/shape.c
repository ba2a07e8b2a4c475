/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes, made and compared. */
#include "engine/shape.h"

#include <fcntl.h>

#include "base/fd.h"

struct shape
shape_of_kind (enum shape_kind kind, enum network network)
{
  struct shape shape = {
      .limits = limits_default (),
      .session = kind == SHAPE_SESSION,
      .network = kind == SHAPE_NETWORK ? NETWORK_ALLOW : network,
  };
  shape_init_lent (&shape);
  return shape;
}

/* Where the sandbox itself holds limits, they cannot be set from outside. In a container its processor time
 * is counted alone: that one time limit is another one's must not cost a container. */
gboolean
shape_fixes (enum limit limit, enum isolation isolation)
{
  if (limit_table[limit].shape)
    return TRUE;
  return isolation != ISOLATION_NAMESPACES && limit_table[limit].inside &&
         !(isolation == ISOLATION_CONTAINER && limit == LIMIT_CPU);
}

static gboolean
limits_same (const struct limits *a, const struct limits *b, enum isolation isolation)
{
  for (enum limit i = 0; i < LIMIT_COUNT; i++)
    if (shape_fixes (i, isolation) && a->value[i] != b->value[i])
      return FALSE;
  return TRUE;
}

gboolean
shape_same (const struct shape *a, const struct shape *b, enum isolation isolation)
{
  return a->session == b->session && a->network == b->network && a->lent == b->lent &&
         a->mitigations == b->mitigations && limits_same (&a->limits, &b->limits, isolation);
}

enum shape_kind
shape_kind (const struct shape *shape, enum isolation isolation)
{
  enum network network = shape->network == NETWORK_FULL ? NETWORK_FULL : NETWORK_NONE;
  for (enum shape_kind kind = 0; kind < SHAPE_KINDS; kind++) {
    const struct shape kept = shape_of_kind (kind, network);
    if (shape_same (shape, &kept, isolation))
      return kind;
  }
  return SHAPE_OTHER;
}

/* ---- lent ---- */

void
shape_init_lent (struct shape *shape)
{
  for (int i = 0; i < MOUNTS_LENT; i++)
    shape->lent_fd[i] = -1;
}

void
shape_lend (struct shape *shape, enum mounts_lent which, int fd)
{
  static gint64 lent;
  if (shape->lent == 0)
    shape->lent = (guint64)__atomic_add_fetch (&lent, 1, __ATOMIC_RELAXED);
  shape->lent_fd[which] = fd;
}

void
shape_lend_file (struct shape *shape, const char *path, int fd)
{
  if (!shape->files)
    shape->files = g_ptr_array_new_with_free_func (g_free);
  shape_lend (shape, (enum mounts_lent) (MOUNTS_FILE + shape->files->len), fd);
  g_ptr_array_add (shape->files, g_strdup (path));
}

/* In a container there is no overlay, even of what can only be read. */
gboolean
shape_has_host_sockets (const struct shape *shape, enum isolation isolation)
{
  return shape->lent_fd[MOUNTS_DIRECTORY] >= 0 && !shape->overlay &&
         (isolation == ISOLATION_CONTAINER || !shape->read_only);
}

void
shape_unlend_files (struct shape *shape)
{
  for (int i = MOUNTS_FILE; i < MOUNTS_LENT; i++)
    fd_close (&shape->lent_fd[i]);
  g_clear_pointer (&shape->files, g_ptr_array_unref);
}

void
shape_keep (struct shape *shape)
{
  if (shape->files)
    g_ptr_array_ref (shape->files);
  if (shape->own_path)
    g_ref_string_acquire (shape->own_path);
  for (int i = 0; i < MOUNTS_LENT; i++)
    if (shape->lent_fd[i] >= 0) {
      int own = fcntl (shape->lent_fd[i], F_DUPFD_CLOEXEC, 3);
      shape->lent_fd[i] = own < 0 ? SHAPE_LOST : own;
    }
}

void
shape_close (struct shape *shape)
{
  for (int i = 0; i < MOUNTS_PLACES; i++)
    fd_close (&shape->lent_fd[i]);
  g_clear_pointer (&shape->own_path, g_ref_string_release);
  shape_unlend_files (shape);
}
