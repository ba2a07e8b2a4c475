/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of server_store.c, each ending with a row without an op. */
#pragma once

#include "frontends/server_store.h"

extern const struct store_op server_store_files[], server_store_output[], server_store_records[],
    server_store_tables[];
