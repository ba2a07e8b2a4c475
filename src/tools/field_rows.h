/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of replies in short, for tables that have many. _0: or null. */
#pragma once

#include "tools/table.h"

/* clang-format off */
#define TEXT(member, says)    {.name = (member), .types = FIELD_TEXT, .text = (says)}
#define TEXT_0(member, says)  {.name = (member), .types = FIELD_TEXT | FIELD_NULL, .text = (says)}
#define WHOLE(member, says)   {.name = (member), .types = FIELD_INTEGER, .text = (says)}
#define WHOLE_0(member, says) {.name = (member), .types = FIELD_INTEGER | FIELD_NULL, .text = (says)}
#define REAL(member, says)    {.name = (member), .types = FIELD_NUMBER, .text = (says)}
#define FLAG(member, says)    {.name = (member), .types = FIELD_BOOLEAN, .text = (says)}
#define TEXTS(member, says)   {.name = (member), .types = FIELD_LIST, .items = FIELD_TEXT, .text = (says)}
#define PART_0(member, of, says) \
  {.name = (member), .types = FIELD_OBJECT | FIELD_NULL, .members = (of), .text = (says)}
#define PART(member, of, says) {.name = (member), .types = FIELD_OBJECT, .members = (of), .text = (says)}
#define LIST(member, of, says) \
  {.name = (member), .types = FIELD_LIST, .items = FIELD_OBJECT, .members = (of), .text = (says)}
/* clang-format on */
