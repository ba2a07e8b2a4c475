/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of sessions, through the library: the bench's own session, which the short measures share, and
 * those that a measure makes and ends. */
#include <string.h>

#include "bench/bench.h"
#include "bench/helper.h"
#include "bench/processes.h"
#include "common/json.h"
#include "engine/host/process.h"
#include "library/library.h"
#include "operations/operation.h"

/* What a session and a kernel begin with: the same modules, as far as the environment has them. */
#define BEGIN_CODE                                                                                           \
  "try:\n"                                                                                                   \
  "    import numpy, pandas, matplotlib.pyplot\n"                                                            \
  "except ImportError:\n"                                                                                    \
  "    pass\n"                                                                                               \
  "x = 0\n"

#define BRANCHES 10

static double
measures_sessions_now_ms (void)
{
  return (double)g_get_monotonic_time () / 1000.0;
}

/* ---- sessions ---- */

/* Does the operation NAME; PARAMS are taken. The caller's; NULL on error. */
static json_t *
measures_sessions_call_engine (struct bench *bench, const char *name, json_t *params, GError **error)
{
  const struct operation_caller caller = OPERATION_CALLER (bench->engine, NULL, ROLE_ADMIN);
  return operation_call (&caller, name, params, error);
}

static gboolean
measures_sessions_end_session (struct bench *bench, const char *session, GError **error)
{
  g_autoptr (json_t) ended =
      measures_sessions_call_engine (bench, "session.end", json_pack ("{s:s}", "session", session), error);
  return ended != NULL;
}

/* Its id, the caller's; NULL on error. */
static char *
new_session (struct bench *bench, GError **error)
{
  g_autoptr (AdderRequest) options = adder_request_new ("", -1);
  adder_request_set_environment (options, bench->environment->name);
  g_autoptr (json_t) session = library_session_new (bench->engine, options, NULL, error);
  return g_strdup (json_string_value (json_object_get (session, "session_id")));
}

static gboolean
measures_sessions_run_cell (struct bench *bench, const char *session, const char *code, GError **error)
{
  double took;
  return bench_run_in (bench->engine, bench, session, code, &took, NULL, error);
}

/* Makes the bench's session when it is not there yet. */
static gboolean
have_session (struct bench *bench, GError **error)
{
  if (!bench->session) {
    bench->session = new_session (bench, error);
    return bench->session && measures_sessions_run_cell (bench, bench->session, BEGIN_CODE, error);
  }
  return TRUE;
}

gboolean
bench_run_cell (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout, GError **error)
{
  return have_session (bench, error) &&
         bench_run_in (bench->engine, bench, bench->session, code, ret_ms, ret_stdout, error);
}

gboolean
bench_run_kernel (struct bench *bench, const char *code, double *ret_ms, char **ret_stdout, GError **error)
{
  double took;
  if (!bench->kernel) {
    bench->kernel = bench_helper_kernel (bench, error);
    if (!bench->kernel || !bench_helper_run (bench->kernel, BEGIN_CODE, &took, NULL, error))
      return FALSE;
  }
  return bench_helper_run (bench->kernel, code, ret_ms, ret_stdout, error);
}

gboolean
bench_run_session_new (struct bench *bench, G_GNUC_UNUSED const char *code, double *ret_ms,
                       G_GNUC_UNUSED char **ret_stdout, GError **error)
{
  bench_settle (bench->engine, bench->parked);
  double start = measures_sessions_now_ms ();
  g_autofree char *session = new_session (bench, error);
  *ret_ms = measures_sessions_now_ms () - start;
  return session && measures_sessions_end_session (bench, session, error);
}

/* Its id, the caller's; NULL on error. */
static char *
new_checkpoint (struct bench *bench, GError **error)
{
  g_autoptr (json_t) checkpoint = measures_sessions_call_engine (
      bench, "session.checkpoint", json_pack ("{s:s}", "session", bench->session), error);
  return g_strdup (json_string_value (json_object_get (checkpoint, "checkpoint_id")));
}

gboolean
bench_run_checkpoint (struct bench *bench, const char *code, double *ret_ms, G_GNUC_UNUSED char **ret_stdout,
                      GError **error)
{
  if (!have_session (bench, error) || !measures_sessions_run_cell (bench, bench->session, code, error))
    return FALSE;
  double start = measures_sessions_now_ms ();
  g_autofree char *checkpoint = new_checkpoint (bench, error);
  *ret_ms = measures_sessions_now_ms () - start;
  if (!checkpoint)
    return FALSE;
  json_t *params = json_pack ("{s:s, s:s}", "session", bench->session, "checkpoint", checkpoint);
  g_autoptr (json_t) dropped = measures_sessions_call_engine (bench, "session.forget", params, error);
  return dropped != NULL;
}

gboolean
bench_run_rollback (struct bench *bench, const char *code, double *ret_ms, G_GNUC_UNUSED char **ret_stdout,
                    GError **error)
{
  if (!have_session (bench, error))
    return FALSE;
  if (!bench->checkpoint)
    bench->checkpoint = new_checkpoint (bench, error);
  if (!bench->checkpoint || !measures_sessions_run_cell (bench, bench->session, code, error))
    return FALSE;
  double start = measures_sessions_now_ms ();
  json_t *params = json_pack ("{s:s, s:s}", "session", bench->session, "checkpoint", bench->checkpoint);
  g_autoptr (json_t) back = measures_sessions_call_engine (bench, "session.rollback", params, error);
  *ret_ms = measures_sessions_now_ms () - start;
  return back != NULL;
}

/* Makes COUNT branches of SESSION, has each run CODE, and ends them. The time is that of the branching alone.
 */
static gboolean
branch (struct bench *bench, const char *session, guint count, const char *code, double *ret_ms,
        GError **error)
{
  double start = measures_sessions_now_ms ();
  json_t *params = json_pack ("{s:s, s:i}", "session", session, "count", (int)count);
  g_autoptr (json_t) made = measures_sessions_call_engine (bench, "session.branch", params, error);
  *ret_ms = measures_sessions_now_ms () - start;
  gboolean ok = made != NULL;
  gsize i;
  json_t *each;
  json_array_foreach (json_object_get (made, "sessions"), i, each)
  {
    const char *id = json_string_value (json_object_get (each, "session_id"));
    ok = ok && measures_sessions_run_cell (bench, id, code, error);
    (void)measures_sessions_end_session (bench, id, NULL);
  }
  return ok;
}

gboolean
bench_run_branches (struct bench *bench, const char *code, double *ret_ms, G_GNUC_UNUSED char **ret_stdout,
                    GError **error)
{
  return have_session (bench, error) && branch (bench, bench->session, BRANCHES, code, ret_ms, error);
}

/* ---- branching what is large ---- */

#define PICKLE_CODE "import pickle\ncopy = pickle.loads(pickle.dumps(data, pickle.HIGHEST_PROTOCOL))\n"
#define FORGET_CODE "del copy\n"
/* The branch has the data. */
#define BRANCH_CHECK "assert len(data) > 0\n"

static gint64
session_bytes (struct bench *bench, const char *session)
{
  g_autoptr (json_t) shown =
      measures_sessions_call_engine (bench, "session.show", json_pack ("{s:s}", "session", session), NULL);
  return json_integer_value (json_object_get (shown, "memory_bytes"));
}

static gboolean
take_branches (struct bench *bench, const struct bench_measure *measure, const char *session,
               struct bench_helper *python, struct bench_finding *finding, GError **error)
{
  double took, unused;
  /* While there is a branch they share it. */
  finding->details = json_pack ("{s:I}", "session_bytes", (json_int_t)session_bytes (bench, session));
  /* Not counted: what is done for the first time. */
  if (!bench_helper_run (python, PICKLE_CODE, &took, NULL, error) ||
      !branch (bench, session, 1, BRANCH_CHECK, &took, error))
    return FALSE;
  for (int round = 0; round < bench->rounds; round++) {
    if (!bench_helper_run (python, FORGET_CODE, &unused, NULL, error) ||
        !bench_helper_run (python, PICKLE_CODE, &took, NULL, error))
      return FALSE;
    g_array_append_val (finding->plain, took);
    for (int i = 0; i < measure->each; i++) {
      if (!branch (bench, session, 1, BRANCH_CHECK, &took, error))
        return FALSE;
      g_array_append_val (finding->adder, took);
    }
  }
  return TRUE;
}

gboolean
bench_take_branch (struct bench *bench, const struct bench_measure *measure, struct bench_finding *finding,
                   GError **error)
{
  double took;
  g_autofree char *session = new_session (bench, error);
  struct bench_helper *python = session && measures_sessions_run_cell (bench, session, measure->code, error)
                                    ? bench_helper_python (bench, error)
                                    : NULL;
  gboolean ok = python && bench_helper_run (python, measure->code, &took, NULL, error) &&
                take_branches (bench, measure, session, python, finding, error);
  bench_helper_free (python);
  if (session)
    (void)measures_sessions_end_session (bench, session, NULL);
  return ok;
}

/* ---- memory ---- */

#define GROUPBY_CODE                                                                                         \
  "frame = pandas.DataFrame({'key': list('abac') * 25, 'value': range(100)})\n"                              \
  "sums = frame.groupby('key').value.sum().to_dict()\n"

/* Each session is given so much of half of what the host has left. */
#define ROOM_BYTES  (G_GUINT64_CONSTANT (32) << 20)

#define END_WAIT_US (5 * G_USEC_PER_SEC)

/* As many as are wanted, fewer where memory is short. */
static guint
session_count (const struct bench *bench)
{
  g_autofree char *text = NULL;
  const char *line =
      g_file_get_contents ("/proc/meminfo", &text, NULL, NULL) ? strstr (text, "\nMemAvailable:") : NULL;
  guint64 left = line ? g_ascii_strtoull (line + strlen ("\nMemAvailable:"), NULL, 10) * 1024 : G_MAXUINT64;
  return (guint)CLAMP (left / 2 / ROOM_BYTES, 1, bench->sessions);
}

/* What each of PROCESSES holds alone; of guint64. */
static GArray *
private_bytes (GArray *processes)
{
  GArray *bytes = g_array_new (FALSE, FALSE, sizeof (guint64));
  for (guint i = 0; i < processes->len; i++) {
    guint64 held = process_private (g_array_index (processes, struct bench_process, i).pid);
    g_array_append_val (bytes, held);
  }
  return bytes;
}

/* Ends SESSIONS and waits until at least a process of each is gone and no more go. */
static void
end_sessions (struct bench *bench, GPtrArray *sessions, guint before)
{
  for (guint i = 0; i < sessions->len; i++)
    (void)measures_sessions_end_session (bench, g_ptr_array_index (sessions, i), NULL);
  gint64 until = g_get_monotonic_time () + END_WAIT_US;
  for (guint last = before; g_get_monotonic_time () < until; g_usleep (20000)) {
    g_autoptr (GArray) left = bench_processes (0);
    if (left->len == last && left->len + sessions->len <= before)
      return;
    last = left->len;
  }
}

/* What those of PROCESSES held that are gone: the processes of the sessions. Those that are parked stay. */
static double
bytes_of_gone (GArray *processes, GArray *bytes)
{
  g_autoptr (GArray) left = bench_processes (0);
  guint64 sum = 0;
  for (guint i = 0; i < processes->len; i++)
    if (!bench_process_find (left, g_array_index (processes, struct bench_process, i).pid))
      sum += g_array_index (bytes, guint64, i);
  return (double)sum;
}

/* One sample is the mean of so many sessions, all alive. */
static gboolean
take_session_memory (struct bench *bench, const struct bench_measure *measure, GPtrArray *sessions,
                     guint count, struct bench_finding *finding, double *ret_worked, GError **error)
{
  for (guint i = 0; i < count; i++) {
    char *session = new_session (bench, error);
    if (!session)
      return FALSE;
    g_ptr_array_add (sessions, session);
    if (!measures_sessions_run_cell (bench, session, measure->code, error))
      return FALSE;
  }
  bench_settle (bench->engine, bench->parked);
  g_autoptr (GArray) processes = bench_processes (0);
  g_autoptr (GArray) fresh = private_bytes (processes);
  for (guint i = 0; i < count; i++)
    if (!measures_sessions_run_cell (bench, g_ptr_array_index (sessions, i), GROUPBY_CODE, error))
      return FALSE;
  g_autoptr (GArray) worked = private_bytes (processes);
  (void)end_sessions (bench, sessions, processes->len);
  double mean = bytes_of_gone (processes, fresh) / count;
  g_array_append_val (finding->adder, mean);
  *ret_worked = bytes_of_gone (processes, worked) / count;
  return TRUE;
}

gboolean
bench_take_session_memory (struct bench *bench, const struct bench_measure *measure,
                           struct bench_finding *finding, GError **error)
{
  guint count = session_count (bench);
  double worked = 0;
  g_autofree char *held = NULL;
  if (!bench_add_plain (bench, measure, finding, &held, error))
    return FALSE;
  /* What was asked for is what was printed, not how long that took. */
  if (finding->plain->len > 0)
    g_array_index (finding->plain, double, 0) = g_ascii_strtod (held, NULL);
  GPtrArray *sessions = g_ptr_array_new_with_free_func (g_free);
  gboolean ok = take_session_memory (bench, measure, sessions, count, finding, &worked, error);
  for (guint i = 0; !ok && i < sessions->len; i++)
    (void)measures_sessions_end_session (bench, g_ptr_array_index (sessions, i), NULL);
  g_ptr_array_unref (sessions);
  if (!finding->details)
    finding->details = json_object ();
  json_object_set_new (finding->details, "sessions", json_integer (count));
  json_object_set_new (finding->details, "bytes_after_groupby", json_real (worked));
  return ok;
}
