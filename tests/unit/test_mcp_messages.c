/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, the eras that they are of, and those under way. */
#include <poll.h>
#include <string.h>

#include "common/json.h"
#include "interfaces/mcp/era.h"
#include "interfaces/mcp/inflight.h"
#include "interfaces/mcp/request.h"
#include "suite.h"

/* ---- messages ---- */

static const struct {
  const char *text;
  int code;       /* 0: it is a message */
  const char *id; /* of the error, as JSON */
  enum mcp_kind kind;
} messages[] = {
    {"{\"jsonrpc\": \"2.0\", \"id\": 0, \"method\": \"ping\"}", 0, NULL, MCP_KIND_REQUEST},
    {"{\"jsonrpc\": \"2.0\", \"id\": \"\", \"method\": \"\", \"params\": {}}", 0, NULL, MCP_KIND_REQUEST},
    {"{\"jsonrpc\": \"2.0\", \"method\": \"x\", \"more\": 1}", 0, NULL, MCP_KIND_NOTIFICATION},
    {"{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}", 0, NULL, MCP_KIND_RESPONSE},
    {"{\"jsonrpc\": \"2.0\", \"id\": 1, \"error\": {}}", 0, NULL, MCP_KIND_RESPONSE},
    {"{\"jsonrpc\": \"2.0\", \"error\": {}}", 0, NULL, MCP_KIND_RESPONSE},
    {" [1] ", 0, NULL, MCP_KIND_BATCH},
    {"", MCP_PARSE_ERROR, NULL, 0},
    {"{", MCP_PARSE_ERROR, NULL, 0},
    {"{} {}", MCP_PARSE_ERROR, NULL, 0},
    {"\"\\ud800\"", MCP_PARSE_ERROR, NULL, 0},
    {"[]", MCP_INVALID_REQUEST, NULL, 0},
    {"{}", MCP_INVALID_REQUEST, NULL, 0},
    {"{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": 1}", MCP_INVALID_REQUEST, "9", 0},
    {"{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"x\", \"result\": {}}", MCP_INVALID_REQUEST, "9", 0},
    {"{\"jsonrpc\": \"2.0\", \"result\": {}}", MCP_INVALID_REQUEST, NULL, 0},
    {"{\"jsonrpc\": \"2.0\", \"id\": 9, \"error\": 1}", MCP_INVALID_REQUEST, "9", 0},
    {"{\"jsonrpc\": \"2.0\", \"id\": true, \"method\": \"x\"}", MCP_INVALID_REQUEST, NULL, 0},
    {"{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"x\", \"params\": null}", MCP_INVALID_PARAMS, "9", 0},
    /* Refused as a whole, and still the answer finds whoever waits for it. */
    {"{\"id\": 9, \"x\": \"\\u0000\"}", MCP_INVALID_REQUEST, "9", 0},
    {"{\"id\": \"s\", \"x\": \"\\uDc00\"}", MCP_INVALID_REQUEST, "\"s\"", 0},
    {"{\"id\": -9, \"x\": 1e999, \"y\": 99999999999999999999}", MCP_PARSE_ERROR, NULL, 0},
    {"{\"id\": -9, \"y\": 99999999999999999999}", MCP_INVALID_REQUEST, "-9", 0},
    {"{\"id\": 9, \"id\": 9}", MCP_INVALID_REQUEST, "9", 0},
    /* An escaped backslash before a u is none of them. */
    {"{\"id\": \"\\\\ud800\", \"id\": \"\\\\ud800\"}", MCP_INVALID_REQUEST, "\"\\\\ud800\"", 0},
};

static void
test_messages (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (messages); i++) {
    struct mcp_message message;
    struct mcp_reply reply = {0};
    g_test_message ("%s", messages[i].text);
    gboolean ok = mcp_message_parse (messages[i].text, strlen (messages[i].text), &message, &reply);
    g_assert_cmpint (ok, ==, messages[i].code == 0);
    if (ok) {
      g_assert_cmpint (message.kind, ==, messages[i].kind);
      mcp_message_clear (&message);
      continue;
    }
    const json_t *error = json_object_get (reply.message, "error");
    json_t *id = messages[i].id ? json_loads (messages[i].id, JSON_DECODE_ANY, NULL) : NULL;
    g_assert_cmpint (json_integer_value (json_object_get (error, "code")), ==, messages[i].code);
    g_assert_true (id ? json_equal (json_object_get (reply.message, "id"), id)
                      : !json_object_get (reply.message, "id"));
    g_assert_cmpint (reply.status, ==, 400);
    json_decref (id);
    mcp_reply_clear (&reply);
  }
}

/* ---- eras ---- */

#define CAN    "\"" MCP_META_CAN "\": {}"
#define MODERN "\"" MCP_META_VERSION "\": \"" MCP_MODERN_VERSION "\""

static const struct {
  const char *method, *meta, *header, *session; /* session: its version */
  int code;                                     /* 0: it is of ERA */
  enum mcp_era era;
  const char *version;
} eras[] = {
    {"tools/list", MODERN ", " CAN, NULL, NULL, 0, MCP_MODERN, MCP_MODERN_VERSION},
    {"tools/list", MODERN ", " CAN, MCP_MODERN_VERSION, "2025-06-18", 0, MCP_MODERN, MCP_MODERN_VERSION},
    {"tools/list", MODERN ", " CAN, MCP_LEGACY_VERSION, NULL, 0, MCP_MODERN, MCP_MODERN_VERSION},
    {"initialize", MODERN ", " CAN, NULL, NULL, 0, MCP_MODERN, MCP_MODERN_VERSION},
    {"tools/list", "", MCP_MODERN_VERSION, NULL, MCP_INVALID_PARAMS, 0, NULL},
    {"tools/list", "", MCP_MODERN_VERSION, "2025-06-18", MCP_INVALID_PARAMS, 0, NULL},
    {"initialize", "", MCP_MODERN_VERSION, NULL, MCP_INVALID_PARAMS, 0, NULL},
    {"tools/list", CAN, MCP_MODERN_VERSION, NULL, MCP_INVALID_PARAMS, 0, NULL},
    {"tools/list", "", "2030-01-01", NULL, MCP_UNSUPPORTED_VERSION, 0, NULL},
    {"tools/list", MODERN, NULL, NULL, MCP_INVALID_PARAMS, 0, NULL},
    {"tools/list", "", NULL, NULL, MCP_INVALID_PARAMS, 0, NULL},
    {"tools/list", "", MCP_LEGACY_VERSION, NULL, MCP_INVALID_PARAMS, 0, NULL},
    {"ping", "", NULL, NULL, 0, MCP_LEGACY, MCP_LEGACY_VERSION},
    {"initialize", "", MCP_LEGACY_VERSION, NULL, 0, MCP_LEGACY, MCP_LEGACY_VERSION},
    {"tools/list", "", NULL, "2025-03-26", 0, MCP_LEGACY, "2025-03-26"},
    {"tools/list", CAN, "2025-06-18", "2025-06-18", 0, MCP_LEGACY, "2025-06-18"},
};

static void
test_eras (void)
{
  g_autoptr (json_t) id = json_integer (1);
  for (gsize i = 0; i < G_N_ELEMENTS (eras); i++) {
    g_autofree char *text = g_strdup_printf ("{%s}", eras[i].meta);
    g_autoptr (json_t) meta = json_loads (text, 0, NULL);
    struct mcp_session *session = mcp_session_new (NULL, "uid:1", NULL, NULL);
    struct mcp_request request = {.id = id, .meta = meta, .session = session};
    struct mcp_reply reply = {0};
    UNSHARED (mcp_session);
    session->version = eras[i].session;
    g_test_message ("%s %s header %s", eras[i].method, text, eras[i].header);
    gboolean ok = era_decide (&request, eras[i].method, eras[i].header, &reply);
    g_assert_cmpint (ok, ==, eras[i].code == 0);
    if (ok) {
      g_assert_cmpint (request.era, ==, eras[i].era);
      g_assert_cmpstr (request.version, ==, eras[i].version);
    } else {
      const json_t *error = json_object_get (reply.message, "error");
      g_assert_cmpint (json_integer_value (json_object_get (error, "code")), ==, eras[i].code);
      g_assert_cmpint (reply.status, ==, 400);
      mcp_reply_clear (&reply);
    }
    /* A notification is never refused. */
    request.id = NULL;
    g_assert_true (era_decide (&request, eras[i].method, eras[i].header, &reply));
    mcp_session_unref (session);
  }
}

static void
test_levels (void)
{
  enum mcp_level level;
  for (guint i = MCP_LEVEL_DEBUG; i < MCP_LEVEL_NONE; i++) {
    g_assert_true (mcp_level_parse (mcp_level_name ((enum mcp_level)i), &level));
    g_assert_cmpint (level, ==, i);
  }
  g_assert_false (mcp_level_parse ("none", &level));
  g_assert_false (mcp_level_parse (NULL, &level));
}

/* ---- under way ---- */

static gboolean
hung_up (int fd)
{
  struct pollfd end = {.fd = fd, .events = POLLRDHUP};
  return poll (&end, 1, 0) == 1;
}

static void
test_inflight (void)
{
  struct mcp_inflight *inflight = mcp_inflight_new (2);
  g_autoptr (json_t) number = json_integer (1), text = json_string ("1"), other = json_integer (2);
  gboolean taken;
  int first = mcp_inflight_add (inflight, number, FALSE, &taken);
  g_assert_cmpint (first, >=, 0);
  g_assert_cmpint (mcp_inflight_add (inflight, number, FALSE, &taken), ==, -1);
  g_assert_true (taken);
  int second = mcp_inflight_add (inflight, text, FALSE, &taken);
  g_assert_cmpint (second, >=, 0);
  g_assert_cmpint (mcp_inflight_add (inflight, other, FALSE, &taken), ==, -1);
  g_assert_false (taken);

  mcp_inflight_cancel (inflight, other);
  mcp_inflight_cancel (inflight, text);
  g_assert_true (hung_up (second) && !hung_up (first));
  mcp_inflight_remove (inflight, text);
  int lasting = mcp_inflight_add (inflight, other, TRUE, &taken);
  g_assert_cmpint (lasting, >=, 0);
  mcp_inflight_cancel_lasting (inflight);
  g_assert_true (hung_up (lasting) && !hung_up (first));
  mcp_inflight_cancel_all (inflight);
  mcp_inflight_cancel_all (inflight);
  g_assert_true (hung_up (first));
  mcp_inflight_remove (inflight, number);
  mcp_inflight_remove (inflight, other);
  mcp_inflight_free (inflight);
}

UNIT_SUITE (mcp_messages)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp/messages", test_messages);
  g_test_add_func ("/mcp/eras", test_eras);
  g_test_add_func ("/mcp/levels", test_levels);
  g_test_add_func ("/mcp/inflight", test_inflight);
  return g_test_run ();
}
