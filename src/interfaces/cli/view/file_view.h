/* SPDX-License-Identifier: Apache-2.0 */
/* Kept files and the store for people, on standard output. Names were chosen by others: each is shown as one
 * line of plain text. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* The files of a list, one line each; OWNERS: with their owners. */
void file_view_list (const json_t *files, gboolean owners);
void file_view_one (const json_t *file);
/* Where things are, and how full it is. */
void file_view_store (const json_t *store);
/* The results of a check. */
void file_view_check (const json_t *found);
