/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that another node of the cluster answers. Who asks about a run or session finds its node in the
 * id; what needs a sandbox and has none yet goes to any node that has room. All else is answered where it
 * came: its answer is in the store, or in the configuration. */
#include <string.h>
#include <sys/socket.h>

#include "cluster/tunnel.h"
#include "common/json.h"
#include "engine/host/id.h"
#include "interfaces/http/http_private.h"
#include "interfaces/http/http_problem.h"
#include "interfaces/http/owner.h"
#include "interfaces/http/run_reply.h"
#include "library/library.h"
#include "store/departed.h"
#include "store/queued.h"
#include "store/records.h"

#define HEAD_BYTES (64 * 1024) /* of a reply */
#define WHOLE_BYTES                                                                                          \
  (1024 * 1024) /* of a reply that is sent as one; a longer one is passed on as it comes                     \
                 */
#define PART_BYTES (64 * 1024)
#define NO_HTTP    "a node answered no HTTP"

enum forward { FORWARD_NOT, FORWARD_ANY, FORWARD_NODE, FORWARD_ALL };

/* Those that need a sandbox and name none. */
static const struct {
  const char *method, *path;
} for_any[] = {
    {"POST", "/v1/runs"},
    {"POST", "/v1/sessions"},
    {"POST", "/v1/tools/{tool}"},
};

/* Lists of what nodes have. */
static const struct {
  const char *path, *member;
} of_all[] = {
    {"/v1/runs", "runs"},
    {"/v1/sessions", "sessions"},
    {"/v1/approvals", "approvals"},
    {"/v1/reviews", "reviews"},
};

/* Parameters of paths, below a prefix, whose ids tell a node. */
static const struct {
  const char *prefix, *parameter;
} of_a_node[] = {
#define OF_A_SESSION 0 /* may be a name instead */
    {"/v1/sessions/", "session"},
    {"/v1/runs/", "run"},
    {"/v1/approvals/", "approval"},
    {"/v1/reviews/", "review"},
};

/* Headers that are about one connection, or about who came by it. */
static const char *const not_passed[] = {
    "Host",
    "Connection",
    "Keep-Alive",
    "Content-Length",
    "Transfer-Encoding",
    "TE",
    "Trailer",
    "Upgrade",
    "Expect",
    "Origin",
    "Content-Encoding",
    "Accept-Encoding",
    "Authorization",
    "Cookie",
    "Sec-Fetch-Site",
    "Sec-Fetch-Mode",
    "Adder-On-Behalf-Of",
    "Date",
    "Proxy-Authorization",
    "traceparent",
    NULL,
};

static gboolean
http_forward_passes (const char *name)
{
  for (gsize i = 0; not_passed[i]; i++)
    if (g_ascii_strcasecmp (not_passed[i], name) == 0)
      return FALSE;
  return TRUE;
}

/* ---- the request ---- */

json_t *
http_forward_head (struct http_request *request)
{
  json_t *headers = json_array ();
  for (guint i = 0; i < request->headers->len; i++) {
    const struct http_header *header = g_ptr_array_index (request->headers, i);
    if (http_forward_passes (header->name))
      json_array_append_new (
          headers, json_pack ("[o, o]", json_text_or_null (header->name), json_text_or_null (header->value)));
  }
  /* This node's span, or where it has none the caller's. */
  const char *trace = trace_current () ? trace_current () : http_header (request, "traceparent");
  if (trace)
    json_array_append_new (headers, json_pack ("[s, o]", "traceparent", json_text_or_null (trace)));
  const char *query = request->query_text;
  g_autofree char *target = g_strconcat (request->path, query ? "?" : "", query ? query : "", NULL);
  return json_pack ("{s:s, s:o, s:o, s:o, s:b}", "method", request->method, "target",
                    json_text_or_null (target), "headers", headers, "caller",
                    principal_to_json (http_who (request)), "exposed", http_is_exposed (request));
}

char *
http_forward_body (struct http_request *request, gsize *ret_length)
{
  if (request->body && request->body_read > 0) {
    const struct field *fields = request->route->body;
    g_autoptr (json_t) brief = fields ? field_shorten (fields, request->body) : json_object ();
    char *text = json_to_text (brief);
    *ret_length = strlen (text);
    return text;
  }
  gsize length;
  const char *bytes = http_body_bytes (request, &length);
  *ret_length = length;
  return g_memdup2 (bytes, length);
}

/* ---- the reply ---- */

struct forwarded {
  struct tunnel *tunnel;
  struct service *service; /* in which it is counted; NULL: in none */
  GString *begun;          /* what of the body came with the head */
  guint64 length;          /* of the body; G_MAXUINT64: as long as it comes */
  gboolean events;         /* text/event-stream */
};

/* TUNNEL is taken. */
static struct forwarded *
forwarded_new (struct tunnel *tunnel)
{
  struct forwarded *forwarded = g_new (struct forwarded, 1);
  *forwarded = (struct forwarded){tunnel, NULL, g_string_new (NULL), G_MAXUINT64, FALSE};
  return forwarded;
}

static void
forwarded_free (gpointer data)
{
  struct forwarded *forwarded = data;
  tunnel_close (forwarded->tunnel);
  if (forwarded->service)
    service_end (forwarded->service);
  g_string_free (forwarded->begun, TRUE);
  g_free (forwarded);
}

/* Reads into TEXT until it has a whole head; the rest stays in it. NULL with ERROR; the caller's. */
static char *
http_forward_read_head (struct tunnel *tunnel, GString *text, GError **error)
{
  char buffer[PART_BYTES];
  const char *end;
  while (!(end = strstr (text->str, "\r\n\r\n")) && text->len < HEAD_BYTES) {
    gssize n = tunnel_read (tunnel, buffer, sizeof buffer, error);
    if (n < 0)
      return NULL;
    if (n == 0)
      break;
    g_string_append_len (text, buffer, n);
  }
  /* A server that ends leaves requests unanswered that it has not read. */
  if (!end && text->len == 0)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE, NODE_ENDS);
  else if (!end)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, NO_HTTP);
  if (!end)
    return NULL;
  char *head = g_strndup (text->str, (gsize)(end - text->str));
  g_string_erase (text, 0, end + 4 - text->str);
  return head;
}

/* The status in the first line of a reply's head; 0: it has none. */
static int
http_forward_status (const char *head)
{
  guint64 status;
  const char *blank = strchr (head, ' ');
  g_autofree char *digits = blank ? g_strndup (blank + 1, strspn (blank + 1, "0123456789")) : NULL;
  return digits && g_ascii_string_to_unsigned (digits, 10, 100, 599, &status, NULL) ? (int)status : 0;
}

/* Takes what FORWARDED needs from the headers in LINES, which are cut; sets those of REQUEST's reply. The
 * type is returned, and theirs. */
static const char *
http_forward_headers (struct http_request *request, struct forwarded *forwarded, char **lines)
{
  const char *type = NULL;
  for (char **line = lines; *line; line++) {
    char *value = strchr (*line, ':');
    if (!value)
      continue;
    *value++ = '\0';
    g_strstrip (value);
    if (g_ascii_strcasecmp (*line, "Content-Type") == 0)
      type = value;
    else if (g_ascii_strcasecmp (*line, "Content-Length") == 0)
      (void)g_ascii_string_to_unsigned (value, 10, 0, G_MAXUINT64, &forwarded->length, NULL);
    else if (http_forward_passes (*line))
      http_set_header (request, *line, value);
  }
  if (request->head_only)
    forwarded->length = 0;
  else if (forwarded->length != G_MAXUINT64)
    forwarded->length -= MIN (forwarded->begun->len, forwarded->length);
  forwarded->events = type && g_str_has_prefix (type, "text/event-stream");
  return type;
}

/* The next bytes of the body; 0 at its end, which need not have come as a frame where its length is known. */
static gssize
http_forward_read (struct forwarded *forwarded, char *buffer, gsize size, GError **error)
{
  gssize n = forwarded->length == 0 ? 0 : tunnel_read (forwarded->tunnel, buffer, size, error);
  if (n > 0 && forwarded->length != G_MAXUINT64)
    forwarded->length -= MIN ((guint64)n, forwarded->length);
  if (n < 0 || forwarded->length == G_MAXUINT64)
    return n;
  if (forwarded->length == 0)
    tunnel_set_whole (forwarded->tunnel);
  else if (n == 0) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE,
                         "a node of the cluster broke its answer off");
    return -1;
  }
  return n;
}

/* FALSE: there is more than is sent as one. */
static gboolean
http_forward_read_whole (struct forwarded *forwarded, GError **error)
{
  char buffer[PART_BYTES];
  gssize n;
  while (forwarded->begun->len < WHOLE_BYTES) {
    n = http_forward_read (forwarded, buffer, sizeof buffer, error);
    if (n <= 0)
      return TRUE;
    g_string_append_len (forwarded->begun, buffer, n);
  }
  return FALSE;
}

/* The reader of a reply that ends early must not believe that it is whole: a stream of events says so, any
 * other breaks off. */
static void
http_forward_break_off (struct http_stream *stream, const struct forwarded *forwarded, const GError *problem)
{
  if (forwarded->events)
    run_events_tell (stream, "problem", http_problem_told (NULL, FALSE, problem));
  else
    shutdown (http_stream_watch_fd (stream), SHUT_RDWR);
}

static void
http_forward_produce (struct http_stream *stream, gpointer data)
{
  g_autoptr (GError) problem = NULL;
  struct forwarded *forwarded = data;
  char buffer[PART_BYTES];
  gssize n;
  gboolean sent = http_stream_write (stream, forwarded->begun->str, forwarded->begun->len);
  while (sent && (n = http_forward_read (forwarded, buffer, sizeof buffer, &problem)) > 0)
    sent = http_stream_write (stream, buffer, (gsize)n);
  if (problem)
    http_forward_break_off (stream, forwarded, problem);
}

static gboolean http_forward_has_left (struct http_request *request, const char *tag);

/* Whether this status of a node's reply (0: none) about a queued run means that the node has given the run
 * back, or is ending. */
static gboolean
http_forward_is_elsewhere (struct http_request *request, int status)
{
  const char *run = http_parameter (request, "run");
  return (status == 0 || status == 404 || status == 410 || status == 503) && run && id_is_queued (run);
}

/* Passes the reply on; FORWARDED is taken. FALSE: its session has left the node TAG, where nothing was done,
 * or the run has. */
static gboolean
http_forward_reply (struct http_request *request, struct forwarded *forwarded, const char *tag,
                    GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *head = http_forward_read_head (forwarded->tunnel, forwarded->begun, &problem);
  g_auto (GStrv) lines = head ? g_strsplit (head, "\r\n", -1) : NULL;
  int status = head ? http_forward_status (head) : 0;
  if (head && status == 0)
    g_set_error_literal (&problem, ADDER_ERROR, ADDER_ERROR_FAILED, NO_HTTP);
  if (http_forward_is_elsewhere (request, status) ||
      (status == 429 && http_forward_has_left (request, tag))) {
    forwarded_free (forwarded);
    return FALSE;
  }
  const char *type = head ? http_forward_headers (request, forwarded, lines + 1) : NULL;
  if (!problem && (forwarded->events || !http_forward_read_whole (forwarded, &problem))) {
    http_reply_produced_chunks (request, status, type, http_forward_produce, forwarded, forwarded_free);
    return TRUE;
  }
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  else
    http_reply_bytes (request, status, type, forwarded->begun->str, forwarded->begun->len);
  forwarded_free (forwarded);
  return TRUE;
}

/* ---- asking all nodes ---- */

/* What nodes answer to HEAD without a body: those objects that are a success; the caller's. */
static json_t *
http_forward_ask (struct http_request *request, struct cluster *cluster, json_t *head)
{
  const struct tunnel_request asked = {.head = head, .body = "", .watch_fd = http_watch_fd (request)};
  return tunnel_call_all (cluster, &asked);
}

/* The id of the caller's session NAME, wherever it is; the caller's, or NULL. */
static char *
http_forward_find_session (struct http_request *request, struct cluster *cluster, const char *name)
{
  g_autofree char *escaped = g_uri_escape_string (name, NULL, FALSE);
  g_autofree char *target = g_strconcat ("/v1/sessions/", escaped, NULL);
  g_autoptr (json_t) head = http_forward_head (request);
  json_object_set_new (head, "method", json_string ("GET"));
  json_object_set_new (head, "target", json_text_or_null (target));
  json_object_set_new (head, "headers", json_array ());
  g_autoptr (json_t) answers = http_forward_ask (request, cluster, head);
  gsize i;
  json_t *found;
  json_array_foreach (answers, i, found)
  {
    if (strcmp (json_member_text (found, "state"), "ended") != 0)
      return g_strdup (json_member_text (found, "session_id"));
  }
  return NULL;
}

/* ---- which node ---- */

static enum forward
http_forward_by_id (const char *id, struct cluster *cluster, char ret_tag[8])
{
  if (!cluster_find_guest (cluster, id, ret_tag))
    g_snprintf (ret_tag, 8, "%06x", id_ending (id));
  guint32 node = id_ending (ret_tag);
  return node == cluster_own_tag (cluster) || node == ID_QUEUED ? FORWARD_NOT : FORWARD_NODE;
}

static gboolean
http_forward_is_list (const struct http_request *request, const char **ret_member)
{
  for (gsize i = 0; i < G_N_ELEMENTS (of_all); i++)
    if (strcmp (request->route->method, "GET") == 0 && strcmp (of_all[i].path, request->route->path) == 0) {
      *ret_member = of_all[i].member;
      return TRUE;
    }
  return FALSE;
}

/* The session that work for any node names; NULL: none. */
static const char *
http_forward_named (const struct http_request *request)
{
  const char *path = request->route->path;
  const json_t *at = request->body;
  if (strcmp (path, "/v1/tools/{tool}") == 0)
    at = json_object_get (at, "arguments");
  else if (strcmp (path, "/v1/runs") != 0)
    return NULL;
  return json_string_value (json_object_get (at, "session"));
}

/* Tools of a conversation may keep a session for it, so its calls go to one node while that serves: the one
 * with the highest number of its own for it (rendezvous hashing), which changes least when nodes come and go.
 * Nodes whose entries are not signed need not exist: they get such calls where there are no others. */
static enum forward
http_forward_conversation (struct http_request *request, struct cluster *cluster, const char *conversation,
                           char ret_tag[8])
{
  g_autoptr (json_t) list = cluster_list (cluster);
  guint64 highest = 0;
  enum forward where = FORWARD_ANY;
  gsize i;
  json_t *node;
  json_array_foreach (json_object_get (list, "nodes"), i, node)
  {
    const char *tag = json_member_text (node, "tag");
    g_autofree char *text = g_strjoin ("\n", http_who (request)->owner, conversation, tag, NULL);
    gboolean is_signed = json_is_true (json_object_get (node, "signed"));
    guint64 number = (is_signed ? (guint64)1 << 32 : 0) + g_str_hash (text);
    if (json_is_true (json_object_get (node, "gateway")) ||
        strcmp (json_member_text (node, "state"), "serving") != 0 ||
        (where == FORWARD_NODE && number <= highest))
      continue;
    highest = number;
    where = FORWARD_NODE;
    g_strlcpy (ret_tag, tag, 8);
  }
  return where;
}

/* For work that names no node. */
static enum forward
http_forward_work (struct http_request *request, struct cluster *cluster, char ret_tag[8])
{
  const char *session = http_forward_named (request);
  const char *conversation = json_string_value (json_object_get (request->body, "conversation"));
  if (session) {
    g_autofree char *id = id_node (session) != ID_NODES
                              ? g_strdup (session)
                              : http_forward_find_session (request, cluster, session);
    if (id)
      return http_forward_by_id (id, cluster, ret_tag);
  }
  if (conversation && strcmp (request->route->path, "/v1/tools/{tool}") == 0)
    return http_forward_conversation (request, cluster, conversation, ret_tag);
  return FORWARD_ANY;
}

/* A client of MCP begins anywhere, and stays there. */
static enum forward
http_forward_mcp (struct http_request *request, struct cluster *cluster, char ret_tag[8])
{
  const char *session = http_header (request, "Mcp-Session-Id");
  return session && id_ending (session) != ID_NODES ? http_forward_by_id (session, cluster, ret_tag)
                                                    : FORWARD_ANY;
}

static enum forward
http_forward_where (struct http_request *request, struct cluster *cluster, char ret_tag[8],
                    const char **ret_member)
{
  const struct http_route *route = request->route;
  if (http_forward_is_list (request, ret_member))
    return FORWARD_ALL;
  for (gsize i = 0; i < G_N_ELEMENTS (for_any); i++)
    if (strcmp (for_any[i].method, route->method) == 0 && strcmp (for_any[i].path, route->path) == 0)
      return http_forward_work (request, cluster, ret_tag);
  if (strcmp (route->path, "/mcp") == 0)
    return http_forward_mcp (request, cluster, ret_tag);
  for (gsize i = 0; i < G_N_ELEMENTS (of_a_node); i++) {
    const char *id = http_parameter (request, of_a_node[i].parameter);
    if (!id || !g_str_has_prefix (route->path, of_a_node[i].prefix))
      continue;
    if (id_node (id) != ID_NODES)
      return http_forward_by_id (id, cluster, ret_tag);
    g_autofree char *found = i == OF_A_SESSION ? http_forward_find_session (request, cluster, id) : NULL;
    return found ? http_forward_by_id (found, cluster, ret_tag) : FORWARD_NOT;
  }
  return FORWARD_NOT;
}

/* Whether the request would now go to another node than TAG (NULL: any). */
static gboolean
http_forward_has_left (struct http_request *request, const char *tag)
{
  const char *member;
  char now[8] = "";
  struct cluster *cluster = request->server->service->engine->cluster;
  enum forward where = tag ? http_forward_where (request, cluster, now, &member) : FORWARD_ANY;
  /* Without a tag, no node had a session of that name: it may be moving. */
  return (where == FORWARD_NOT || where == FORWARD_NODE) && *now && strcmp (tag, now) != 0;
}

/* ---- what is done ---- */

/* Adds the QUEUED runs, in order, except those that a node has LISTED: their rows do not show yet that they
 * began. */
static void
http_forward_add_queued (json_t *listed, const json_t *queued)
{
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);
  gsize i;
  json_t *run;
  json_array_foreach (listed, i, run)
  {
    g_hash_table_add (known, (char *)(guintptr)json_member_text (run, "run_id"));
  }
  json_array_foreach (queued, i, run)
  {
    if (!g_hash_table_contains (known, json_member_text (run, "run_id")))
      json_array_append (listed, run);
  }
}

static void
http_forward_gather (struct http_request *request, struct cluster *cluster, const char *member)
{
  const char *owner;
  struct store *store = request->server->service->engine->store;
  g_autoptr (json_t) queued = json_array ();
  /* Before the nodes are asked, so that a run that begins meanwhile is in both and not in none. */
  if (strcmp (member, "runs") == 0 && store_is_shared (store_config (store))) {
    if (!owner_asked_for (request, &owner))
      return;
    (void)queued_list (store, owner, queued, NULL);
  }
  g_autoptr (json_t) head = http_forward_head (request);
  json_object_set_new (head, "method", json_string ("GET")); /* and not HEAD, whose reply has no body */
  g_autoptr (json_t) answers = http_forward_ask (request, cluster, head);
  json_t *answer = json_array_get (answers, 0);
  for (gsize i = 1; i < json_array_size (answers); i++)
    json_array_extend (json_object_get (answer, member),
                       json_object_get (json_array_get (answers, i), member));
  http_forward_add_queued (json_object_get (answer, member), queued);
  if (answer)
    http_reply_json (request, 200, json_incref (answer));
  else
    http_reply_fault (request, 503, "no node of the cluster answers");
}

/* Whether this node answers instead of one that is gone: what that left is in the store. A run that has no
 * record yet may get one (store/underway.h), or another node (store/queued.h). */
static gboolean
http_forward_inherits (struct http_request *request)
{
  struct store *store = request->server->service->engine->store;
  const char *session = http_parameter (request, "session"), *run = http_parameter (request, "run");
  const char *path = request->route->path;
  if (run && id_is_queued (run))
    return TRUE;
  if (session && g_str_has_prefix (path, "/v1/sessions/"))
    return departed_find_session (store_departed (store), http_who (request)->owner, session, NULL);
  g_autoptr (json_t) record =
      run && strcmp (path, "/v1/runs/{run}") == 0 ? records_show (store, NULL, run, NULL) : NULL;
  return record != NULL;
}

/* If the session's node is gone, PROBLEM becomes the reason for the session's end, if that is known. */
static void
http_forward_explain (struct http_request *request, GError **problem)
{
  const char *session = request->body ? http_forward_named (request) : NULL;
  struct departed *departed = store_departed (request->server->service->engine->store);
  GError *ended = NULL;
  if (!session || !departed_find_session (departed, http_who (request)->owner, session, &ended))
    return;
  g_error_free (*problem);
  *problem = ended;
}

enum passed { PASSED, PASSED_NOT, PASSED_AGAIN };

/* PASSED_NOT: it is answered here. PASSED_AGAIN: its session has moved meanwhile. */
static enum passed
http_forward_to (struct http_request *request, struct cluster *cluster, const char *tag)
{
  g_autoptr (GError) problem = NULL;
  gsize length;
  g_autofree char *body = http_forward_body (request, &length);
  g_autoptr (json_t) head = http_forward_head (request);
  const struct tunnel_request asked = {
      .node = tag,
      .head = head,
      .body = body,
      .length = length,
      .watch_fd = http_watch_fd (request),
      .wait_ms = request->server->service->config->queue_wait_ms,
  };
  /* A node that drains waits for what it passed on, but not for those who only listen. */
  struct service *service = request->server->service;
  gboolean counts = strcmp (request->route->method, "POST") == 0 && service_begin (service, &problem);
  struct tunnel *tunnel = problem ? NULL : tunnel_open (cluster, &asked, &problem);
  gboolean replied = TRUE;
  if (tunnel) {
    struct forwarded *forwarded = forwarded_new (tunnel);
    forwarded->service = counts ? service : NULL;
    replied = http_forward_reply (request, forwarded, tag, &problem);
  } else if (counts)
    service_end (service);
  if (!replied)
    return PASSED_AGAIN;
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE) && http_forward_inherits (request))
    return PASSED_NOT;
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE))
    http_forward_explain (request, &problem);
  if (problem)
    http_reply_problem (request, problem);
  return PASSED;
}

gboolean
http_forward_pass (struct http_request *request, struct cluster *cluster, const char *tag)
{
  return http_forward_to (request, cluster, tag) == PASSED;
}

gboolean
http_forward (struct http_request *request)
{
  struct cluster *cluster = request->server->service->engine->cluster;
  const char *member = NULL;
  char tag[8];
  if (!cluster || request->connection->vouched || !http_who (request))
    return FALSE;
  if (store_is_shared (request->server->config) &&
      (http_queue (request, cluster) || http_queued (request, cluster)))
    return TRUE;
  for (;;) {
    enum forward where = http_forward_where (request, cluster, tag, &member);
    if (where == FORWARD_ALL)
      http_forward_gather (request, cluster, member);
    if (where == FORWARD_ALL || where == FORWARD_NOT)
      return where == FORWARD_ALL;
    enum passed passed = http_forward_to (request, cluster, where == FORWARD_NODE ? tag : NULL);
    if (passed != PASSED_AGAIN)
      return passed == PASSED;
  }
}
