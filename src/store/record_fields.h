/* SPDX-License-Identifier: Apache-2.0 */
/* Records as fields: what interfaces are answered, and by what they may choose. */
#pragma once

#include "common/field_rows.h"

/* One record, one in a list, and a list. */
extern const struct field record_fields[], record_brief_fields[], record_list_fields[];

/* The directory of the host in which a run works, as a record and an approval have it. */
extern const struct field record_workdir_fields[];

/* ---- filters ---- */

enum record_filter_kind {
  RECORD_FILTER_EXACT, /* the column of that name */
  RECORD_FILTER_OUTCOME,
  RECORD_FILTER_SINCE,
  RECORD_FILTER_UNTIL,
  RECORD_FILTER_CODE,   /* a part of it */
  RECORD_FILTER_TOOL,   /* its name, or with its toolset's before it */
  RECORD_FILTER_BEFORE, /* "MS:RUN_ID" */
  RECORD_FILTER_LIMIT,
};

/* clang-format off */
#define RECORD_FILTER(member, most, kind, says) \
  {.name = (member), .types = FIELD_TEXT, .optional = TRUE, .maximum = (most), .text = (says), \
   .marks = RECORD_FILTER_##kind}

/* What a list, statistics and an export take, as rows of a table. */
#define RECORD_FILTERS \
    RECORD_FILTER ("since", 64, SINCE, "A day, a time, or an age: 2h."), \
    RECORD_FILTER ("until", 64, UNTIL, "Likewise."), \
    RECORD_FILTER ("outcome", 32, OUTCOME, "Only this value."), \
    RECORD_FILTER ("tool", 128, TOOL, "With its toolset or without."), \
    RECORD_FILTER ("profile", 64, EXACT, "Only this value."), \
    RECORD_FILTER ("environment", 64, EXACT, "Only this value."), \
    RECORD_FILTER ("front_end", 32, EXACT, "Only this value."), \
    RECORD_FILTER ("session", 64, EXACT, "Cells of this session, by its id."), \
    RECORD_FILTER ("conversation", ADDER_CONVERSATION_BYTES, EXACT, "Runs of this conversation."), \
    RECORD_FILTER ("node", 255, EXACT, "Of this machine."), \
    RECORD_FILTER ("code", 1000, CODE, "Only runs whose code contains the text.")

/* What a list takes besides. */
#define RECORD_LIMIT_STANDARD 50
#define RECORD_LIMIT_MAX     1000
#define RECORD_PAGE \
    {.name = "limit", .types = FIELD_INTEGER, .optional = TRUE, .minimum = 1, \
     .standard = G_STRINGIFY (RECORD_LIMIT_STANDARD), .maximum = RECORD_LIMIT_MAX, .text = "How many at most.", .marks = RECORD_FILTER_LIMIT}, \
    RECORD_FILTER ("before", 64, BEFORE, "The `next` of the previous page.")
/* clang-format on */
