/* SPDX-License-Identifier: Apache-2.0 */
/* What a daemon can be told while it runs. */
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"

/* NULL with ERROR: there is none around the engine. */
static const struct daemon *
daemon_of (const struct operation_call *call, GError **error)
{
  const struct daemon *daemon = &call->caller->engine->daemon;
  if (daemon->data)
    return daemon;
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                       "this program has an engine of its own: there is no daemon");
  return NULL;
}

static json_t *
daemon_listen (const struct operation_call *call, GError **error)
{
  const struct daemon *daemon = daemon_of (call, error);
  return daemon ? daemon->listen (daemon->data, operation_text (call, "addresses"),
                                  operation_flag (call, "off"), error)
                : NULL;
}

static json_t *
daemon_reload (const struct operation_call *call, GError **error)
{
  const struct daemon *daemon = daemon_of (call, error);
  return daemon ? daemon->reload (daemon->data, error) : NULL;
}

/* ---- the fields ---- */

static const struct field listen_params[] = {
    ASK_TEXT ("addresses", 4096,
              "Where to answer HTTP, between blanks, as in [http] listen; by default there, else on "
              "127.0.0.1:7117."),
    ASK_FLAG ("off", "At its own socket alone."),
    {0},
};
static const struct field listen_fields[] = {
    TEXTS ("addresses", "Where it answers HTTP now."),
    TEXT_0 ("token", "One that holds until the daemon ends, where there is no other."),
    {0},
};
static const struct field reload_fields[] = {
    TEXTS ("applied", "The keys that have changed."),
    TEXTS ("restart", "The keys that are different in the file and that a restart changes."),
    TEXTS ("http", "Where it answers HTTP now."),
    {0},
};
static const struct field *const listen_replies[] = {listen_fields, NULL};
static const struct field *const reload_replies[] = {reload_fields, NULL};

/* ---- the table ---- */

const struct operation daemon_operations[] = {
    {
        .name = "daemon.listen",
        .title = "Answer HTTP elsewhere",
        .text =
            "Has the daemon listen at other addresses, in place of those before. Its own socket stays. On "
            "its machine alone.",
        .role = ROLE_ADMIN,
        .params = listen_params,
        .replies = listen_replies,
        .run = daemon_listen,
    },
    {
        .name = "daemon.reload",
        .title = "Read the configuration again",
        .text = "Applies what can change while the daemon runs, and says what needs a restart. On an error "
                "nothing changes.",
        .role = ROLE_ADMIN,
        .params = no_params,
        .replies = reload_replies,
        .run = daemon_reload,
        .http = {"POST", "/v1/daemon/reload", "reloadDaemon", 200},
    },
    {0},
};
