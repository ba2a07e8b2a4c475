/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/prompts.h"

#include <string.h>

static const char *const texts[PROMPTS] = {
    [PROMPT_TYPED] =
        "You work on a task in steps. Each step is one call of the tool next_step: current_state is what you "
        "know by now and what is still to be done, in a sentence or two; function is exactly one of the "
        "functions below, with its arguments. What the function returned comes back as the result of your "
        "call. Look at it before you decide on the next step. Do not guess what a function would return, and "
        "pass on what it returned letter by letter. When the task is done, or when it cannot be done, the "
        "function is report_completion. Nothing that you write anywhere else is read.",
    [PROMPT_NATIVE] =
        "You work on a task by calling tools. Look at what a call returned before you decide on the next "
        "one. Do not guess what a tool would return, and pass on what it returned letter by letter. When the "
        "task is done, or when it cannot be done, call report_completion with your answer.",
    [PROMPT_CHAT] =
        "You chat with a person, and can call tools. Answer what you know; call a tool where exact work is "
        "needed, and look at what it returned before you go on. Do not guess what a tool would return, and "
        "do "
        "not repeat at length what it printed. Be brief. Pictures that a tool makes are shown to the person.",
    [PROMPT_NEXT_STEP] = "Takes the next step: what you think, and the one function to call now.",
    [PROMPT_STATE] = "What you know by now and what is still to be done, in a sentence or two.",
    [PROMPT_FUNCTION] = "Exactly one function, with its arguments.",
    [PROMPT_COMPLETION] = "Reports that the task is done, or that it cannot be done. It is the last step.",
    [PROMPT_COMPLETED] = "Whether the task is done.",
    [PROMPT_ANSWER] = "The answer for the one who gave the task; where it is not done, why.",
    [PROMPT_OTHER_TOOLS] = "Tools of the task:\n",
    [PROMPT_STEPS] = "There are at most %s steps, the report included.",
    [PROMPT_LAST_STEP] = "[One step is left. It has to be report_completion, with what you know by now.]",
    [PROMPT_NO_CALL_TYPED] = "That was no step. Call next_step, with current_state and one function; when "
                             "the task is done, the function is report_completion.",
    [PROMPT_NO_CALL_NATIVE] = "Are you done? Then call report_completion with your answer. If not, call the "
                              "next tool.",
    [PROMPT_ONE_AT_A_TIME] = "This was not done: a step is one call, and another was made before it. Look at "
                             "its result first.",
    [PROMPT_AFTER_REPORT] = "This was not done: the completion was reported before it.",
    [PROMPT_TOO_MANY] =
        "This was not done: an answer can have %s calls, and this is one too many. Look at their "
        "results first.",
    [PROMPT_REPEATED] = "This was not done: you have made the same call with the same arguments three times "
                        "running, and it would return the same. Change your approach: use other arguments or "
                        "another function, or report what you have.",
    [PROMPT_NO_APPROVAL] = "This was not done: it needs a person's approval, and nobody said yes. Go on "
                           "without it if you can; otherwise report that it needs an approval.",
    [PROMPT_WITHOUT_TOOL] = "[%s has failed several times running for reasons that are not yours. It is not "
                            "available any more: go on without it, and say in your report that it failed.]",
    [PROMPT_CUT] = "\n[... %s bytes are left out here; %s ...]\n",
    [PROMPT_READ_ON] = "peek_result with result_id \"%s\" reads on, and with grep finds lines",
    [PROMPT_ASK_FOR_LESS] = "ask for less, or for a part of it",
    [PROMPT_PICTURE_SHOWN] = "[A picture comes with this%s.]",
    [PROMPT_PICTURE_UNSEEN] = "[A picture was made%s. You cannot see it.]",
    [PROMPT_PICTURE_LARGE] =
        "[A picture was made%s. It is too large to be shown to you: make a smaller one.]",
    [PROMPT_CANCELLED] = "This was cancelled by the user.",
    [PROMPT_DONE] = "Reported.",
    [PROMPT_UNKNOWN_TOOL] = "There is no function \"%s\". There are: %s.",
    [PROMPT_CUT_ANSWER] = "Your answer was longer than it may be and broke off. Make it shorter.",
};

const char *
prompt_text (enum prompt prompt)
{
  return texts[prompt];
}

char *
prompt_fill (enum prompt prompt, const char *first, const char *second)
{
  const char *const fillings[] = {first, second};
  const char *from = texts[prompt], *gap;
  GString *filled = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (fillings) && fillings[i] && (gap = strstr (from, "%s")); i++) {
    g_string_append_len (filled, from, gap - from);
    g_string_append (filled, fillings[i]);
    from = gap + strlen ("%s");
  }
  g_string_append (filled, from);
  return g_string_free (filled, FALSE);
}
