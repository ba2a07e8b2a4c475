/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of the toolset `adder`. */
#pragma once

#include "tools/call.h"

/* Sets what run_python and session_new both have: environment, memory and time. */
gboolean adder_settle (const struct call *call, AdderRequest *request, GError **error);

void adder_run_tool (struct call *call);
void adder_session_new_tool (struct call *call);
