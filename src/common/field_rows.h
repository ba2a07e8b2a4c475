/* SPDX-License-Identifier: Apache-2.0 */
/* Short forms of rows, for large field tables. _0: or null. */
#pragma once

#include "common/field.h"

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

/* Optional members of answers. */
#define SOME(...) {__VA_ARGS__, .optional = TRUE}

/* Members without descriptions, sent only by programs. */
#define MUST_TEXT(member)  {.name = (member), .types = FIELD_TEXT}
#define MAY_TEXT(member)   {.name = (member), .types = FIELD_TEXT, .optional = TRUE}
#define MAY_FLAG(member)   {.name = (member), .types = FIELD_BOOLEAN, .optional = TRUE}
#define MAY_OBJECT(member) {.name = (member), .types = FIELD_OBJECT, .optional = TRUE}

/* Optional members of queries and bodies. */
#define ASK_TEXT(member, most, says) \
  {.name = (member), .types = FIELD_TEXT, .optional = TRUE, .maximum = (most), .text = (says)}
#define ASK_FLAG(member, says) \
  {.name = (member), .types = FIELD_BOOLEAN, .optional = TRUE, .standard = "false", .text = (says)}
/* clang-format on */
