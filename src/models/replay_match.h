/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a question is the one that a replay was recorded with.
 *
 * Compared is what the model would have to answer to: the messages since its last answer, the names of the
 * tools, and the tool that it must call. Not compared are the instructions (their wording is Adder's, and
 * every version would break every recording) and what a run changes by itself: ids, times, durations,
 * addresses and URLs of files in results of tools, and the pixels of pictures. */
#pragma once

#include "models/question.h"

/* QUESTION as a recording holds it: {"new": [MESSAGE ...], "tools": [NAMES], "tool": NAME | "" | null},
 * pictures without their data. The caller's. */
json_t *replay_ask (const struct model_question *question);

/* Whether ASK, of a file, is a form that can be compared: NULL, {"contains": [TEXT ...]}, or members of the
 * above, of which those that are there are compared. MODEL_ERROR_INVALID says what is wrong. */
gboolean replay_ask_check (const json_t *ask, GError **error);

/* NULL: ASK (of a file, or NULL) is what QUESTION asks. Otherwise what is different, as the end of a sentence
 * that begins with the place: "the text of new message 1 (user) is \"x\", and was \"y\"". The caller's. */
char *replay_difference (const json_t *ask, const struct model_question *question);

/* TEXT with what a run changes by itself replaced by words for it; OF_RESULT: times, durations and addresses
 * as well. The caller's. For tests. */
char *replay_settle (const char *text, gboolean of_result);
