/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets for people, on standard output. */
#pragma once

#include <jansson.h>

/* A line for each of DATASETS, as the tool list_datasets returns them. */
void data_view_list (const json_t *datasets);

/* The description of one, DATASET of the tool show_dataset. */
void data_view_one (const json_t *dataset);

/* The rows of a table, each an object. */
void data_view_rows (const json_t *rows);
