/* SPDX-License-Identifier: Apache-2.0 */
/* A run in a sandbox of its own: taken from the pool, used once. */
#include "base/fd.h"
#include "common/log.h"
#include "engine/processor.h"
#include "engine/read_input.h"
#include "engine/run_private.h"

gboolean
run_read_stdin (struct adder_run *run, int *ret_fd)
{
  const struct run_request *request = run->request;
  if (request->stdin_fd < 0)
    return TRUE;
  int fd = input_read (request->stdin_fd, request->limits.value[LIMIT_STDIN], "standard input",
                       &run->interrupt, handout_deadline_us (request), &run->failure);
  if (fd < 0)
    return FALSE;
  *ret_fd = fd;
  return TRUE;
}

gboolean
run_send (struct adder_run *run, uint32_t kind, char *text, gsize length, int *stdin_fd)
{
  g_autofree char *owned = text;
  if (length > WIRE_REQUEST_MAX) {
    g_set_error (&run->failure, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "code, arguments and variables together are longer than a request may be");
    return FALSE;
  }
  channel_send (&run->box->channel, kind, owned, length, fd_steal (stdin_fd));
  /* A sandbox that is gone shows on its exit pipe. */
  (void)channel_flush (&run->box->channel);
  return TRUE;
}

/* What of the host's the sandbox has mounts of. */
static gboolean
lend (struct adder_run *run, struct pool *pool, struct shape *shape)
{
  struct run_request *request = run->request;
  const struct host *host = run->engine->host;
  if (request->workdir.fd >= 0 &&
      !workdir_lend (&request->workdir, host, pool_isolation (pool), shape, &run->failure)) {
    run->handout.refused = g_error_matches (run->failure, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED);
    return FALSE;
  }
  inputs_lend (request, host, pool_isolation (pool), shape, run->handout.lent);
  return TRUE;
}

/* Some hosts let a sandbox have mounts, but no overlay of them. */
static struct box *
take (struct adder_run *run, struct pool *pool, struct shape *shape)
{
  g_autoptr (GError) problem = NULL;
  struct box *box =
      handout_take (&run->handout, run->engine, pool, run->request, shape, &run->interrupt, &problem);
  if (!box && g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_FAILED) &&
      inputs_unlend (run->request, shape, run->handout.lent, problem)) {
    log_info ("files are copied for a run: %s", problem->message);
    g_clear_error (&problem);
    box = handout_take (&run->handout, run->engine, pool, run->request, shape, &run->interrupt, &problem);
  }
  if (problem)
    g_propagate_error (&run->failure, g_steal_pointer (&problem));
  return box;
}

static gboolean
send_request (struct adder_run *run, int *stdin_fd)
{
  const struct run_request *request = run->request;
  gboolean is_shell = request_is_shell (request);
  struct processor_hold hold;
  gsize length;
  char *text = is_shell ? message_write_command (request, &length) : message_write_request (request, &length);
  processor_hold (&hold, run->box->worker_pid);
  gboolean sent = run_send (run, is_shell ? WIRE_COMMAND : WIRE_REQUEST, text, length, stdin_fd);
  processor_release (&hold);
  return sent;
}

/* Takes a box of the kind that can be had. */
static void
find_box (struct adder_run *run)
{
  struct run_request *request = run->request;
  struct pool *pool = handout_pool (&run->handout, run->engine, request, FALSE, &run->failure);
  if (!pool)
    return;
  struct shape shape = handout_shape (&run->handout, run->engine, request, FALSE);
  if (lend (run, pool, &shape))
    run->box = take (run, pool, &shape);
  shape_close (&shape);
}

static gboolean
begin (struct adder_run *run)
{
  struct run_request *request = run->request;
  autoclose int stdin_fd = -1;
  if (!request_check (request, &run->failure) || !run_read_stdin (run, &stdin_fd))
    return FALSE;
  find_box (run);
  if (!run->box && handout_fall_back (&run->handout, request, &run->failure))
    find_box (run);
  if (!run->box)
    return FALSE;
  for (gsize i = 0; run->box->info->warnings[i]; i++)
    g_ptr_array_add (run->warnings, g_strdup (run->box->info->warnings[i]));
  handout_warn (&run->handout, run->warnings);
  run_hand_out (run);
  return send_request (run, &stdin_fd);
}

static gboolean
interrupt (G_GNUC_UNUSED struct adder_run *run, G_GNUC_UNUSED enum stop reason)
{
  return FALSE;
}

void
run_collect_dead (struct adder_run *run)
{
  struct box *box = run->box;
  run_end_box (run);
  if (!box->ended) {
    g_ptr_array_add (run->warnings, g_strdup ("no files come back: the sandbox was killed and does not end"));
    return;
  }
  if (run->ferry.left > 0)
    g_ptr_array_add (
        run->warnings,
        g_strdup_printf ("%u files did not come back whole from the container: the workspace has "
                         "no room for them, or they have no name that a file may have",
                         run->ferry.left));
  run->artifacts = artifact_collect (box->workspace_fd, run->handout.files, NULL, &run->request->limits,
                                     run->warnings, &run->interrupt);
  if (run->artifacts->len > 0) {
    run->workspace_fd = fd_steal (&box->workspace_fd);
    run->place = g_steal_pointer (&box->place);
  }
}

/* Files come back however the run ended, unless nobody is there to have them. */
static void
collect (struct adder_run *run)
{
  const struct box *box = run->box;
  /* A directory of the host's tells nothing by how full its disk is. */
  if (run->facts.stop != STOP_CANCELLED &&
      (box->place || !workspace_is_untouched (box->workspace_fd, &box->workspace_mark, run->handout.files)))
    run_collect_dead (run);
  run_collect_changes (run);
}

static void
leave (struct adder_run *run, G_GNUC_UNUSED const struct verdict *verdict)
{
  if (run->box)
    pool_discard (g_steal_pointer (&run->box));
}

const struct run_kind run_in_box = {begin, interrupt, collect, leave};
