/* SPDX-License-Identifier: Apache-2.0 */
/* What the library answers, as fields: for the replies of routes. The result of a run is in
 * tools/result_fields.h. */
#pragma once

#include "tools/result_fields.h"

/* clang-format off */
#define TEXT(member, says)    {.name = (member), .types = FIELD_TEXT, .text = (says)}
#define TEXT_0(member, says)  {.name = (member), .types = FIELD_TEXT | FIELD_NULL, .text = (says)}
#define WHOLE(member, says)   {.name = (member), .types = FIELD_INTEGER, .text = (says)}
#define WHOLE_0(member, says) {.name = (member), .types = FIELD_INTEGER | FIELD_NULL, .text = (says)}
#define REAL(member, says)    {.name = (member), .types = FIELD_NUMBER, .text = (says)}
#define REAL_0(member, says)  {.name = (member), .types = FIELD_NUMBER | FIELD_NULL, .text = (says)}
#define FLAG(member, says)    {.name = (member), .types = FIELD_BOOLEAN, .text = (says)}
#define TEXTS(member, says)   {.name = (member), .types = FIELD_LIST, .items = FIELD_TEXT, .text = (says)}
#define PART(member, of, says)   {.name = (member), .types = FIELD_OBJECT, .members = (of), .text = (says)}
#define PART_0(member, of, says) \
  {.name = (member), .types = FIELD_OBJECT | FIELD_NULL, .members = (of), .text = (says)}
#define LIST(member, of, says) \
  {.name = (member), .types = FIELD_LIST, .items = FIELD_OBJECT, .members = (of), .text = (says)}
#define MAP(member, of, says) {.name = (member), .types = FIELD_OBJECT, .items = (of), .text = (says)}

/* Members of answers that are there for some only. */
#define SOME(...) {__VA_ARGS__, .optional = TRUE}

/* Parameters of paths. */
#define ID_PATTERN "^[0-9a-fA-F-]{4,36}$"
#define PATH_ID(member, says) \
  {.name = (member), .types = FIELD_TEXT, .pattern = ID_PATTERN, .pattern_words = "an id", .text = (says)}

/* Members of queries and bodies that may be left out. */
#define ASK_TEXT(member, most, says) \
  {.name = (member), .types = FIELD_TEXT, .optional = TRUE, .maximum = (most), .text = (says)}
#define ASK_FLAG(member, says) \
  {.name = (member), .types = FIELD_BOOLEAN, .optional = TRUE, .standard = "false", .text = (says)}
#define ASK_OWNER \
  ASK_TEXT ("owner", 200, "Of an admin: whose; \"all\": everybody's. The caller's own where it is left out.")
#define ASK_CONVERSATION \
  ASK_TEXT ("conversation", TOOL_CONVERSATION_MOST, "To which it belongs, as the caller names it.")
#define ASK_WAIT \
  {.name = "wait_ms", .types = FIELD_INTEGER, .optional = TRUE, .standard = "0", .maximum = WAIT_MOST_MS, \
   .unit = "ms", .text = "How long to wait for the end before this is answered."}
#define WAIT_MOST_MS 600000
/* clang-format on */

extern const struct field no_fields[];
extern const struct field file_fields[], file_list_fields[], files_fields[];
extern const struct field session_fields[], session_list_fields[], variables_fields[], history_fields[],
    checkpoint_fields[], checkpoint_list_fields[];
extern const struct field approval_fields[], approval_list_fields[];
extern const struct field review_fields[], review_whole_fields[], review_list_fields[];
extern const struct field record_fields[], record_list_fields[], record_stats_fields[],
    record_verify_fields[];
