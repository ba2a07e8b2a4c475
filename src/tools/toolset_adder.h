/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of the toolset `adder`. */
#pragma once

#include "tools/call.h"

/* Sets what run_python and session_new both have: environment, memory and time. */
gboolean adder_settle (const struct call *call, AdderRequest *request, GError **error);

void adder_run_tool (struct call *call);
void adder_session_new_tool (struct call *call);
void adder_session_list_tool (struct call *call);
void adder_session_show_tool (struct call *call);
void adder_session_variables_tool (struct call *call);
void adder_session_history_tool (struct call *call);
void adder_session_reset_tool (struct call *call);
void adder_session_interrupt_tool (struct call *call);
void adder_session_checkpoint_tool (struct call *call);
void adder_session_rollback_tool (struct call *call);
void adder_session_branch_tool (struct call *call);
void adder_session_end_tool (struct call *call);
