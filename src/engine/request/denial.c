/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request/denial.h"

#include <signal.h>
#include <string.h>

#include "common/json.h"
#include "common/size.h"
#include "engine/request/explain.h"
#include "engine/request/packages.h"

/* In a hint: how to pass in files. */
#define FILES "{files}"

static const char *const files_words[] = {
    [VOICE_COMMAND] = "--file",
    [VOICE_BODY] = "`files`",
    [VOICE_TOOL] = "`files`",
};

const char *
denial_files_word (enum request_voice voice)
{
  return files_words[voice];
}

static const struct {
  const char *kind;
  const char *hint;
} kinds[] = {
    {"network", "There is no network in the sandbox: pass data in as files (" FILES "), or ask the user for "
                "it. A profile can allow chosen hosts ([network] mode = allow)."},
    {"file",
     "Of the host's files only those that are passed with the run are in the sandbox: pass it in with " FILES
     ", and open it by its name in the current directory."},
    {"write",
     "Only the current directory and the one for temporary files ($TMPDIR, or /tmp) can be written to, "
     "except files that are bind-mounted: write there, to a name that is new."},
    {"call", "The sandbox does not allow this system call, and nothing in the run can change that: do "
             "without it."},
    {"install", "Nothing can be installed from inside a run: its environment is read-only, and there is no "
                "network."},
};

/* Limits that the kernel enforces without ending the run. */
static const struct {
  enum limit limit;
  const char *kind;
  const char *what; /* after the number */
  const char *advice;
} limit_kinds[] = {
    {LIMIT_PIDS, "processes", "at once", "Use fewer processes and threads at once"},
    {LIMIT_WORKSPACE, "space", "used up", "Write less, or remove what is no longer needed"},
    {LIMIT_WORKSPACE_FILES, "space", "used up", "Make fewer files, or remove what is no longer needed"},
    {LIMIT_SHM, "space", "used up", "Write less to /dev/shm, or write to the current directory"},
    {LIMIT_FILE_SIZE, "file_size", "reached by a file", "Write several smaller files"},
    {LIMIT_OPEN_FILES, "open_files", "open at once", "Close files that are no longer needed"},
    {LIMIT_NETWORK_CONNECTIONS, "network", "open through the proxy", "Open fewer connections at once"},
    {LIMIT_NETWORK_IN, "network", "used up", "Fetch less"},
    {LIMIT_NETWORK_OUT, "network", "used up", "Send less"},
    {LIMIT_NETWORK_TIME, "network", "reached by a connection", "Keep connections for less time"},
    {LIMIT_MEMORY, "memory", "used up, and a process was killed for it", "Work on the data in parts"},
};

static const char *
denial_hint_of (const char *kind)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i].kind, kind) == 0)
      return kinds[i].hint;
  return NULL;
}

/* Beside a proxy, a denial from the sandbox itself means that the code bypassed the proxy. */
static const char *
hint_for (const char *kind, const struct network_rules *network)
{
  if (network_rules_needs (network) == NETWORK_ALLOW && strcmp (kind, "network") == 0)
    return "The only way out is the proxy that http_proxy and https_proxy name, to the hosts that the "
           "profile "
           "allows ([network] allow): use urllib, requests or curl, which respect these variables.";
  return denial_hint_of (kind);
}

/* Not a network denial. */
#define LOCAL_SOCKET "socket AF_UNIX"
#define LOCAL_SOCKET_HINT                                                                                    \
  "Local sockets with a name are refused where those of others would be in reach, as in a work directory "   \
  "that can be written to: use pipes or socketpair(), or the directory as an overlay."

/* Kernel files about the host, which no file that is passed in could replace. */
static const char *const kernel_places[] = {"/proc/", "/dev/", "/sys/"};
#define KERNEL_HINT                                                                                          \
  "What the kernel tells in /proc, /dev and /sys is there for the sandbox's own processes only, and no "     \
  "file "                                                                                                    \
  "can be passed in its place: do without it."

/* DETAIL is "read PATH" or "execute PATH". */
static gboolean
is_of_the_kernel (const char *detail)
{
  const char *path = detail ? strchr (detail, '/') : NULL;
  for (gsize i = 0; path && i < G_N_ELEMENTS (kernel_places); i++)
    if (g_str_has_prefix (path, kernel_places[i]))
      return TRUE;
  return FALSE;
}

/* A missing package may be available in another way. */
static char *
denial_advise (const char *hint, const json_t *denial, enum packages_way way, enum request_voice voice)
{
  gboolean install = strcmp (json_member_text (denial, "kind"), "install") == 0;
  GString *text = g_string_new (hint);
  g_string_replace (text, FILES, files_words[voice], 0);
  if (install)
    g_string_append_printf (text, " %s", packages_advice (way));
  return g_string_free (text, FALSE);
}

/* A directory of the host is /work, and cannot be written to. */
#define WORKDIR_HINT                                                                                         \
  "The work directory can only be read: write to the directory for temporary files ($TMPDIR, or /tmp), or "  \
  "use it as an overlay, or with the right to write"
static const char *const workdir_hints[] = {
    [VOICE_COMMAND] = WORKDIR_HINT " (--workdir DIR:overlay, DIR:rw).",
    [VOICE_BODY] = WORKDIR_HINT ".",
    [VOICE_TOOL] = WORKDIR_HINT ".",
};

static gboolean
is_read_only (const char *kind, const char *detail, enum workdir_mode workdir)
{
  return workdir == WORKDIR_READ && g_strcmp0 (kind, "write") == 0 && detail &&
         g_str_has_prefix (detail, "write /work/");
}

static const char *
hint_of_denial (const json_t *denial, const struct network_rules *network, enum workdir_mode workdir,
                enum request_voice voice)
{
  const char *detail = json_string_value (json_object_get (denial, "detail"));
  if (g_strcmp0 (detail, LOCAL_SOCKET) == 0)
    return LOCAL_SOCKET_HINT;
  const char *kind = json_string_value (json_object_get (denial, "kind"));
  if (g_strcmp0 (kind, "file") == 0 && is_of_the_kernel (detail))
    return KERNEL_HINT;
  if (is_read_only (kind, detail, workdir))
    return workdir_hints[voice];
  return hint_for (kind, network);
}

gboolean
denial_is_kind (const char *kind)
{
  return denial_hint_of (kind) != NULL;
}

void
denial_add (json_t *list, const char *kind, json_t *detail)
{
  g_autoptr (json_t) denial = json_pack ("{s:s, s:o}", "kind", kind, "detail", detail);
  gsize index;
  json_t *known;
  json_array_foreach (list, index, known) if (json_equal (known, denial)) return;
  json_array_append (list, denial);
}

/* "pids: 64 at once", and the limit's maximum. */
static void
denial_add_limit (json_t *list, gsize which, const struct limits *limits, const struct limits *maxima,
                  enum request_voice voice)
{
  enum limit limit = limit_kinds[which].limit;
  const struct limit_row *row = &limit_table[limit];
  g_autofree char *value = quantity_format (limits->value[limit], row->unit);
  g_autofree char *how =
      voice == VOICE_COMMAND ? g_strdup_printf ("--limit %s=..., ", row->name) : g_strdup ("");
  g_autofree char *detail = g_strdup_printf ("%s: %s %s", row->name, value, limit_kinds[which].what);
  g_autofree char *hint = explain_advice (limit_kinds[which].advice, limit, voice, how, limits, maxima);
  json_array_append_new (
      list, json_pack ("{s:s, s:s, s:s}", "kind", limit_kinds[which].kind, "detail", detail, "hint", hint));
}

json_t *
denial_list (const json_t *reported, guint32 limits_met, const struct verdict *verdict,
             const struct limits *limits, const struct limits *maxima, const struct network_rules *network,
             enum packages_way way, enum workdir_mode workdir, enum request_voice voice)
{
  json_t *list = reported ? json_deep_copy (reported) : json_array ();
  gsize index;
  json_t *denial;
  if (verdict->cause == CAUSE_SIGNAL && verdict->signal == SIGSYS)
    denial_add (list, "call", json_string ("ended by SIGSYS"));
  json_array_foreach (list, index, denial)
  {
    g_autofree char *hint =
        denial_advise (hint_of_denial (denial, network, workdir, voice), denial, way, voice);
    json_object_set_new (denial, "hint", json_string (hint));
  }

  if (verdict->cause == CAUSE_SIGNAL && verdict->signal == SIGXFSZ)
    limits_met |= 1u << LIMIT_FILE_SIZE;
  if (verdict->outcome == ADDER_OUTCOME_MEMORY_LIMIT)
    limits_met &= ~(1u << LIMIT_MEMORY);
  for (gsize i = 0; i < G_N_ELEMENTS (limit_kinds); i++)
    if (limits_met & (1u << limit_kinds[i].limit))
      denial_add_limit (list, i, limits, maxima, voice);
  return list;
}
