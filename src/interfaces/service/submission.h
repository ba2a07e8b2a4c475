/* SPDX-License-Identifier: Apache-2.0 */
/* A run as it is asked for on the local socket: a JSON body, code, and descriptors. The command line fills
 * one whether it goes to a daemon or not, so both ways check the same things with the same words. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"

#define SUBMISSION_FDS_MAX 253 /* files, standard input and directories: the kernel's bound for a message */

struct submission {
  json_t *body; /* run_local_fields. "force": the files that are saved replace those that are there */
  char *code;   /* bytes, perhaps not UTF-8 */
  gsize code_length;
  int fds[SUBMISSION_FDS_MAX]; /* owned, in the order of run_body_read */
  gsize fd_count;
};

void submission_init (struct submission *request);
void submission_clear (struct submission *request);

/* Takes *FD over. ADDER_ERROR_INVALID when there are too many. */
gboolean submission_take_fd (struct submission *request, int *fd, GError **error);

/* The files of REQUEST's body, a list; the body's. */
json_t *submission_files (struct submission *request);

/* Adds a file that is *FD, which is taken over, as NAME, which is UTF-8. As submission_take_fd. */
gboolean submission_add_file (struct submission *request, const char *name, int *fd, GError **error);

/* The library's request that REQUEST means, of OWNER (NULL: nobody in particular). ADDER_ERROR_INVALID as
 * run_body_read. The caller's. */
AdderRequest *submission_build (const struct submission *request, const char *owner, GError **error);

/* The descriptor of the directory to save to, REQUEST's; -1 where there is none. */
int submission_directory (const struct submission *request);

/* Writes the files of RESULT there, over those that are there where REQUEST says "force". What
 * adder_result_save_files tells, the caller's; with ERROR when a file was not written. */
json_t *submission_save (const struct submission *request, const AdderResult *result, GError **error);
