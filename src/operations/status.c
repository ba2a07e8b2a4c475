/* SPDX-License-Identifier: Apache-2.0 */
/* What the program holds and does. */
#include "common/field_rows.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"

static json_t *
status_show (const struct operation_call *call, G_GNUC_UNUSED GError **error)
{
  AdderEngine *engine = call->caller->engine;
  const struct daemon *daemon = &engine->daemon;
  json_t *status = daemon->describe ? daemon->describe (daemon->data, call->caller->watch_fd)
                                    : json_pack ("{s:b, s:s}", "daemon", 0, "version", adder_version ());
  json_object_set_new (status, "engine", library_status (engine));
  return status;
}

static const struct field status_fields[] = {
    FLAG ("daemon", "Whether it is a daemon, as opposed to a program with its own engine."),
    TEXT ("version", "Of Adder."),
    SOME (.name = "pid", .types = FIELD_INTEGER, .text = "Of the daemon."),
    SOME (.name = "socket", .types = FIELD_TEXT, .text = "Its socket."),
    SOME (.name = "uptime_ms", .types = FIELD_INTEGER, .text = "Time since its start."),
    SOME (.name = "idle_exit_ms", .types = FIELD_INTEGER,
          .text = "It exits after this time without a connection; 0: never."),
    SOME (.name = "connections", .types = FIELD_INTEGER, .text = "At the socket, not counting the caller's."),
    SOME (.name = "running", .types = FIELD_INTEGER, .text = "Runs, calls and other work."),
    SOME (.name = "runs", .types = FIELD_INTEGER, .text = "How many there were."),
    SOME (.name = "config_changed", .types = FIELD_BOOLEAN,
          .text = "Whether the configuration has changed since it was read; adder serve reload applies it."),
    SOME (.name = "program_replaced", .types = FIELD_BOOLEAN,
          .text =
              "Whether the daemon's program was replaced since it started; a restart changes to the new one, "
              "and ends sessions."),
    SOME (.name = "http", .types = FIELD_LIST, .items = FIELD_TEXT,
          .text = "The addresses at which it serves HTTP."),
    SOME (.name = "http_connections", .types = FIELD_INTEGER, .text = "There."),
    MAP ("engine", FIELD_ANY, "Pools, sessions, memory, approvals and the store."),
    FIELD_END ("Status"),
};
static const struct field *const status_replies[] = {status_fields, NULL};

const struct operation status_operations[] = {
    {
        .name = "status.show",
        .title = "Show what the daemon holds and does",
        .text = "Interpreters that are ready, runs, sessions, memory and connections.",
        .role = ROLE_ADMIN,
        .params = no_params,
        .replies = status_replies,
        .run = status_show,
        .http = {"GET", "/v1/status", "showStatus", 200},
    },
    {0},
};
