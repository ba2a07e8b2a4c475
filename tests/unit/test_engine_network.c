/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, names of hosts, and lists of what may be reached. */
#include <glib/gstdio.h>
#include <string.h>

#include "adder.h"
#include "engine/network/network_rules.h"
#include "engine/network/proxy_request.h"
#include "suite.h"

static struct address
address (const char *text)
{
  struct address address;
  g_assert_true (address_parse (text, &address));
  return address;
}

static void
test_public (void)
{
  static const char *const texts[] = {
      "1.1.1.1",
      "9.255.255.255",
      "11.0.0.0",
      "100.63.255.255",
      "100.128.0.0",
      "126.0.0.1",
      "128.0.0.1",
      "169.253.0.1",
      "172.15.255.255",
      "172.32.0.0",
      "192.0.1.1",
      "192.167.0.1",
      "192.169.0.1",
      "198.17.0.1",
      "198.20.0.1",
      "203.0.112.1",
      "223.255.255.254",
      "2606:4700::1111",
      "2a00:1450:4001:80e::200e",
      "2001:4860:4860::8888",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    const struct address public = address (texts[i]);
    g_test_message ("%s", texts[i]);
    g_assert_null (address_special (&public));
  }
}

static void
test_special (void)
{
  static const char *const texts[] = {
      "0.0.0.0",
      "0.1.2.3",
      "10.0.0.0",
      "10.255.255.255",
      "100.64.0.1",
      "100.127.255.255",
      "127.0.0.1",
      "127.255.255.255",
      "169.254.0.1",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.0.0.8",
      "192.0.2.1",
      "192.88.99.1",
      "192.168.0.1",
      "192.168.255.255",
      "198.18.0.1",
      "198.19.255.255",
      "198.51.100.1",
      "203.0.113.1",
      "224.0.0.1",
      "239.255.255.255",
      "240.0.0.1",
      "255.255.255.255",
      "168.63.129.16",
      "::",
      "::1",
      "::7f00:1",
      "::ffff:1.1.1.1",
      "::ffff:127.0.0.1",
      "64:ff9b::7f00:1",
      "64:ff9b::101:101",
      "64:ff9b:1::1",
      "2002:7f00:1::",
      "2001:0:1::1",
      "2001:db8::1",
      "3fff::1",
      "fc00::1",
      "fdff::1",
      "fe80::1",
      "febf::1",
      "fec0::1",
      "ff02::1",
      "4000::1",
      "1fff::1",
      "fd00:ec2::254",
      "100::1",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    const struct address special = address (texts[i]);
    g_test_message ("%s", texts[i]);
    g_assert_nonnull (address_special (&special));
  }
  const struct address mapped = address ("::ffff:10.1.0.1"), private = address ("10.1.0.1");
  g_assert_true (address_is_disguised (&mapped));
  g_assert_false (address_is_disguised (&private));
}

static void
test_blocks (void)
{
  static const char *const wrong[] = {
      "10.1.0.1/16", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "/8", "10/8", "fd00::1/32", "",
  };
  struct address_block block;
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_false (address_block_parse (wrong[i], &block));
  const struct address inside = address ("10.127.255.255"), outside = address ("10.128.0.0");
  const struct address six = address ("::a7f:ffff");
  g_assert_true (address_block_parse ("10.0.0.0/9", &block));
  g_assert_true (address_block_has (&block, &inside));
  g_assert_false (address_block_has (&block, &outside));
  g_assert_false (address_block_has (&block, &six));
}

static void
test_hosts (void)
{
  static const struct {
    const char *text, *host; /* NULL: it is none */
    guint16 port;
  } rows[] = {
      {"example.org", "example.org", 0},
      {"EXAMPLE.Org.", "example.org", 0},
      {"example.org:8443", "example.org", 8443},
      {"1.2.3.4", "1.2.3.4", 0},
      {"1.2.3.4:80", "1.2.3.4", 80},
      {"[2001:DB8::0:7]:443", "2001:db8::7", 443},
      {"[::1]", "::1", 0},
      {"a_b.example.org", "a_b.example.org", 0},
      {"3com.com", "3com.com", 0},
      {"", NULL, 0},
      {".", NULL, 0},
      {"..", NULL, 0},
      {"a..b", NULL, 0},
      {".a", NULL, 0},
      {"a..", NULL, 0},
      {"-a.org", NULL, 0},
      {"a-.org", NULL, 0},
      {"a b", NULL, 0},
      {"a@b", NULL, 0},
      {"a%41", NULL, 0},
      {"a\xc3\xa4.org", NULL, 0},
      {"1", NULL, 0},
      {"2130706433", NULL, 0},
      {"127.1", NULL, 0},
      {"0177.0.0.1", NULL, 0},
      {"0x7f.0.0.1", NULL, 0},
      {"1.2.3.4.", NULL, 0},
      {"1.2.3.4.5", NULL, 0},
      {"a.0x10", NULL, 0},
      {"a.123", NULL, 0},
      {"::1", NULL, 0},
      {"[1.2.3.4]", NULL, 0},
      {"[::1", NULL, 0},
      {"[::1]x", NULL, 0},
      {"[::1%lo]", NULL, 0},
      {"[]", NULL, 0},
      {"a:", NULL, 0},
      {"a:0", NULL, 0},
      {"a:080", NULL, 0},
      {"a:65536", NULL, 0},
      {"a:80:80", NULL, 0},
      {"a:+80", NULL, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct host_name name;
    guint16 port;
    g_test_message ("%s", rows[i].text);
    gboolean good = host_port_parse (rows[i].text, strlen (rows[i].text), &name, &port);
    g_assert_cmpint (good, ==, rows[i].host != NULL);
    if (!good)
      continue;
    g_assert_cmpstr (name.text, ==, rows[i].host);
    g_assert_cmpuint (port, ==, rows[i].port);
  }
  g_autofree char *label = g_strnfill (63, 'a'), *longer = g_strnfill (64, 'a');
  struct host_name name;
  g_assert_true (host_name_parse (label, 63, &name));
  g_assert_false (host_name_parse (longer, 64, &name));
  g_autofree char *whole = g_strjoin (".", label, label, label, label, NULL);
  g_assert_false (host_name_parse (whole, strlen (whole), &name));
}

static gboolean
allows (const char *list, const char *place)
{
  struct network_rules *rules = network_rules_new ();
  g_auto (GStrv) words = g_strsplit (list, " ", -1);
  struct host_name host;
  guint16 port;
  rules->mode = NETWORK_ALLOW;
  for (char **word = words; *word; word++) {
    g_autoptr (GError) error = NULL;
    network_rules_add (rules, *word, &error);
    g_assert_no_error (error);
  }
  g_assert_true (host_port_parse (place, strlen (place), &host, &port));
  gboolean allowed = network_rules_allow (rules, &host, port);
  network_rules_unref (rules);
  return allowed;
}

static void
test_lists (void)
{
  g_assert_true (allows ("a.org", "a.org:80"));
  g_assert_true (allows ("A.ORG.", "a.org:443"));
  g_assert_false (allows ("a.org", "a.org:8080"));
  g_assert_true (allows ("a.org:8080", "a.org:8080"));
  g_assert_false (allows ("a.org:8080", "a.org:80"));
  g_assert_false (allows ("a.org", "b.a.org:80"));
  g_assert_true (allows ("*.a.org", "c.b.a.org:80"));
  g_assert_false (allows ("*.a.org", "a.org:80"));
  g_assert_false (allows ("*.a.org", "ba.org:80"));
  g_assert_true (allows ("*", "what.ever:443"));
  g_assert_true (allows ("*:8443", "what.ever:8443"));
  g_assert_false (allows ("*:8443", "what.ever:443"));
  g_assert_true (allows ("*", "1.2.3.4:80"));
  g_assert_true (allows ("10.1.0.0/16", "10.1.2.3:80"));
  g_assert_false (allows ("10.1.0.0/16", "10.2.2.3:80"));
  g_assert_true (allows ("10.1.0.0/16:22", "10.1.2.3:22"));
  g_assert_true (allows ("[2001:db8::]/32", "[2001:db8:1::1]:80"));
  g_assert_true (allows ("[2001:db8::]/32:22", "[2001:db8:1::1]:22"));
  g_assert_true (allows ("[2001:db8::7]", "[2001:DB8:0::7]:80"));
  g_assert_true (allows ("b\xc3\xbc"
                         "cher.example",
                         "xn--bcher-kva.example:80"));
}

/* What a request must say, and what is wrong with it otherwise. */
static void
test_requests (void)
{
  static const struct {
    const char *text, *wrong; /* NULL: nothing */
  } rows[] = {
      {"GET http://a.org/ HTTP/1.1\r\n\r\n", NULL},
      {"GET HTTP://a.org HTTP/1.1\r\n\r\n", NULL},
      {"CONNECT a.org:443 HTTP/1.1\r\nHost: b.org\r\n\r\n", NULL},
      {"CONNECT a.org HTTP/1.1\r\n\r\n", "port"},
      {"CONNECT http://a.org/ HTTP/1.1\r\n\r\n", "host"},
      {"CONNECT a.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "body"},
      {"connect a.org:443 HTTP/1.1\r\n\r\n", "http://HOST/"},
      {"GET  http://a.org/ HTTP/1.1\r\n\r\n", "address"},
      {"GET http://a.org/ b HTTP/1.1\r\n\r\n", "address"},
      {"GET http://a.org/ HTTP/2\r\n\r\n", "HTTP/1.1"},
      {"GET http://a.org/\r\n\r\n", "first line"},
      {" GET http://a.org/ HTTP/1.1\r\n\r\n", "method"},
      {"GET http:///x HTTP/1.1\r\n\r\n", "host"},
      {"GET http://a.org/ HTTP/1.1\r\n: x\r\n\r\n", "name"},
      {"GET http://a.org/ HTTP/1.1\r\nX : y\r\n\r\n", "name"},
      {"GET http://a.org/ HTTP/1.1\r\nX: \x01\r\n\r\n", "control"},
      {"GET http://a.org/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0"},
      {"GET http://a.org/ HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", "number"},
      {"GET http://a.org/#x HTTP/1.1\r\n\r\n", "fragment"},
      {"GET http://u@a.org/ HTTP/1.1\r\n\r\n", "user"},
      {"TRACE http://a.org/ HTTP/1.1\r\n\r\n", "TRACE"},
      {"track http://a.org/ HTTP/1.1\r\n\r\n", "TRACE"},
      {"AVERYLONGMETHODNAMETHATNOBODYHASANDNOBODYWILL http://a.org/ HTTP/1.1\r\n\r\n", "method"},
      {"G(T http://a.org/ HTTP/1.1\r\n\r\n", "method"},
      {"GET  HTTP/1.1\r\n\r\n", "address"},
      {"CONNECT a.org:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "body"},
      {"CONNECT a.org:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n", NULL},
      {"GET http://a.org/ HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "Transfer-Encoding"},
      {"GET http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
       "Transfer-Encoding"},
      {"GET http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "both"},
      {"GET http://a.org/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "more than one Host"},
      {"GET http://a.org/ HTTP/1.1", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct proxy_request request;
    const char *wrong = proxy_request_parse (rows[i].text, strlen (rows[i].text), NULL, &request);
    g_test_message ("%s: %s", rows[i].text, wrong ? wrong : "good");
    g_assert_cmpint (wrong == NULL, ==, rows[i].wrong == NULL);
    if (wrong)
      g_assert_nonnull (strstr (wrong, rows[i].wrong));
    else
      proxy_request_clear (&request);
  }
}

/* What goes on to the host, in one meaning. */
static void
test_heads (void)
{
  static const struct {
    const char *text, *dropped, *head;
  } rows[] = {
      {"GET http://a.org HTTP/1.1\r\n\r\n", NULL, "GET / HTTP/1.1\r\nHost: a.org\r\nConnection: close\r\n"},
      {"GET http://a.org:8080?q HTTP/1.0\r\n\r\n", NULL,
       "GET /?q HTTP/1.1\r\nHost: a.org:8080\r\nConnection: close\r\n"},
      {"GET http://[::1]:81/x HTTP/1.1\r\nX:\t a b \t\r\n\r\n", NULL,
       "GET /x HTTP/1.1\r\nX: a b\r\nHost: [::1]:81\r\nConnection: close\r\n"},
      {"GET http://a.org/ HTTP/1.1\r\nA:\r\nConnection: B, c\r\nb: 1\r\nC: 2\r\nKey: k\r\n\r\n", "key",
       "GET / HTTP/1.1\r\nA: \r\nHost: a.org\r\nConnection: close\r\n"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct proxy_request request;
    g_assert_null (proxy_request_parse (rows[i].text, strlen (rows[i].text), rows[i].dropped, &request));
    g_assert_cmpstr (request.head->str, ==, rows[i].head);
    proxy_request_clear (&request);
  }
}

/* Where a body ends; -1: it is none of the kind that was said. */
static void
test_bodies (void)
{
  static const struct {
    enum proxy_body_kind kind;
    guint64 length;
    const char *text;
    gssize taken;
    gboolean whole;
  } rows[] = {
      {PROXY_BODY_NONE, 0, "x", 0, TRUE},
      {PROXY_BODY_LENGTH, 0, "x", 0, TRUE},
      {PROXY_BODY_LENGTH, 2, "x", 1, FALSE},
      {PROXY_BODY_LENGTH, 2, "xyz", 2, TRUE},
      {PROXY_BODY_CHUNKED, 0, "2\r\nxy\r\n0\r\n\r\nz", 12, TRUE},
      {PROXY_BODY_CHUNKED, 0, "2\r\nx", 4, FALSE},
      {PROXY_BODY_CHUNKED, 0, "0\r\n\r\n", 5, TRUE},
      {PROXY_BODY_CHUNKED, 0, "0000001a\r\n", 10, FALSE},
      {PROXY_BODY_CHUNKED, 0, "000000001\r\n", -1, FALSE},
      {PROXY_BODY_CHUNKED, 0, "\r\n", -1, FALSE},
      {PROXY_BODY_CHUNKED, 0, "1;a=b\r\n", -1, FALSE},
      {PROXY_BODY_CHUNKED, 0, "1\nx", -1, FALSE},
      {PROXY_BODY_CHUNKED, 0, "1\r\nxy", -1, FALSE},
      {PROXY_BODY_CHUNKED, 0, "1\r\nx\rx", -1, FALSE},
      {PROXY_BODY_CHUNKED, 0, "0\r\nX: y\r\n", -1, FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    const struct proxy_request request = {.body = rows[i].kind, .length = rows[i].length};
    struct proxy_body body;
    g_test_message ("%s", rows[i].text);
    proxy_body_init (&body, &request);
    g_assert_cmpint (proxy_body_take (&body, rows[i].text, strlen (rows[i].text)), ==, rows[i].taken);
    g_assert_cmpint (body.whole, ==, rows[i].whole);
    /* It makes no difference where it is cut. */
    gssize taken = 0;
    proxy_body_init (&body, &request);
    for (const char *at = rows[i].text; *at && !body.whole && taken >= 0; at++) {
      gssize one = proxy_body_take (&body, at, 1);
      taken = one < 0 ? -1 : taken + one;
    }
    g_assert_cmpint (taken, ==, rows[i].taken);
  }
}

static void
test_wrong_words (void)
{
  static const char *const wrong[] = {
      "",     "a b",    "*.",           "*x",           "*.1.2.3.4",        "a.org:0",      "[::1/64",
      "[]/8", "::1/64", "10.0.0.0/8:0", "10.0.0.0/8:x", "10.0.0.0/8:65536", "[10.0.0.0]/8", "10.0.0.1/8",
      "/8",   "[/8",    "a.org/8",      "\xff.org",
  };
  struct network_rules *rules = network_rules_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_test_message ("%s", wrong[i]);
    g_assert_false (network_rules_add (rules, wrong[i], &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  }
  g_assert_cmpuint (rules->hosts->len, ==, 0);
  g_assert_cmpstr (rules->text, ==, "");
  network_rules_unref (rules);
}

/* ---- the key ---- */

static void
test_keys (void)
{
  static const struct {
    const char *content;
    guint mode;
    const char *value, *wrong;
  } rows[] = {
      {"k3y", 0600, "Bearer k3y!", NULL},
      {"  k3y\n", 0400, "Bearer k3y!", NULL},
      {"", 0600, NULL, "the key for a.org is empty or not one line of text"},
      {"\n\n", 0600, NULL, "the key for a.org is empty or not one line of text"},
      {"a\r\nX: y", 0600, NULL, "the key for a.org is empty or not one line of text"},
      {"a\x7f", 0600, NULL, "the key for a.org is empty or not one line of text"},
      {"k3y", 0640, NULL, "can be read by others than its owner: chmod 600"},
      {"k3y", 0604, NULL, "can be read by others than its owner: chmod 600"},
      {NULL, 0600, NULL, "is too long"},
  };
  g_autofree char *folder = g_dir_make_tmp ("adder-key-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "key", NULL);
  struct network_secret secret = {.value = (char *)"Bearer {}!", .file = file};
  g_autofree char *much = g_strnfill (100000, 'x');
  g_assert_true (host_name_parse ("a.org", 5, &secret.host));
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_unlink (file); /* newer GLibs keep the mode of a file that is replaced */
    g_assert_true (g_file_set_contents_full (file, rows[i].content ? rows[i].content : much, -1,
                                             G_FILE_SET_CONTENTS_CONSISTENT, (int)rows[i].mode, NULL));
    char *value = network_secret_read (&secret, &error);
    g_assert_cmpstr (value, ==, rows[i].value);
    network_secret_wipe (value);
    if (!rows[i].wrong)
      continue;
    g_assert_true (g_str_has_suffix (error->message, rows[i].wrong));
    g_assert_null (strstr (error->message, "k3y"));
  }
  g_autoptr (GError) gone = NULL, directory = NULL, unset = NULL;
  g_assert_cmpint (g_unlink (file), ==, 0);
  g_assert_null (network_secret_read (&secret, &gone));
  g_assert_true (g_str_has_suffix (gone->message, "No such file or directory"));
  secret.file = folder;
  g_assert_null (network_secret_read (&secret, &directory));
  g_assert_true (g_str_has_suffix (directory->message, "is no regular file"));
  secret.file = NULL;
  secret.variable = (char *)"ADDER_TEST_KEY";
  g_assert_null (network_secret_read (&secret, &unset));
  g_assert_cmpstr (unset->message, ==, "the daemon has no variable ADDER_TEST_KEY with the key");
  g_setenv ("ADDER_TEST_KEY", "v4r", TRUE);
  char *value = network_secret_read (&secret, NULL);
  g_assert_cmpstr (value, ==, "Bearer v4r!");
  network_secret_wipe (value);
  g_unsetenv ("ADDER_TEST_KEY");
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

UNIT_SUITE (engine_network)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/network/public", test_public);
  g_test_add_func ("/engine/network/special", test_special);
  g_test_add_func ("/engine/network/blocks", test_blocks);
  g_test_add_func ("/engine/network/hosts", test_hosts);
  g_test_add_func ("/engine/network/lists", test_lists);
  g_test_add_func ("/engine/network/requests", test_requests);
  g_test_add_func ("/engine/network/heads", test_heads);
  g_test_add_func ("/engine/network/bodies", test_bodies);
  g_test_add_func ("/engine/network/wrong-words", test_wrong_words);
  g_test_add_func ("/engine/network/keys", test_keys);
  return g_test_run ();
}
