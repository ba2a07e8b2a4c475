/* SPDX-License-Identifier: Apache-2.0 */
/* Making and comparing specs. */
#include "engine/pool/sandbox_spec.h"

#include <fcntl.h>

#include "base/fd.h"
#include "engine/files/bind_mount.h"
#include "engine/host/launcher.h"

struct sandbox_spec
sandbox_spec_of_kind (enum sandbox_spec_kind kind, enum network network)
{
  struct sandbox_spec spec = {
      .limits = limits_default (),
      .session = kind == SANDBOX_SPEC_SESSION,
      .network = kind == SANDBOX_SPEC_NETWORK ? NETWORK_ALLOW : network,
  };
  sandbox_spec_init_binds (&spec);
  return spec;
}

/* Where the sandbox itself holds limits, they cannot be set from outside. In a container only processor time
 * is counted: a different time limit must not cost a new container. */
gboolean
sandbox_spec_fixes (enum limit limit, enum isolation isolation)
{
  if (limit_table[limit].in_spec)
    return TRUE;
  return isolation != ISOLATION_NAMESPACES && limit_table[limit].inside &&
         !(isolation == ISOLATION_CONTAINER && limit == LIMIT_CPU);
}

static gboolean
limits_same (const struct limits *a, const struct limits *b, enum isolation isolation)
{
  for (enum limit i = 0; i < LIMIT_COUNT; i++)
    if (sandbox_spec_fixes (i, isolation) && a->value[i] != b->value[i])
      return FALSE;
  return TRUE;
}

gboolean
sandbox_spec_same (const struct sandbox_spec *a, const struct sandbox_spec *b, enum isolation isolation)
{
  return a->session == b->session && a->network == b->network && a->bind_caller == b->bind_caller &&
         a->mitigations == b->mitigations && limits_same (&a->limits, &b->limits, isolation);
}

enum sandbox_spec_kind
sandbox_spec_kind (const struct sandbox_spec *spec, enum isolation isolation)
{
  enum network network = spec->network == NETWORK_FULL ? NETWORK_FULL : NETWORK_NONE;
  for (enum sandbox_spec_kind kind = 0; kind < SANDBOX_SPEC_KINDS; kind++) {
    const struct sandbox_spec kept = sandbox_spec_of_kind (kind, network);
    if (sandbox_spec_same (spec, &kept, isolation))
      return kind;
  }
  return SANDBOX_SPEC_OTHER;
}

/* ---- bind mounts ---- */

void
sandbox_spec_init_binds (struct sandbox_spec *spec)
{
  for (int i = 0; i < MOUNTS_BINDS; i++)
    spec->bind_fd[i] = spec->launcher_fd[i] = -1;
}

void
sandbox_spec_bind (struct sandbox_spec *spec, enum mounts_bind which, const struct bind_mount *bind_mount)
{
  static gint64 number;
  if (spec->bind_caller == 0)
    spec->bind_caller = (guint64)__atomic_add_fetch (&number, 1, __ATOMIC_RELAXED);
  spec->bind_fd[which] = bind_mount->mount_fd;
  spec->launcher_fd[which] = bind_mount->launcher_fd;
}

void
sandbox_spec_bind_file (struct sandbox_spec *spec, const char *path, const struct bind_mount *bind_mount)
{
  if (!spec->files)
    spec->files = g_ptr_array_new_with_free_func (g_free);
  sandbox_spec_bind (spec, (enum mounts_bind) (MOUNTS_FILE + spec->files->len), bind_mount);
  g_ptr_array_add (spec->files, g_strdup (path));
}

/* A container has no overlay, even for read-only data. */
gboolean
sandbox_spec_has_host_sockets (const struct sandbox_spec *spec, enum isolation isolation)
{
  return spec->bind_fd[MOUNTS_DIRECTORY] >= 0 && !spec->overlay &&
         (isolation == ISOLATION_CONTAINER || !spec->read_only);
}

void
sandbox_spec_unbind_files (struct sandbox_spec *spec)
{
  for (int i = MOUNTS_FILE; i < MOUNTS_BINDS; i++)
    fd_close (&spec->bind_fd[i]);
  g_clear_pointer (&spec->files, g_ptr_array_unref);
}

void
sandbox_spec_keep (struct sandbox_spec *spec)
{
  if (spec->files)
    g_ptr_array_ref (spec->files);
  if (spec->own_path)
    g_ref_string_acquire (spec->own_path);
  for (int i = 0; i < MOUNTS_BINDS; i++) {
    spec->launcher_fd[i] = -1;
    if (spec->bind_fd[i] >= 0) {
      int own = fcntl (spec->bind_fd[i], F_DUPFD_CLOEXEC, 3);
      spec->bind_fd[i] = own < 0 ? SANDBOX_SPEC_LOST : own;
    }
  }
}

void
sandbox_spec_close (struct sandbox_spec *spec)
{
  for (int i = 0; i < MOUNTS_PLACES; i++)
    fd_close (&spec->bind_fd[i]);
  g_clear_pointer (&spec->own_path, g_ref_string_release);
  sandbox_spec_unbind_files (spec);
  for (int i = 0; i < MOUNTS_BINDS; i++)
    launcher_reap (&spec->launcher_fd[i], "the launcher of a bind mount");
}
