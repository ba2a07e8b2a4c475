/* SPDX-License-Identifier: Apache-2.0 */
/* Toolset `code_executor`: an assistant platform's tools, each a fresh sandbox. */
#include <string.h>

#include "common/file_name.h"
#include "common/json.h"
#include "tools/attached_files.h"
#include "tools/call.h"
#include "tools/file_tools.h"
#include "tools/shapes.h"

#define PROFILE         "code_executor"
#define SHELL_PROFILE   "shell"
#define TEXT_CHARACTERS 8000
#define FILES_BYTES     4000 /* of the lines that say where files are */
#define TIMED_OUT       (-1)

static const struct field run_parameters[] = {
    FIELD_CODE (
        "The Python code. Write files that shall come back to the current directory or /tmp/output/."),
    FIELD_TIMEOUT ("30", 60),
    {0},
};

static const struct field file_members[] = {
    {.name = "filename", .types = FIELD_TEXT, .text = "Its name, without directories."},
    {.name = "url",
     .types = FIELD_TEXT | FIELD_NULL,
     .text = "Where to download it; null where it is not stored."},
    {0},
};

static const struct field run_reply[] = {
    {.name = "stdout",
     .types = FIELD_TEXT,
     .text = "What the code printed, then the URLs of stored files; at most 8000 characters."},
    {.name = "stderr",
     .types = FIELD_TEXT,
     .text = "What it wrote on standard error, with the traceback, at most 8000 characters."},
    {.name = "exit_code",
     .types = FIELD_INTEGER,
     .text = "0 when the code ended well; -1 when time was over."},
    {.name = "files",
     .types = FIELD_LIST,
     .items = FIELD_OBJECT,
     .members = file_members,
     .text = "Files that are new or changed in the current directory and /tmp, or below."},
    {0},
};

static const struct field *const run_replies[] = {run_reply, NULL};

/* ---- files ---- */

static const char *const endings[] = {
    "csv", "tsv",  "json", "jsonl", "txt",  "md",   "html",    "xml", "pdf", "png",
    "jpg", "jpeg", "svg",  "gif",   "webp", "xlsx", "parquet", "npy", "npz", "zip",
};

static gboolean
is_in_list (const char *list, const char *word)
{
  g_auto (GStrv) words = g_strsplit_set (list, " \t,;", -1);
  return g_strv_contains ((const char *const *)words, word);
}

static gboolean
is_recognised (const struct config *config, const char *name)
{
  const char *dot = strrchr (name, '.');
  if (!dot)
    return FALSE;
  g_autofree char *ending = g_ascii_strdown (dot + 1, -1);
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    if (strcmp (endings[i], ending) == 0)
      return TRUE;
  const char *more = config->file_endings; /* adder serve reload may change it in between */
  return more && ending[0] != '\0' && is_in_list (more, ending);
}

static json_t *
files_of (const struct call *call, const struct ran *ran)
{
  json_t *files = json_array ();
  gsize index;
  json_t *file;
  json_array_foreach (json_object_get (ran->result, "files"), index, file)
  {
    const char *name = json_string_value (json_object_get (file, "name"));
    if (!is_recognised (call->tools->config, name))
      continue;
    g_autofree char *base = file_name_clean (name);
    json_array_append_new (files, json_pack ("{s:o, s:O}", "filename", json_text_or_null (base), "url",
                                             json_object_get (file, "url")));
  }
  return files;
}

/* ---- the run ---- */

/* The first, or the LAST, characters of TEXT, MOST of them. The caller's. */
static char *
toolset_code_executor_cut (const char *text, glong most, gboolean last)
{
  glong length = g_utf8_strlen (text, -1);
  if (length <= most)
    return g_strdup (text);
  return last ? g_utf8_substring (text, length - most, length) : g_utf8_substring (text, 0, most);
}

/* A line for each stored one of FILES, for readers of plain text. The caller's. */
static char *
lines_of (const json_t *files)
{
  GString *text = g_string_new (NULL);
  gsize index, left = 0;
  json_t *file;
  json_array_foreach (files, index, file)
  {
    const char *name = json_string_value (json_object_get (file, "filename"));
    const char *url = json_string_value (json_object_get (file, "url"));
    if (url && text->len + strlen (name) + strlen (url) < FILES_BYTES)
      g_string_append_printf (text, "%s: %s\n", name, url);
    else if (url)
      left++;
  }
  if (left > 0)
    g_string_append_printf (text, "(and %" G_GSIZE_FORMAT " more)\n", left);
  return g_string_free (text, FALSE);
}

/* The printed output, and where the files are, within the bounds of one text. The caller's. */
static char *
toolset_code_executor_stdout_of (const struct ran *ran, const json_t *files)
{
  const char *printed = ran_text (ran, "stdout");
  g_autofree char *lines = lines_of (files);
  if (lines[0] == '\0')
    return toolset_code_executor_cut (printed, TEXT_CHARACTERS, FALSE);
  g_autofree char *shown = toolset_code_executor_cut (
      printed, TEXT_CHARACTERS - g_utf8_strlen (lines, -1) - (glong)strlen ("\nFiles:\n"), FALSE);
  gboolean ends_line = shown[0] == '\0' || g_str_has_suffix (shown, "\n");
  return g_strconcat (shown, ends_line ? "" : "\n", "Files:\n", lines, NULL);
}

/* Runs CODE within the call's time, with the files loaded for it. FALSE: the call is done, as with
 * call_run. */
static gboolean
run_loaded (struct call *call, const char *code, const char *profile, struct ran *ret_ran)
{
  g_autoptr (GError) problem = NULL;
  AdderRequest *request = call_request (call, code, profile);
  if (call_set_timeout (call, request, profile, call_integer (call, "timeout"), &problem) &&
      attached_files_put (call, NULL, request, &problem))
    return call_run (call, request, ret_ran);
  adder_request_free (request);
  call_fail (call, problem);
  return FALSE;
}

static void
toolset_code_executor_handle_run (struct call *call)
{
  struct ran ran;
  if (!run_loaded (call, call_text (call, "code"), PROFILE, &ran))
    return;
  g_autofree char *whole = ran_stderr (&ran);
  json_t *files = files_of (call, &ran);
  g_autofree char *out = toolset_code_executor_stdout_of (&ran, files);
  /* The error is at its end. */
  g_autofree char *err = toolset_code_executor_cut (whole, TEXT_CHARACTERS, TRUE);
  int exit_code = ran_is_timeout (&ran) ? TIMED_OUT : ran.exit_code;
  call_reply (call,
              json_pack ("{s:s, s:s, s:i, s:o}", "stdout", out, "stderr", err, "exit_code", exit_code,
                         "files", files),
              &ran);
  ran_clear (&ran);
}

/* ---- run_shell ---- */

static const struct field shell_parameters[] = {
    {.name = "command",
     .types = FIELD_TEXT,
     .minimum = 1,
     .maximum = CODE_MAX,
     .text = "The command line, or several lines: pipes, lists, loops, redirections to /tmp."},
    FIELD_TIMEOUT ("30", 60),
    {0},
};

static const struct field shell_reply[] = {
    {.name = "stdout", .types = FIELD_TEXT, .text = "What it printed, at most 8000 characters."},
    {.name = "stderr",
     .types = FIELD_TEXT,
     .text = "What it wrote on standard error, at most 8000 characters; of a command that was refused, each "
             "word that is not allowed, with the reason."},
    {.name = "exit_code",
     .types = FIELD_INTEGER,
     .text = "That of the last command; 126 when it was refused, -1 when time was over."},
    {0},
};

static const struct field *const shell_replies[] = {shell_reply, NULL};

/* Output that ran_stderr omits for a command that nevertheless succeeded, such as `curl ... | head`. */
static char *
shell_errors (const struct ran *ran)
{
  g_autofree char *errors = ran_stderr (ran), *advice = ran_advice (ran);
  return ran->outcome == ADDER_OUTCOME_OK ? g_strconcat (errors, advice, NULL) : g_steal_pointer (&errors);
}

static void
handle_shell (struct call *call)
{
  struct ran ran;
  if (!run_loaded (call, call_text (call, "command"), SHELL_PROFILE, &ran))
    return;
  g_autofree char *whole = shell_errors (&ran);
  g_autofree char *out = toolset_code_executor_cut (ran_text (&ran, "stdout"), TEXT_CHARACTERS, FALSE),
                  *err = toolset_code_executor_cut (whole, TEXT_CHARACTERS, TRUE);
  int exit_code = ran_is_timeout (&ran) ? TIMED_OUT : ran.exit_code;
  call_reply (call, json_pack ("{s:s, s:s, s:i}", "stdout", out, "stderr", err, "exit_code", exit_code),
              &ran);
  ran_clear (&ran);
}

static const struct tool tools[] = {
    {
        .name = "run_python",
        .title = "Run Python",
        .description = "Runs Python code in a fresh sandbox and returns {stdout, stderr, exit_code, files}. "
                       "The standard library, "
                       "numpy, pandas, matplotlib, requests, scipy and sympy are there. Only what is printed "
                       "comes back, so use "
                       "print(). Files written to the current directory, /tmp/output/ or /tmp/ with a common "
                       "ending such as csv, "
                       "json, png, pdf or xlsx "
                       "come back in files, and their URLs at the end of stdout; save figures with "
                       "plt.savefig(). Nothing stays for the "
                       "next call. The network "
                       "reaches only hosts that were allowed, in most cases none. exit_code is -1 when the "
                       "time limit was reached.",
        .guidance = "Use it for calculations, data work, plots and to check what you are not sure of. When "
                    "exit_code is "
                    "not 0, read stderr, correct the code and try again.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES | TOOL_OPEN_WORLD,
        .parameters = run_parameters,
        .replies = run_replies,
        .handle = toolset_code_executor_handle_run,
    },
    {
        .name = "run_shell",
        .title = "Run a command line",
        .description =
            "Runs a POSIX shell command line with programs that read: cat, head, tail, cut, sort, uniq, "
            "wc, grep, sed, awk, tr, jq, diff, find, xargs, ls, stat, file, base64, sha256sum, tar, "
            "date, seq, curl, wget and the like, with pipes, loops, functions and redirections. Each "
            "call is a fresh sandbox with an empty /work and /tmp that can be written to; nothing "
            "stays for the next call. Programs that delete, change rights, install, log in elsewhere "
            "or interpret code (rm, dd, chmod, docker, sudo, eval, ssh, nc, python3 ...) are refused "
            "before anything runs, and names of programs have to be written out. The network reaches "
            "only hosts that were allowed, in most cases none. exit_code is -1 when the time limit "
            "was reached.",
        .guidance =
            "Use it to look at text, JSON and files with the usual programs; for calculations, tables and "
            "plots use run_python. When a word is refused, read the reason in stderr and do without it.",
        .role = ROLE_GUEST,
        .hints = TOOL_EXECUTES | TOOL_OPEN_WORLD,
        .parameters = shell_parameters,
        .replies = shell_replies,
        .handle = handle_shell,
    },
    TOOL_LOAD_FILE (ROLE_GUEST, load_file_parameters,
                    " in this conversation (run_python and run_shell; without a conversation, of the next "
                    "one alone)",
                    load_file_tool),
    TOOL_LIST_FILES (ROLE_GUEST),
};

const struct toolset toolset_code_executor = {
    .name = "code_executor",
    .alias = "file_manager",
    .title = "Assistant platform: code and files",
    .prompt = "You can run code in a sandbox that is made anew for each call.",
    .tools = tools,
    .count = G_N_ELEMENTS (tools),
};
