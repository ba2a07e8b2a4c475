/* SPDX-License-Identifier: Apache-2.0 */
/* Toolset `workbench`: a scientist's agent, in the user's own directory. */
#include <string.h>

#include "tools/attached_files.h"
#include "tools/call.h"
#include "tools/dataset_tools.h"
#include "tools/export_tool.h"
#include "tools/materials_tools.h"
#include "tools/result_tools.h"
#include "tools/shapes.h"

#define PROFILE "workbench"

/* For each output; longer ones are kept whole, and the reply has a preview. */
#define TEXT_CHARACTERS 30000

static const struct field execute_parameters[] = {
    FIELD_CODE ("The Python code. Only what it prints comes back: use print() for results and plt.savefig() "
                "for figures."),
    FIELD_TIMEOUT ("60", 3600),
    FIELD_DESCRIPTION,
    {0},
};

static const struct field execute_reply[] = {
    {.name = "exit_code",
     .types = FIELD_INTEGER,
     .text = "0 when the code ended well, as a shell would see it."},
    {.name = "stdout", .types = FIELD_TEXT, .text = "What the code wrote on standard output."},
    {.name = "stderr", .types = FIELD_TEXT, .text = "What it wrote on standard error, with the traceback."},
    {.name = "success", .types = FIELD_BOOLEAN, .text = "Whether exit_code is 0."},
    {.name = "result_id",
     .types = FIELD_TEXT,
     .optional = TRUE,
     .text = "Where stdout or stderr is a preview: under which peek_result reads all of it."},
    {0},
};

static const struct field execute_timeout[] = {
    {.name = "error",
     .types = FIELD_TEXT,
     .text = "\"Timed out after 60s\", with the time limit that was asked for."},
    {.name = "exit_code", .types = FIELD_INTEGER, .text = "124."},
    {0},
};

static const struct field *const execute_replies[] = {execute_reply, execute_timeout, NULL};

static json_t *
toolset_workbench_reply_of (const struct call *call, const struct ran *ran)
{
  if (ran->outcome == ADDER_OUTCOME_TIMEOUT) {
    g_autofree char *text =
        g_strdup_printf ("Timed out after %" G_GINT64_FORMAT "s", call_integer (call, "timeout"));
    return json_pack ("{s:s, s:i}", "error", text, "exit_code", ran->exit_code);
  }
  if (ran->outcome == ADDER_OUTCOME_REFUSED) {
    g_autofree char *refusal = ran_refusal (ran);
    return json_pack ("{s:s}", "error", refusal);
  }
  g_autofree char *errors = ran_stderr (ran);
  g_autofree char *out = ran_preview (ran, "stdout", ran_text (ran, "stdout"), TEXT_CHARACTERS);
  g_autofree char *err = ran_preview (ran, "stderr", errors, TEXT_CHARACTERS);
  gboolean whole = !json_is_true (json_object_get (ran->result, "truncated")) &&
                   strcmp (out, ran_text (ran, "stdout")) == 0 && strcmp (err, errors) == 0;
  return json_pack ("{s:i, s:s, s:s, s:b, s:s*}", "exit_code", ran->exit_code, "stdout", out, "stderr", err,
                    "success", ran->exit_code == 0, "result_id", whole ? NULL : ran_result_id (ran));
}

static void
handle_execute (struct call *call)
{
  struct ran ran;
  g_autoptr (GError) problem = NULL;
  AdderRequest *request = call_request (call, call_text (call, "code"), PROFILE);
  adder_request_set_keep_over (request, TEXT_CHARACTERS);
  if (!call_set_timeout (call, request, PROFILE, call_integer (call, "timeout"), &problem) ||
      !call_set_directory (call, request, &problem) || !attached_files_put (call, NULL, request, &problem)) {
    adder_request_free (request);
    call_fail (call, problem);
  } else if (call_run (call, request, &ran)) {
    call_reply (call, toolset_workbench_reply_of (call, &ran), &ran);
    ran_clear (&ran);
  }
}

static const struct tool tools[] = {
    {
        .name = "execute_python",
        .title = "Run Python in the user's directory",
        .description =
            "Runs Python code in the user's own environment and current directory and returns "
            "{exit_code, stdout, stderr, "
            "success}. Every call is a fresh process: nothing stays but files. Use print() "
            "for what you want to see, "
            "and plt.savefig(\"plot.png\") for figures, which then lie in the directory. The user "
            "may be asked first, and "
            "sees the code and your description. After the time limit everything is ended and the "
            "reply is {error, "
            "exit_code: 124}; when that happens do less at once, or ask for more time. Of output over 30,000 "
            "characters the reply has a preview and a result_id: peek_result reads on. What can be imported "
            "is the "
            "standard library and what is installed in that environment.",
        .guidance =
            "Use it to transform, analyse and plot data instead of telling the user how to. Look at the data "
            "before you work on it, print only what is needed, and read stderr when success is false: "
            "correct "
            "the cause, do not repeat the same code.",
        .role = ROLE_USER,
        .hints = TOOL_EXECUTES | TOOL_DESTRUCTIVE | TOOL_OPEN_WORLD | TOOL_OWN_ENVIRONMENT,
        .parameters = execute_parameters,
        .replies = execute_replies,
        .handle = handle_execute,
    },
    TOOL_SEARCH_MATERIALS (ROLE_USER),
    TOOL_LIST_MATERIALS_PROVIDERS (ROLE_USER),
    TOOL_QUERY_MATERIALS_PROJECT (ROLE_USER),
    TOOLS_DATASETS (ROLE_USER),
    TOOL_EXPORT_RESULTS_CSV (ROLE_USER),
    TOOL_PEEK_RESULT (ROLE_USER),
};

const struct toolset toolset_workbench = {
    .name = "workbench",
    .title = "Research workbench: find data, then transform, analyse and plot it",
    .prompt =
        "You work at a scientist's command line: find data, then transform, analyse and plot it without "
        "leaving. Python runs in the user's current directory and own environment, with all that is "
        "installed there, such as pandas, numpy, matplotlib, pymatgen, ASE and scikit-learn, with the "
        "user's network, and after the user has said yes. Each run starts afresh: print() what you want "
        "to read, and plt.savefig() what the user wants to see.",
    .directory_profile = PROFILE,
    .tools = tools,
    .count = G_N_ELEMENTS (tools),
};
