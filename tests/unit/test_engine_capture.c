/* SPDX-License-Identifier: Apache-2.0 */
/* Output as it is kept for the reply: cleaned, cut in the middle, counted. */
#include <glib.h>
#include <string.h>

#include "engine/request/capture.h"
#include "suite.h"

#define REPLACED "\xEF\xBF\xBD"

struct text {
  const char *bytes;
  gssize length;
  const char *clean;
};

static const struct text texts[] = {
    {"", 0, ""},
    {"plain", -1, "plain"},
    {"Gr\xC3\xBC\xC3\x9F"
     "e \xF0\x9F\x90\x8D",
     -1,
     "Gr\xC3\xBC\xC3\x9F"
     "e \xF0\x9F\x90\x8D"},
    {"a\0b", 3, "a" REPLACED "b"},
    {"\xFF\xFE", 2, REPLACED REPLACED},
    {"\xC3", 1, REPLACED},     /* the beginning of a character */
    {"\xE2\x82", 2, REPLACED}, /* one for the longest beginning */
    {"\xE2\x82x", 3, REPLACED "x"},
    {"\xC0\xAF", 2, REPLACED REPLACED}, /* overlong */
    {"\xE0\x80\xAF", 3, REPLACED REPLACED REPLACED},
    {"\xED\xA0\x80", 3, REPLACED REPLACED REPLACED},              /* a surrogate */
    {"\xF4\x90\x80\x80", 4, REPLACED REPLACED REPLACED REPLACED}, /* beyond U+10FFFF */
    {"\x80", 1, REPLACED},
};

static void
test_clean (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    gsize length = texts[i].length < 0 ? strlen (texts[i].bytes) : (gsize)texts[i].length;
    g_autofree char *clean = capture_clean (texts[i].bytes, length);
    g_assert_cmpstr (clean, ==, texts[i].clean);
    g_assert_true (g_utf8_validate (clean, -1, NULL));
  }
}

/* Feeds LENGTH bytes in pieces of STEP. */
static char *
capture_in_steps (const char *bytes, gsize length, gsize cap, gsize step, gboolean *ret_cut)
{
  struct capture capture;
  gsize text_length;
  capture_init (&capture, cap);
  for (gsize at = 0; at < length; at += step)
    capture_add (&capture, bytes + at, MIN (step, length - at));
  char *text = capture_text (&capture, NULL, &text_length, ret_cut);
  g_assert_cmpuint (text_length, ==, strlen (text));
  g_assert_cmpuint (capture.total, ==, length);
  g_assert_true (g_utf8_validate (text, -1, NULL));
  g_assert_cmpuint (capture.head->len + capture.tail->len, <=, cap);
  capture_clear (&capture);
  return text;
}

static void
test_capture_whole (void)
{
  gboolean cut;
  for (gsize step = 1; step < 12; step++) {
    g_autofree char *text = capture_in_steps ("na\xC3\xAFve\n", 7, 16, step, &cut);
    g_assert_cmpstr (text, ==, "na\xC3\xAFve\n");
    g_assert_false (cut);
    g_autofree char *full = capture_in_steps ("0123456789abcdef", 16, 16, step, &cut);
    g_assert_cmpstr (full, ==, "0123456789abcdef");
    g_assert_false (cut);
  }
}

static void
test_capture_cut (void)
{
  gboolean cut;
  for (gsize step = 1; step < 40; step++) {
    g_autofree char *text = capture_in_steps ("0123456789abcdefghijklmnopqrstuvwxyz", 36, 16, step, &cut);
    g_assert_true (cut);
    g_assert_true (g_str_has_prefix (text, "01234567\n[... 20 bytes are left out"));
    g_assert_true (g_str_has_suffix (text, "]\nstuvwxyz"));
  }
}

/* Whatever is torn at the cuts, no character is replaced, and what is missing is counted. */
static void
test_capture_characters (void)
{
  g_autoptr (GString) many = g_string_new (NULL);
  for (int i = 0; i < 100; i++)
    g_string_append (many, i % 3 == 0 ? "\xE2\x82\xAC" : i % 3 == 1 ? "\xC3\xA4" : "\xF0\x9F\x90\x8D");
  for (gsize cap = 20; cap < 60; cap++) {
    gboolean cut;
    guint64 missing = 0;
    g_autofree char *text = capture_in_steps (many->str, many->len, cap, 7, &cut);
    g_assert_null (strstr (text, REPLACED));
    const char *gap = strstr (text, "\n[... "), *rest = strstr (text, "...]\n");
    g_assert_nonnull (gap);
    g_assert_nonnull (rest);
    missing = g_ascii_strtoull (gap + strlen ("\n[... "), NULL, 10);
    g_assert_cmpuint ((gsize)(gap - text) + strlen (rest + strlen ("...]\n")) + missing, ==, many->len);
  }
}

/* Cleaning makes text longer than bytes: the cap holds for the text. */
static void
test_capture_garbage (void)
{
  char garbage[300];
  gboolean cut;
  memset (garbage, 0xFF, sizeof garbage);
  g_autofree char *text = capture_in_steps (garbage, sizeof garbage, 300, 50, &cut);
  g_assert_true (cut);
  g_assert_nonnull (strstr (text, "[... 200 bytes"));
  g_assert_cmpuint (strlen (text), <, 300 + 100);
}

static void
test_capture_memory (void)
{
  struct capture capture;
  g_autofree char *block = g_malloc (65536);
  memset (block, 'x', 65536);
  capture_init (&capture, 1 << 20);
  for (int i = 0; i < 4096; i++)
    capture_add (&capture, block, 65536);
  g_assert_cmpuint (capture.total, ==, (guint64)4096 * 65536);
  g_assert_cmpuint (capture.head->len + capture.tail->len, ==, 1 << 20);
  capture_clear (&capture);
}

UNIT_SUITE (engine_capture)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/capture/clean", test_clean);
  g_test_add_func ("/engine/capture/whole", test_capture_whole);
  g_test_add_func ("/engine/capture/cut", test_capture_cut);
  g_test_add_func ("/engine/capture/characters", test_capture_characters);
  g_test_add_func ("/engine/capture/garbage", test_capture_garbage);
  g_test_add_func ("/engine/capture/memory", test_capture_memory);
  return g_test_run ();
}
