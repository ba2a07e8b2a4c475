/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of answers, as they should be and as they come. */
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "materials/page.h"
#include "suite.h"

#define HERE "https://one.example/optimade/v1/structures?filter=a"

static void
test_read (void)
{
  const struct {
    const char *text, *next;
    gsize entries;
    gint64 available;
    gboolean has_more;
  } cases[] = {
      {"{\"data\": []}", NULL, 0, -1, FALSE},
      {"{\"data\": [1, {}], \"meta\": {\"data_returned\": 7}}", NULL, 2, 7, FALSE},
      {"{\"data\": [], \"meta\": {\"data_returned\": \"many\", \"more_data_available\": true}}", NULL, 0, -1,
       TRUE},
      {"{\"data\": [], \"links\": {\"next\": null}}", NULL, 0, -1, FALSE},
      {"{\"data\": [], \"links\": {\"next\": \"\"}}", NULL, 0, -1, FALSE},
      {"{\"data\": [], \"links\": {\"next\": \"https://one.example/x?page=2\"}}",
       "https://one.example/x?page=2", 0, -1, TRUE},
      {"{\"data\": [], \"links\": {\"next\": {\"href\": \"https://one.example/x\"}}}",
       "https://one.example/x", 0, -1, TRUE},
      {"{\"data\": [], \"links\": {\"next\": \"/x?y=1\"}}", "https://one.example/x?y=1", 0, -1, TRUE},
      {"{\"data\": [], \"links\": {\"next\": 5}}", NULL, 0, -1, FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    struct page page = {0};
    g_autoptr (GError) problem = NULL;
    g_assert_true (page_read (cases[i].text, strlen (cases[i].text), HERE, &page, &problem));
    g_assert_no_error (problem);
    g_assert_cmpstr (page.next, ==, cases[i].next);
    g_assert_cmpuint (json_array_size (page.entries), ==, cases[i].entries);
    g_assert_cmpint (page.available, ==, cases[i].available);
    g_assert_true (page.has_more == cases[i].has_more);
    page_clear (&page);
  }
}

static void
test_refused (void)
{
  const struct {
    const char *text, *word;
  } cases[] = {
      {"", "nothing"},
      {" \n<!DOCTYPE html>", "HTML"},
      {"{\"data\": [", "not JSON"},
      {"[]", "no list"},
      {"{\"data\": {}}", "no list"},
      {"{\"errors\": [{\"detail\": \"not today\"}]}", "not today"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    struct page page = {0};
    g_autoptr (GError) problem = NULL;
    g_assert_false (page_read (cases[i].text, strlen (cases[i].text), HERE, &page, &problem));
    g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
    if (!strstr (problem->message, cases[i].word))
      g_error ("%zu: \"%s\" lacks \"%s\"", i, problem->message, cases[i].word);
    page_clear (&page);
  }
}

/* What it has stays; where it leads is not gone. */
static void
test_leads_away (void)
{
  static const char *const urls[] = {
      "https://two.example/",      "http://one.example/", "https://one.example:444/",
      "https://user@one.example/", "file:///etc/passwd",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (urls); i++) {
    struct page page = {0};
    g_autofree char *text = g_strdup_printf ("{\"data\": [{}], \"links\": {\"next\": \"%s\"}}", urls[i]);
    g_assert_true (page_read (text, strlen (text), HERE, &page, NULL));
    g_assert_true (page.leads_away);
    g_assert_null (page.next);
    g_assert_cmpuint (json_array_size (page.entries), ==, 1);
    page_clear (&page);
  }
}

static void
test_refusals (void)
{
  const struct {
    const char *text, *said;
  } cases[] = {
      {"{\"errors\": [{\"title\": \"Bad Request\", \"detail\": \"no such\\nproperty\"}]}",
       "no such\\x0aproperty"},
      {"{\"errors\": [{\"title\": \"Bad Request\"}]}", "Bad Request"},
      {"{\"errors\": []}", NULL},
      {"<html>", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *said = page_read_refusal (cases[i].text, strlen (cases[i].text));
    g_assert_cmpstr (said, ==, cases[i].said);
  }
}

UNIT_SUITE (materials_page)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/materials/page/read", test_read);
  g_test_add_func ("/materials/page/refused", test_refused);
  g_test_add_func ("/materials/page/leads_away", test_leads_away);
  g_test_add_func ("/materials/page/refusals", test_refusals);
  return g_test_run ();
}
