/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a language model one question: the whole conversation so far, and its next message. Which API speaks
 * to it, or whether a file plays it (replay:FILE), is settled by the model's name. */
#pragma once

#include <glib.h>

#include "models/question.h"

struct model;

/* The model NAME of models.conf, "replay:FILE", or (NULL) the one that ADDER_MODEL or models.conf names.
 * MODEL_ERROR_UNKNOWN says how one is added. Nothing is asked yet. */
struct model *model_open (const char *name, GError **error);
/* The name that NULL stands for there. The caller's. */
char *model_default (GError **error);
/* From now on, appends each question and its answer to FILE, which replay:FILE then plays. */
gboolean model_record (struct model *model, const char *file, GError **error);
/* NULL is allowed. */
void model_free (struct model *model);

const struct model_facts *model_facts (const struct model *model);

/* Asks, as often as its settings say where the server was busy. From one thread at a time. Calls that the
 * model wrote into its text are call parts of the answer (written.h). Errors are those above; each message is
 * one sentence that says what to do, and never holds a key. */
gboolean model_ask (struct model *model, const struct model_question *question,
                    struct model_answer *ret_answer, GError **error);
