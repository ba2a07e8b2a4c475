/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what a caller's descriptors hold. */
#include "engine/files/read_input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/size.h"

#define BLOCK_BYTES ((gsize)128 << 10)

static gboolean
wait_for_input (int from, const char *what, struct interrupt *interrupt, gint64 deadline_us, GError **error)
{
  enum wait wait;
  do
    wait = interrupt_wait_one (interrupt, from, POLLIN, deadline_us);
  while (wait == WAIT_WOKEN);
  switch (wait) {
  case WAIT_CANCELLED:
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the run was cancelled");
    return FALSE;
  case WAIT_DEADLINE:
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                 "%s did not end within the run's time limit (wall_ms)", what);
    return FALSE;
  default:
    return TRUE;
  }
}

static gboolean
read_input_too_long (const char *what, guint64 most, GError **error)
{
  g_autofree char *size = size_format (most);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s has more than %s", what, size);
  return FALSE;
}

static gboolean
write_block (int to, const char *block, gsize length, const char *what, GError **error)
{
  int r = fd_write_all (to, block, length);
  if (r == 0)
    return TRUE;
  if (r == -ENOSPC || r == -EFBIG || r == -EDQUOT) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s does not fit into the workspace (workspace_bytes)", what);
    return FALSE;
  }
  return error_from_errno (error, r, "cannot store %s", what);
}

gboolean
input_copy (int from, int to, guint64 most, const char *what, struct interrupt *interrupt, gint64 deadline_us,
            GError **error)
{
  g_autofree char *block = g_malloc (BLOCK_BYTES);
  guint64 copied = 0;
  for (;;) {
    if (!wait_for_input (from, what, interrupt, deadline_us, error))
      return FALSE;
    gssize got = read (from, block, BLOCK_BYTES);
    if (got == 0)
      return TRUE;
    /* The descriptor may be non-blocking, and somebody else may have read what woke us. */
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      continue;
    if (got < 0)
      return error_from_errno (error, errno, "cannot read %s", what);
    copied += (guint64)got;
    if (copied > most)
      return read_input_too_long (what, most, error);
    if (!write_block (to, block, (gsize)got, what, error))
      return FALSE;
  }
}

int
input_read (int from, guint64 most, const char *what, struct interrupt *interrupt, gint64 deadline_us,
            GError **error)
{
  autoclose int memory = memfd_create ("adder-input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) {
    error_from_errno (error, errno, "cannot make a memory file for %s", what);
    return -1;
  }
  if (!input_copy (from, memory, most, what, interrupt, deadline_us, error))
    return -1;
  if (fcntl (memory, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0 ||
      lseek (memory, 0, SEEK_SET) < 0) {
    error_from_errno (error, errno, "cannot seal the memory file for %s", what);
    return -1;
  }
  return fd_steal (&memory);
}
