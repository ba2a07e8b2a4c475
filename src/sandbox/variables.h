/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables ("NAME=VALUE") that every zygote has, wherever it is. Each list ends with NULL.
 */
#pragma once

/* Of every program in a sandbox. */
extern const char *const variables_common[];
/* And of an interpreter. */
extern const char *const variables_interpreter[];
