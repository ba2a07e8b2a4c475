/* SPDX-License-Identifier: Apache-2.0 */
/* load_file and list_files: stored files in later runs. The same in each toolset that has them, except that
 * only ours names sessions. */
#pragma once

#include "tools/call.h"

extern const struct field load_file_parameters[], load_file_session_parameters[], list_files_parameters[];
extern const struct field *const load_file_replies[], *const list_files_replies[];

void load_file_tool (struct call *call);
/* The reply about a file called NAME in /tmp. */
void load_file_reply (struct call *call, const char *name);
void list_files_tool (struct call *call);

/* get_file: for clients that cannot follow links. */
extern const struct field get_file_parameters[];
extern const struct field *const get_file_replies[];
void get_file_tool (struct call *call);

#define FILES_OF_CALL 64

/* Whether TEXT can be a stored file's id, or "@" and a name; else it is a path. */
gboolean file_tools_is_id (const char *text);

/* clang-format off */
#define PARAMETER_FILES(says) \
  {.name = "files", .types = FIELD_LIST, .items = FIELD_TEXT, .optional = TRUE, .standard = "[]", \
   .maximum = FILES_OF_CALL, .text = (says)}
#define TOOL_LOAD_FILE(lowest, parameters_table, whose, handler) \
  { \
    .name = "load_file", \
    .title = "Load a stored file", \
    .description = "Puts a stored file at /tmp/{filename} of the runs that follow" whose ", and returns " \
                   "{local_path, filename}. A copy is what a run gets: the stored file never changes. " \
                   "A large one takes no time. Ids come from list_files and from files of earlier runs.", \
    .guidance = "Load a file once, then open local_path in the code; list_files tells what there is.", \
    .role = (lowest), \
    .hints = TOOL_EXECUTES | TOOL_IDEMPOTENT, \
    .parameters = (parameters_table), \
    .replies = load_file_replies, \
    .handle = (handler), \
  }
#define TOOL_LIST_FILES(lowest) \
  { \
    .name = "list_files", \
    .title = "List stored files", \
    .description = "Lists your stored files, the newest first: those that runs made and those that were " \
                   "put in, each with file_id, filename, mime, bytes and created.", \
    .role = (lowest), \
    .hints = TOOL_READ_ONLY | TOOL_IDEMPOTENT, \
    .parameters = list_files_parameters, \
    .replies = list_files_replies, \
    .handle = list_files_tool, \
  }
/* clang-format on */
