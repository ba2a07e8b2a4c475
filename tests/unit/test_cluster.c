/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes say to each other, without a server: ids, signatures, frames, callers. */
#include <glib.h>
#include <string.h>

#include "adder.h"
#include "cluster/cluster_private.h"
#include "cluster/frame.h"
#include "common/json.h"
#include "engine/host/id.h"
#include "policy/principal.h"
#include "suite.h"

#define SECRET "0123456789abcdef0123456789abcdef"

/* ---- ids ---- */

static void
test_id (void)
{
  char id[ID_BYTES], digits[7];
  id_digits (digits);
  g_assert_cmpstr (digits, ==, "");
  id_set_node (0x00abcd);
  id_make (id);
  id_digits (digits);
  g_assert_true (g_uuid_string_is_valid (id));
  g_assert_true (g_str_has_suffix (id, "00abcd"));
  g_assert_cmpuint (id_node (id), ==, 0x00abcd);
  g_assert_cmpstr (digits, ==, "00abcd");
  char other[ID_BYTES];
  id_make (other);
  g_assert_cmpstr (id, !=, other);
  id_set_node (ID_NODES);
}

static void
test_id_of_others (void)
{
  static const char *const none[] = {"", "abcde", "a-name", "00abcg", "00ABCD", "-0abcd", " 0abcd"};
  for (gsize i = 0; i < G_N_ELEMENTS (none); i++)
    g_assert_cmpuint (id_ending (none[i]), ==, ID_NODES);
  g_assert_cmpuint (id_ending ("x00abcd"), ==, 0x00abcd);
  g_assert_cmpuint (id_ending ("ffffff"), ==, 0xffffff);
  g_assert_cmpuint (id_node ("00abcd"), ==, ID_NODES); /* it ends as one, and is none */
}

/* ---- signatures ---- */

static gboolean
is_believed (struct cluster *cluster, const char *text, gsize length)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) head = cluster_verify (cluster, text, length, &problem);
  g_assert_true (head || problem->domain == ADDER_ERROR);
  return head != NULL;
}

static void
test_signature (void)
{
  char right[] = SECRET, wrong[] = SECRET "x";
  struct cluster ours = {.secret = right}, others = {.secret = wrong};
  g_autoptr (json_t) head = json_pack ("{s:s, s:i}", "method", "GET", "length", 3);
  g_autofree char *text = cluster_sign (&ours, head);
  gsize length = strlen (text);
  g_autoptr (json_t) read = cluster_verify (&ours, text, length, NULL);
  g_assert_true (json_equal (read, head));
  g_assert_false (is_believed (&others, text, length));
  for (gsize i = 0; i < length; i++) {
    g_assert_false (is_believed (&ours, text, i)); /* cut off */
    text[i] ^= 1;
    g_assert_false (is_believed (&ours, text, length));
    text[i] ^= 1;
  }
  g_autofree char *longer = g_strconcat (text, " ", NULL);
  g_assert_false (is_believed (&ours, longer, length + 1));
  g_assert_false (is_believed (&ours, "", 0));
}

static void
test_signature_of_no_object (void)
{
  char secret[] = SECRET;
  struct cluster ours = {.secret = secret};
  g_autoptr (json_t) list = json_array ();
  g_autofree char *text = cluster_sign (&ours, list);
  g_assert_false (is_believed (&ours, text, strlen (text)));
}

/* ---- entries ---- */

#define TAG "00abcd"

static gboolean
is_signed (const char *secret, const char *key, const char *text, gsize length)
{
  gboolean found = FALSE;
  g_autoptr (json_t) entry = entry_parse (secret, key, text, length, &found);
  return entry && found;
}

static void
test_entry (void)
{
  gboolean found = FALSE;
  g_autoptr (json_t) said = json_pack ("{s:s, s:i, s:[s, s]}", "tag", TAG, "number", 7, "guests", "a", "\"}");
  g_autofree char *text = entry_sign (SECRET, TAG, said);
  gsize length = strlen (text);
  g_autoptr (json_t) read = entry_parse (SECRET, TAG, text, length, &found);
  g_assert_true (found && json_equal (read, said));
  g_autoptr (json_t) plain = json_parse_object (text, length, "an entry", NULL);
  g_assert_true (json_is_object (plain)); /* earlier versions read it */
  g_assert_false (is_signed (SECRET "x", TAG, text, length));
  for (gsize i = 0; i < length; i++) {
    g_assert_false (is_signed (SECRET, TAG, text, i));
    text[i] ^= 1;
    g_assert_false (is_signed (SECRET, TAG, text, length));
    text[i] ^= 1;
  }
}

static void
test_entry_of_another_key (void)
{
  gboolean found = FALSE;
  g_autoptr (json_t) said = json_pack ("{s:s}", "tag", TAG);
  g_autofree char *text = entry_sign (SECRET, "00abce", said);
  g_assert_false (is_signed (SECRET, TAG, text, strlen (text)));
  g_autoptr (json_t) moved = entry_parse (SECRET, "00abce", text, strlen (text), &found);
  g_assert_null (moved);
}

static void
test_entry_without_signature (void)
{
  static const char *const texts[] = {"{\"tag\":\"" TAG "\"}", "{\"tag\":\"" TAG "\",\"signature\":\"\"}"};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    gboolean found = TRUE;
    g_autoptr (json_t) entry = entry_parse (SECRET, TAG, texts[i], strlen (texts[i]), &found);
    g_assert_cmpstr (json_member_text (entry, "tag"), ==, TAG);
    g_assert_false (found);
  }
}

/* Nobody gets an entry signed as a request, or the other way round. */
static void
test_signatures_of_other_things (void)
{
  char secret[] = SECRET;
  struct cluster ours = {.secret = secret};
  g_autoptr (json_t) said = json_pack ("{s:s}", "tag", TAG);
  g_autofree char *request = cluster_sign (&ours, said), *entry = entry_sign (SECRET, TAG, said);
  const char *begin = "{\"tag\":\"" TAG "\"", *digits = strrchr (entry, ':') + 2;
  g_autofree char *as_entry = g_strdup_printf ("%s,\"signature\":\"%.64s\"}", begin, request);
  g_assert_false (is_signed (SECRET, TAG, as_entry, strlen (as_entry)));
  g_autofree char *as_request = g_strdup_printf ("%.64s %s}", digits, begin);
  g_assert_false (is_believed (&ours, as_request, strlen (as_request)));
  g_autofree char *with_key = g_strdup_printf ("%.64s entry " TAG "\n%s", digits, begin);
  g_assert_false (is_believed (&ours, with_key, strlen (with_key)));
}

#define SECOND (G_GINT64_CONSTANT (1000) * 1000)

static void
test_entry_clock (void)
{
  struct entry_clock here = {0}, behind = {0};
  gint64 now = 1000 * SECOND, real = 50 * SECOND, first = entry_clock_next (&here, real);
  g_assert_cmpint (first, ==, real);
  g_assert_true (entry_clock_hear (&here, first, now));
  g_assert_cmpint (entry_clock_next (&here, real - SECOND), ==, first + 1); /* set back */
  /* A node whose clock is behind is believed once it has heard another one. */
  gint64 low = entry_clock_next (&behind, 0);
  for (guint i = 1; i <= 10; i++) {
    gint64 number = entry_clock_next (&here, real + i * SECOND);
    g_assert_true (entry_clock_hear (&here, number, now + i * SECOND));
    g_assert_true (entry_clock_hear (&behind, number, now + i * SECOND));
    g_assert_true (entry_clock_hear (&here, entry_clock_next (&behind, 0), now + i * SECOND));
  }
  g_assert_false (entry_clock_hear (&here, low, now + 10 * SECOND));
  g_assert_false (entry_clock_hear (&here, first, now + 10 * SECOND)); /* recorded, and sent again */
  g_assert_true (entry_clock_hear (&here, real + 9 * SECOND, now + 10 * SECOND)); /* a late one */
}

/* ---- frames ---- */

#define TEXT "a b\0c"

static void
test_frame (void)
{
  struct frame_key key, other;
  struct frame frame;
  gsize length;
  frame_make_key (SECRET, "i.1", &key);
  frame_make_key (SECRET, "i.2", &other);
  g_assert_cmpint (memcmp (&key, &other, sizeof key), !=, 0);
  g_autofree char *data = frame_seal (&key, 7, FRAME_DATA, TEXT, sizeof TEXT, &length);
  g_assert_cmpuint (length, ==, FRAME_BEFORE_BYTES + sizeof TEXT);
  g_assert_cmpint (frame_open (&key, 7, data, length, &frame), ==, FRAME_NEXT);
  g_assert_cmpint (frame.kind, ==, FRAME_DATA);
  g_assert_cmpmem (frame.bytes, frame.length, TEXT, sizeof TEXT);
  g_assert_cmpint (frame_open (&key, 6, data, length, &frame), ==, FRAME_GAP);
  g_assert_cmpint (frame_open (&key, 0, data, length, &frame), ==, FRAME_GAP);
  g_assert_cmpint (frame_open (&key, 8, data, length, &frame), ==, FRAME_STRANGE); /* again */
  g_assert_cmpint (frame_open (&other, 7, data, length, &frame), ==, FRAME_STRANGE);
  for (gsize i = 0; i < length; i++) {
    g_assert_cmpint (frame_open (&key, 7, data, i, &frame), ==, FRAME_STRANGE);
    data[i] ^= 0x40;
    g_assert_cmpint (frame_open (&key, 7, data, length, &frame), ==, FRAME_STRANGE);
    data[i] ^= 0x40;
  }
}

static void
test_frame_without_bytes (void)
{
  struct frame_key key;
  struct frame frame;
  gsize length;
  frame_make_key (SECRET, "i.1", &key);
  g_autofree char *data = frame_seal (&key, 0, FRAME_END, "", 0, &length);
  g_assert_cmpint (frame_open (&key, 0, data, length, &frame), ==, FRAME_NEXT);
  g_assert_cmpuint (frame.length, ==, 0);
}

static void
test_frame_number (void)
{
  static const struct {
    const char *digits;
    gsize length;
    gboolean is_number;
  } texts[] = {
      {"0", 1, TRUE},    {"100", 3, TRUE},  {"1009", 3, TRUE}, /* of a longer text */
      {"101", 3, FALSE}, {"", 0, FALSE},    {"-1", 2, FALSE},
      {" 1", 2, FALSE},  {"1\0", 2, FALSE}, {"000000000000000000001", 21, FALSE},
      {"0x1", 3, FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    guint64 number = 0;
    g_assert_cmpint (frame_number (texts[i].digits, texts[i].length, 100, &number), ==, texts[i].is_number);
  }
}

/* ---- what is believed of others ---- */

struct others {
  struct cluster cluster;
  char secret[sizeof SECRET], instance[3];
};

static void
others_init (struct others *others)
{
  *others = (struct others){.secret = SECRET, .instance = "me"};
  others->cluster.secret = others->secret;
  others->cluster.instance = others->instance;
  g_mutex_init (&others->cluster.lock);
  cluster_members_init (&others->cluster);
}

static void
others_clear (struct others *others)
{
  cluster_members_clear (&others->cluster);
  g_mutex_clear (&others->cluster.lock);
}

static char *
entry_text (const char *tag, const char *instance, const char *state, int number, const char *guest)
{
  g_autoptr (json_t) entry = json_pack ("{s:s, s:s, s:s, s:i, s:[s*]}", "tag", tag, "instance", instance,
                                        "state", state, "number", number, "guests", guest);
  return number > 0 ? entry_sign (SECRET, tag, entry) : json_to_text (entry);
}

/* NUMBER 0: it is not signed. */
static void
others_say (struct others *others, const char *tag, const char *instance, const char *state, int number,
            const char *guest)
{
  g_autofree char *text = entry_text (tag, instance, state, number, guest);
  cluster_receive_entry (&others->cluster, tag, text, strlen (text));
}

static void
assert_guest_of (struct others *others, const char *id, const char *expected)
{
  char tag[8] = "";
  g_assert_cmpint (cluster_find_guest (&others->cluster, id, tag), ==, *expected != '\0');
  g_assert_cmpstr (tag, ==, expected);
}

#define ONE "000001"
#define TWO "000002"

static void
test_guests (void)
{
  struct others others;
  others_init (&others);
  others_say (&others, ONE, "a", "serving", 1, "x");
  assert_guest_of (&others, "x", ONE);
  others_say (&others, TWO, "b", "serving", 2, "x"); /* it moves on */
  assert_guest_of (&others, "x", TWO);
  others_say (&others, ONE, "a", "draining", 3, "y");
  assert_guest_of (&others, "x", TWO);
  assert_guest_of (&others, "y", ONE);
  others_say (&others, TWO, "b", "left", 4, NULL);
  assert_guest_of (&others, "x", "");
  others_say (&others, ONE, "a", "serving", 5, NULL);
  assert_guest_of (&others, "y", "");
  others_clear (&others);
}

static void
test_who_is_believed (void)
{
  struct others others;
  others_init (&others);
  others_say (&others, ONE, "a", "serving", 10, "x");
  others_say (&others, ONE, "b", "serving", 0, "y");  /* not signed */
  others_say (&others, ONE, "b", "left", 0, NULL);    /* nor this */
  others_say (&others, ONE, "b", "serving", 9, "y");  /* from before */
  others_say (&others, ONE, "b", "serving", 10, "y"); /* the same number */
  others_say (&others, ONE, "b", "left", 9, NULL);
  cluster_receive_entry (&others.cluster, ONE, NULL, 0);
  g_assert_true (cluster_is_alive (&others.cluster, "a"));
  g_assert_false (cluster_lists_instance (&others.cluster, "b"));
  assert_guest_of (&others, "x", ONE);
  assert_guest_of (&others, "y", "");
  others_say (&others, ONE, "b", "serving", 11, NULL); /* it was started again */
  g_assert_false (cluster_is_alive (&others.cluster, "a"));
  g_assert_true (cluster_is_alive (&others.cluster, "b"));
  others_say (&others, ONE, "b", "left", 12, NULL);
  g_assert_false (cluster_lists_tag (&others.cluster, ONE));
  others_clear (&others);
}

static void
test_nodes_of_an_earlier_version (void)
{
  struct others others;
  others_init (&others);
  others_say (&others, TWO, "old", "serving", 0, "x");
  g_assert_true (cluster_lists_tag (&others.cluster, TWO) && cluster_lists_instance (&others.cluster, "old"));
  g_assert_false (cluster_is_alive (&others.cluster, "old"));
  assert_guest_of (&others, "x", "");
  cluster_receive_entry (&others.cluster, TWO, NULL, 0);
  g_assert_false (cluster_lists_tag (&others.cluster, TWO));
  others_say (&others, TWO, "old", "serving", 0, NULL);
  others_say (&others, TWO, "new", "serving", 1, NULL); /* it was upgraded */
  g_assert_false (cluster_lists_instance (&others.cluster, "old"));
  g_assert_true (cluster_is_alive (&others.cluster, "new"));
  others_clear (&others);
}

/* ---- what callers are told ---- */

static void
test_told (void)
{
  static const struct {
    int code;
    const char *message, *told; /* NULL: another one says it */
  } problems[] = {
      {ADDER_ERROR_UNAVAILABLE, "node_lost: the node is gone", "node_lost: the node is gone"},
      {ADDER_ERROR_UNAVAILABLE, CLUSTER_AWAY " (nats://secret.example): timeout",
       "the cluster is not connected at the moment: try again later"},
      {ADDER_ERROR_UNAVAILABLE, "NATS: the run cannot be queued: JetStream is not enabled on secret.example",
       "the cluster cannot do this at the moment: try again later (the daemon's log says why)"},
      {ADDER_ERROR_UNAVAILABLE, "PostgreSQL: the connection broke", NULL},
      {ADDER_ERROR_BUSY, "NATS: the run cannot be queued: the queue is full", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (problems); i++) {
    g_autoptr (GError) problem = g_error_new_literal (ADDER_ERROR, problems[i].code, problems[i].message);
    g_assert_cmpstr (cluster_told (problem), ==, problems[i].told);
  }
}

/* ---- callers ---- */

static void
test_principal (void)
{
  static const char *const texts[] = {
      "{\"role\":\"user\",\"owner\":\"ana\",\"toolset\":null,\"token\":\"t\",\"service\":null,"
      "\"read_only\":false,\"may_decide\":true,\"acts_for_users\":false,\"is_browser\":true,"
      "\"profiles\":[\"a\",\"b\"],\"roots\":null}",
      "{\"role\":\"admin\",\"owner\":\"\",\"toolset\":\"s\",\"token\":null,\"service\":\"x\","
      "\"read_only\":true,\"may_decide\":false,\"acts_for_users\":true,\"is_browser\":false,"
      "\"profiles\":[],\"roots\":[\"/data\"]}",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (json_t) value = json_parse_object (texts[i], strlen (texts[i]), "a caller", NULL);
    struct principal *who = principal_from_json (value, NULL);
    g_autoptr (json_t) again = principal_to_json (who);
    g_autofree char *text = json_to_text (again);
    g_assert_cmpstr (text, ==, texts[i]);
    principal_unref (who);
  }
}

static void
test_principal_of_nobody (void)
{
  static const char *const texts[] = {"{}", "{\"role\":\"user\"}", "{\"role\":\"king\",\"owner\":\"ana\"}",
                                      "{\"role\":1,\"owner\":\"ana\"}", "{\"role\":\"user\",\"owner\":1}"};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (json_t) value = json_parse_object (texts[i], strlen (texts[i]), "a caller", NULL);
    g_assert_null (principal_from_json (value, &problem));
    g_assert_nonnull (problem);
  }
}

UNIT_SUITE (cluster)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cluster/id", test_id);
  g_test_add_func ("/cluster/id/others", test_id_of_others);
  g_test_add_func ("/cluster/signature", test_signature);
  g_test_add_func ("/cluster/signature/no-object", test_signature_of_no_object);
  g_test_add_func ("/cluster/entry", test_entry);
  g_test_add_func ("/cluster/entry/key", test_entry_of_another_key);
  g_test_add_func ("/cluster/entry/unsigned", test_entry_without_signature);
  g_test_add_func ("/cluster/entry/clock", test_entry_clock);
  g_test_add_func ("/cluster/signature/purpose", test_signatures_of_other_things);
  g_test_add_func ("/cluster/frame", test_frame);
  g_test_add_func ("/cluster/frame/no-bytes", test_frame_without_bytes);
  g_test_add_func ("/cluster/frame/number", test_frame_number);
  g_test_add_func ("/cluster/guests", test_guests);
  g_test_add_func ("/cluster/believed", test_who_is_believed);
  g_test_add_func ("/cluster/believed/earlier", test_nodes_of_an_earlier_version);
  g_test_add_func ("/cluster/told", test_told);
  g_test_add_func ("/cluster/principal", test_principal);
  g_test_add_func ("/cluster/principal/nobody", test_principal_of_nobody);
  return g_test_run ();
}
