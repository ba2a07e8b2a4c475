/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts in words. */
#include "engine/request/explain.h"

#include <signal.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "engine/host/host.h"

/* The type of an error that is not Python's, by outcome; none is the name of a Python exception. */
static const char *const types[] = {
    [ADDER_OUTCOME_REFUSED] = "Refused",
    [ADDER_OUTCOME_APPROVAL_REQUIRED] = "ApprovalRequired",
    [ADDER_OUTCOME_TIMEOUT] = "Timeout",
    [ADDER_OUTCOME_CPU_LIMIT] = "CpuLimit",
    [ADDER_OUTCOME_MEMORY_LIMIT] = "MemoryLimit",
    [ADDER_OUTCOME_OUTPUT_LIMIT] = "OutputLimit",
    [ADDER_OUTCOME_CRASHED] = "Crashed",
    [ADDER_OUTCOME_CANCELLED] = "Cancelled",
    [ADDER_OUTCOME_BUSY] = "Busy",
    [ADDER_OUTCOME_FAILED] = "Failed",
};

static const struct {
  int signal;
  const char *name;
  const char *hint;
} signals[] = {
    {SIGSYS, "SIGSYS", "The code used a system call that sandboxes do not allow."},
    {SIGSEGV, "SIGSEGV",
     "Native code failed: a library, ctypes, or a recursion that is too deep for the stack."},
    {SIGBUS, "SIGBUS",
     "A file that is mapped into memory could not grow: the workspace or /dev/shm is full."},
    {SIGKILL, "SIGKILL", "The process was killed from within the sandbox, or the host ran out of memory."},
    {SIGABRT, "SIGABRT", "Native code gave up: its message is in stderr."},
    {SIGFPE, "SIGFPE", "Native code divided by zero."},
    {SIGILL, "SIGILL", "Native code needs a processor with other instructions."},
    {SIGXFSZ, "SIGXFSZ", "A file grew over its limit (file_bytes)."},
    {SIGXCPU, "SIGXCPU", NULL},
    {SIGTERM, "SIGTERM", NULL},
    {SIGINT, "SIGINT", NULL},
    {SIGHUP, "SIGHUP", NULL},
    {SIGPIPE, "SIGPIPE", NULL},
    {SIGALRM, "SIGALRM", NULL},
    {SIGTRAP, "SIGTRAP", NULL},
    {SIGQUIT, "SIGQUIT", NULL},
    {SIGUSR1, "SIGUSR1", NULL},
    {SIGUSR2, "SIGUSR2", NULL},
};

const char *
explain_signal (int signal)
{
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    if (signals[i].signal == signal)
      return signals[i].name;
  return signal > 0 ? "SIGNAL" : NULL;
}

static const char *
hint_of_signal (int signal)
{
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    if (signals[i].signal == signal)
      return signals[i].hint;
  return NULL;
}

static json_t *
make_error (const char *type, const char *message, const char *hint)
{
  return json_pack ("{s:s, s:o, s:n, s:n, s:s?}", "type", type, "message", json_text_or_null (message),
                    "traceback", "line", "hint", hint);
}

char *
explain_advice (const char *advice, enum limit limit, enum request_voice voice, const char *how,
                const struct limits *limits, const struct limits *maxima)
{
  const struct limit_row *row = &limit_table[limit];
  if (limits->value[limit] >= maxima->value[limit])
    return g_strdup_printf ("%s; the profile allows no higher %s.", advice, row->name);
  g_autofree char *most = quantity_format (maxima->value[limit], row->unit);
  if (voice != VOICE_TOOL)
    return g_strdup_printf ("%s, or ask for a higher %s (%sat most %s).", advice, row->name, how, most);
  return limit == LIMIT_WALL ? g_strdup_printf ("%s, or ask for a longer timeout (at most %s).", advice, most)
                             : g_strdup_printf ("%s; the user can raise %s.", advice, row->name);
}

/* "the run took longer than 30 s (wall_ms)", and the limit's maximum. */
static json_t *
over_limit (AdderOutcome outcome, const char *what, enum limit limit, const struct limits *limits,
            const struct limits *maxima, enum request_voice voice, const char *advice)
{
  const struct limit_row *row = &limit_table[limit];
  g_autofree char *value = quantity_format (limits->value[limit], row->unit);
  g_autofree char *message = g_strdup_printf ("the run %s %s (%s)", what, value, row->name);
  g_autofree char *hint = explain_advice (advice, limit, voice, "", limits, maxima);
  return make_error (types[outcome], message, hint);
}

static const struct {
  enum stop stop;
  AdderOutcome outcome;
  enum limit limit;
  const char *what, *advice;
} stop_texts[] = {
    {STOP_DEADLINE, ADDER_OUTCOME_TIMEOUT, LIMIT_WALL, "took longer than", "Do less in one run"},
    {STOP_CPU, ADDER_OUTCOME_CPU_LIMIT, LIMIT_CPU, "used more processor time than", "Do less in one run"},
    {STOP_MEMORY, ADDER_OUTCOME_MEMORY_LIMIT, LIMIT_MEMORY, "needed more memory than",
     "Work on the data in parts or with smaller types"},
    {STOP_OUTPUT, ADDER_OUTCOME_OUTPUT_LIMIT, LIMIT_OUTPUT, "wrote more to stdout and stderr than",
     "Print less, or write to a file"},
    {STOP_INPUT, ADDER_OUTCOME_FAILED, LIMIT_STDIN, "was given more standard input than",
     "Give the data as a file"},
};

static json_t *
explain_stop (enum stop stop, const struct limits *limits, const struct limits *maxima,
              enum request_voice voice)
{
  for (gsize i = 0; i < G_N_ELEMENTS (stop_texts); i++)
    if (stop_texts[i].stop == stop)
      return over_limit (stop_texts[i].outcome, stop_texts[i].what, stop_texts[i].limit, limits, maxima,
                         voice, stop_texts[i].advice);
  switch (stop) {
  case STOP_DISPLAYS: {
    g_autofree char *bytes = size_format (WIRE_RESULT_MAX);
    g_autofree char *message =
        g_strdup_printf ("the run showed more than %u displays or %s of them", WIRE_FRAMES_MAX, bytes);
    return make_error (types[ADDER_OUTCOME_OUTPUT_LIMIT], message,
                       "Show less in one run, or write it to files.");
  }
  case STOP_PROTOCOL:
    return make_error (types[ADDER_OUTCOME_CRASHED], "the sandbox sent a message that Adder does not know",
                       "The code wrote to descriptor 3, which is Adder's own.");
  case STOP_INTERRUPT:
    return make_error (types[ADDER_OUTCOME_CANCELLED], "the cell did not end when it was interrupted", NULL);
  default:
    return make_error (types[ADDER_OUTCOME_CANCELLED], "the run was cancelled", NULL);
  }
}

static json_t *
explain_crash (const struct verdict *verdict)
{
  g_autofree char *message = g_strdup_printf ("the process was ended by signal %d, %s", verdict->signal,
                                              g_strsignal (verdict->signal));
  return make_error (types[ADDER_OUTCOME_CRASHED], message, hint_of_signal (verdict->signal));
}

/* Python's own error, with a hint that states the limit: the sandbox does not know its number. */
static json_t *
with_advice (json_t *error, enum limit limit, const struct limits *limits, const struct limits *maxima,
             enum request_voice voice)
{
  json_t *copy = json_copy (error);
  g_autofree char *value = quantity_format (limits->value[limit], limit_table[limit].unit);
  g_autofree char *advice =
      explain_advice ("Work on the data in parts or with smaller types", limit, voice, "", limits, maxima);
  g_autofree char *hint =
      g_strdup_printf ("The run may use %s (%s). %s", value, limit_table[limit].name, advice);
  json_object_set_new (copy, "hint", json_string (hint));
  return copy;
}

/* Where the code was when a limit interrupted it: Python's own error says. */
static json_t *
with_place (json_t *error, json_t *python_error)
{
  static const char *const places[] = {"traceback", "line"};
  for (gsize i = 0; python_error && i < G_N_ELEMENTS (places); i++)
    json_object_set (error, places[i], json_object_get (python_error, places[i]));
  return error;
}

static json_t *
explain_left (int exit_code, const char *how)
{
  g_autofree char *message = g_strdup_printf ("%d", exit_code);
  return make_error ("SystemExit", message, how);
}

json_t *
explain_verdict (const struct verdict *verdict, const struct facts *facts, const struct limits *limits,
                 const struct limits *maxima, enum request_voice voice, const char *environment,
                 json_t *python_error)
{
  if (verdict->outcome == ADDER_OUTCOME_OK)
    return NULL;
  switch (verdict->cause) {
  case CAUSE_GUARD:
  case CAUSE_RESULT:
    return python_error ? json_incref (python_error) : explain_left (verdict->exit_code, NULL);
  case CAUSE_EXITED:
    return explain_left (verdict->exit_code,
                         "The process left by itself, without Python's clean-up (os._exit).");
  case CAUSE_MEMORY_ERROR:
    return with_advice (python_error, LIMIT_MEMORY, limits, maxima, voice);
  case CAUSE_OOM_KILL:
    return explain_stop (STOP_MEMORY, limits, maxima, voice);
  case CAUSE_CPU:
    return explain_stop (STOP_CPU, limits, maxima, voice);
  case CAUSE_STOP:
    return with_place (explain_stop (facts->stop, limits, maxima, voice), python_error);
  case CAUSE_SIGNAL:
    return explain_crash (verdict);
  case CAUSE_ZYGOTE: {
    if (facts->contained)
      return make_error (types[ADDER_OUTCOME_FAILED],
                         "the container of the run ended: it was removed or killed",
                         "Run it again: another container is started.");
    g_autofree char *message =
        g_strdup_printf ("the zygote of the environment %s ended during the run", environment);
    return make_error (types[ADDER_OUTCOME_FAILED], message, "Run it again: another zygote is started.");
  }
  case CAUSE_NO_END:
    break;
  }
  return make_error (types[ADDER_OUTCOME_FAILED], "the sandbox was killed and its end was not reported",
                     NULL);
}

/* ---- outside any sandbox ---- */

AdderOutcome
explain_outcome_of (const GError *error)
{
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_BUSY))
    return ADDER_OUTCOME_BUSY;
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_CANCELLED))
    return ADDER_OUTCOME_CANCELLED;
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT))
    return ADDER_OUTCOME_TIMEOUT;
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_REFUSED))
    return ADDER_OUTCOME_REFUSED;
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_APPROVAL))
    return ADDER_OUTCOME_APPROVAL_REQUIRED;
  return ADDER_OUTCOME_FAILED;
}

json_t *
explain_error (AdderOutcome outcome, const GError *error, const struct run_request *request)
{
  const char *type = types[outcome] ? types[outcome] : types[ADDER_OUTCOME_FAILED];
  g_autofree char *message = error_told (error, !request || request_at_terminal (request));
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_ENDED))
    return make_error ("SessionEnded", message,
                       !request || request_voice (request) == VOICE_COMMAND
                           ? "Make a new session. Where this daemon ended it, its cells can be run again in "
                             "one: adder session replay."
                           : "Create a new session, and recreate what this one held.");
  return make_error (type, message, NULL);
}

json_t *
explain_unread (const GError *error)
{
  return make_error (types[ADDER_OUTCOME_FAILED], error->message,
                     "The code ended, and the directory is as it was before. Run the code again.");
}

/* In a process without a daemon, its own program approves. */
json_t *
explain_approval (const GError *error, const char *id)
{
  g_autofree char *hint =
      host_owns_process ()
          ? g_strdup_printf ("\"adder approval show %s\" shows what it is, and \"adder approval approve %s\" "
                             "allows it, once. Ask for exactly the same again then.",
                             id, id)
          : g_strdup_printf (
                "Approval %s is to be given in this process; ask for exactly the same again then.", id);
  return make_error (types[ADDER_OUTCOME_APPROVAL_REQUIRED], error->message, hint);
}
