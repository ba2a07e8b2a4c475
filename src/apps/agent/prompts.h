/* SPDX-License-Identifier: Apache-2.0 */
/* All that the loop says to a model, in one table. What a tool is for and when to use it stands in the tool's
 * own row (tools/table.h) and comes from tools/format.h. */
#pragma once

#include <glib.h>

enum prompt {
  PROMPT_TYPED,       /* the loop, where steps are typed */
  PROMPT_NATIVE,      /* the loop, where they are ordinary calls */
  PROMPT_CHAT,        /* a chat: turns end by themselves */
  PROMPT_NEXT_STEP,   /* description of the tool next_step */
  PROMPT_STATE,       /* description of its current_state */
  PROMPT_FUNCTION,    /* description of its function */
  PROMPT_COMPLETION,  /* description of report_completion */
  PROMPT_COMPLETED,   /* of its member */
  PROMPT_ANSWER,      /* of its member */
  PROMPT_OTHER_TOOLS, /* before the tools of the user's own */
  PROMPT_STEPS,       /* how many there are: a number goes in */
  PROMPT_LAST_STEP,   /* one is left */
  PROMPT_NO_CALL_TYPED,
  PROMPT_NO_CALL_NATIVE,
  PROMPT_ONE_AT_A_TIME,
  PROMPT_AFTER_REPORT,
  PROMPT_TOO_MANY, /* calls in one answer: how many there may be */
  PROMPT_REPEATED,
  PROMPT_NO_APPROVAL,
  PROMPT_WITHOUT_TOOL, /* a tool's runtime failed too often: its name goes in */
  PROMPT_CUT,          /* inside a long reply: bytes left out, and how to read on */
  PROMPT_READ_ON,      /* how, with a result_id */
  PROMPT_ASK_FOR_LESS, /* how, without */
  PROMPT_PICTURE_SHOWN,
  PROMPT_PICTURE_UNSEEN, /* the model cannot see */
  PROMPT_PICTURE_LARGE,
  PROMPT_CANCELLED,
  PROMPT_DONE,
  PROMPT_UNKNOWN_TOOL, /* its name, and those that there are */
  PROMPT_CUT_ANSWER,
  PROMPTS,
};

/* Static. Those into which something goes have a %s each. */
const char *prompt_text (enum prompt prompt);

/* PROMPT with FIRST and SECOND (NULL: none) in place of its %s. The caller's. */
char *prompt_fill (enum prompt prompt, const char *first, const char *second);
