/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a running daemon. */
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"

/* NULL with ERROR: no daemon surrounds the engine. */
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

static json_t *
daemon_open (const struct operation_call *call, GError **error)
{
  const struct daemon *daemon = daemon_of (call, error);
  const char *owner = call->caller->owner;
  if (!daemon)
    return NULL;
  if (owner && g_str_has_prefix (owner, "uid:"))
    return daemon->open (daemon->data, owner, error);
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                       "only an account of this machine may do this");
  return NULL;
}

/* ---- the fields ---- */

static const struct field listen_params[] = {
    ASK_TEXT ("addresses", 4096,
              "The addresses for HTTP, separated by blanks, as in [http] listen; by default those, else "
              "127.0.0.1:7117."),
    ASK_FLAG ("off", "Only at its own socket."),
    {0},
};
static const struct field listen_fields[] = {
    TEXTS ("addresses", "The addresses where it now serves HTTP."),
    TEXT_0 ("token", "A token that is valid until the daemon ends, if there is no other."),
    {0},
};
static const struct field reload_fields[] = {
    TEXTS ("applied", "The keys that have changed."),
    TEXTS ("restart", "The changed keys that need a restart."),
    TEXTS ("http", "The addresses where it now serves HTTP."),
    {0},
};
static const struct field open_fields[] = {
    TEXT ("url", "The address of the page on this machine."),
    TEXT ("code", "Signs a browser in as the caller, once, when it follows `#code=` in that address."),
    WHOLE ("expires_ms", "How long the code is valid."),
    {0},
};
static const struct field *const open_replies[] = {open_fields, NULL};
static const struct field *const listen_replies[] = {listen_fields, NULL};
static const struct field *const reload_replies[] = {reload_fields, NULL};

/* ---- the table ---- */

const struct operation daemon_operations[] = {
    {
        .name = "daemon.listen",
        .title = "Answer HTTP elsewhere",
        .text = "Makes the daemon listen at other addresses, instead of the current ones. Its own socket "
                "stays. Only on its machine.",
        .role = ROLE_ADMIN,
        .params = listen_params,
        .replies = listen_replies,
        .run = daemon_listen,
    },
    {
        .name = "daemon.open",
        .title = "Let a browser of this machine in",
        .text =
            "Answers where the page is, on this machine, and with a code by which a browser signs in once "
            "as the caller. Listens on loopback for it if nothing does. Only on its machine.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_KEPT,
        .params = no_params,
        .replies = open_replies,
        .run = daemon_open,
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
