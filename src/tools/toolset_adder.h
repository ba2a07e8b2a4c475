/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of the toolset `adder`. */
#pragma once

#include "tools/call.h"

/* Sets the settings common to run_python and session_new: environment, memory and time. */
gboolean adder_settle (const struct call *call, AdderRequest *request, GError **error);

/* Makes the session that the call names, if none has that name and the caller has no tool that makes one. An
 * id refers only to existing sessions. *RET_NOTE, the caller's: a note for the model, or NULL. */
gboolean adder_session_ensure (const struct call *call, char **ret_note, GError **error);

/* Ends the session that RAN was a cell of, if any, and says so in its result. */
void adder_session_end_after (const struct call *call, struct ran *ran);

void adder_run_tool (struct call *call);
void adder_session_new_tool (struct call *call);
