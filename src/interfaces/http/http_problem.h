/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in HTTP: problem documents (RFC 9457), and the way back from a status to an error. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct http_request;
struct principal;

/* A problem document: the caller's. REQUEST may be NULL. */
json_t *http_problem_document (int status, const char *code, const char *detail,
                               struct http_request *request);
int http_problem_status (const GError *problem);
/* The document with what WHO (NULL: nobody known) is told of PROBLEM. The caller's. */
json_t *http_problem_told (const struct principal *who, gboolean at_terminal, const GError *problem);
const char *http_status_words (int status);

/* The ADDER_ERROR that was replied as STATUS with the code WORD, or the nearest one. */
int http_problem_error (int status, const char *word);
