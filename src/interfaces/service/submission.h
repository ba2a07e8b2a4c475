/* SPDX-License-Identifier: Apache-2.0 */
/* A run as it is asked for on the local socket: a JSON body, code, and descriptors. The command line fills
 * one whether it goes to a daemon or not, so both ways check the same things with the same words. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"

#define SUBMISSION_FDS_MAX 253 /* files, standard input and directories: the kernel's bound for a message */

struct submission {
  /* The fields of library_request_read; what is left out is null, empty or, save "wait", false. "force": the
   * files that are saved replace those that are there. */
  json_t *body;
  char *code; /* bytes, perhaps not UTF-8 */
  gsize code_length;
  /* Owned: one for each of "files", then standard input, then the work directory, then the directory to save
   * to, where they are there.
   */
  int fds[SUBMISSION_FDS_MAX];
  gsize fd_count;
};

void submission_init (struct submission *request);
void submission_clear (struct submission *request);

/* Takes *FD over. ADDER_ERROR_INVALID when there are too many. */
gboolean submission_take_fd (struct submission *request, int *fd, GError **error);

/* The library's request that REQUEST means. An unknown field, a value of the wrong type, a limit out of
 * bounds or descriptors that do not fit are ADDER_ERROR_INVALID. The caller's. */
AdderRequest *submission_build (const struct submission *request, GError **error);

/* The descriptor of the directory to save to, REQUEST's; -1 where there is none. */
int submission_directory (const struct submission *request);

/* Writes the files of RESULT there, over those that are there where REQUEST says "force". What
 * adder_result_save_files tells, the caller's; with ERROR when a file was not written. */
json_t *submission_save (const struct submission *request, const AdderResult *result, GError **error);
