/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines: what is read of them, what is refused, and that nothing is run by dash that was not looked
 * up. */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "runner/script_check.h"
#include "sandbox/programs.h"
#include "suite.h"

/* Copied, so that a sanitizer sees what is read beyond the end. */
static char *
check_text (struct check *check, const char *text)
{
  gsize length = strlen (text);
  char *copy = g_memdup2 (text, length);
  gboolean fine = check_script (check, copy, length);
  g_assert_cmpint (fine, ==, check->count == 0);
  g_free (copy);
  GString *told = g_string_new (NULL);
  for (gsize i = 0; i < check->count; i++) {
    const struct check_violation *violation = &check->violations[i];
    g_assert_nonnull (violation->hint);
    g_string_append_printf (told, "%s%u:%u %s %s", i > 0 ? "; " : "", violation->place.line,
                            violation->place.column, violation->rule, violation->text);
  }
  return g_string_free (told, FALSE);
}

struct row {
  const char *text, *told;
};

static void
compare (const struct row *rows, gsize count)
{
  static struct check check;
  for (gsize i = 0; i < count; i++) {
    g_autofree char *told = check_text (&check, rows[i].text);
    if (strcmp (told, rows[i].told) == 0)
      continue;
    g_test_message ("%s\ngives      %s\nand not    %s", rows[i].text, told, rows[i].told);
    g_test_fail ();
  }
}

/* ---- what is fine ---- */

static const char *const fine[] = {
    "",
    "# nothing\n",
    "echo a | wc -c",
    "cat /tmp/x | grep -v '^#' | cut -d: -f1 | sort -u > /tmp/y 2>&1",
    "for i in 1 2 3; do echo $i; done; for x\ndo echo \"$x\"\ndone",
    "while read -r line; do printf '%s\\n' \"$line\"; done < /tmp/x",
    "until test -f x; do sleep 1; break; done",
    "if grep -q x y; then echo a; elif [ -f z ]; then :; else exit 1; fi",
    "case $x in a|b) echo 1 ;; (*) echo 2;; esac | cat",
    "case x in\nesac",
    "case x in a) ls ; esac",
    "f() { echo $1; }; f a; g() ( f b )\ng",
    "later() { first; }; first() { echo; }; later",
    "{ echo a; echo b; } | sort; ( cd /tmp && ls )",
    "( (echo a) )",
    "! grep x y && echo n || true",
    "echo $(date +%s) `date` \"$(ls | wc -l)\" $((1 + (2 * 3)))",
    "echo ${x:-\"a b\"} ${#x} $# $? $$ $! $- $1 ${10} ${x%%.*} ${x##*/} \"${x:+y}\"",
    "cat <<E | tr a-z A-Z\nrm -rf / $x `date` $(date)\nE\necho",
    "cat <<'E'\n$(rm x) `rm y` \\\nE",
    "cat <<-E; cat <<\\F\n\ta\n\tE\nrm\nF\n",
    "echo \"a\\\"b\" 'c\\' \\' \\\n  d # rm x ' \"\n",
    "find . -name '*.txt' -exec grep -l x {} \\; -o -type f -print | xargs -r -n 1 wc -l",
    "xargs -I{} -P4 --max-args 2 -- head {} < /tmp/list",
    "timeout -k 1 5s cat; nice -n 5 env -i -u X A=1 B=\"$x\" sort; nohup stdbuf -oL cut -c1; time -f %e ls",
    "/usr/bin/env /bin/cat x; command -v jq; exec 3< /tmp/x; exec 3<&-; exec cat",
    "trap 'echo ended' EXIT; trap - INT; trap '' TERM",
    "export A=1 B; readonly A; A=2 B=$(date) printenv A; A=1; read -r x y",
    "awk 'BEGIN{system(\"rm x\")}'; sed -n '1e rm x'",
    "curl -s https://example.com | jq '.a[0]'",
    "echo *.txt ~/x [a-z]* {a,b} }; echo if then",
    "echo >/tmp/x a b 2>/dev/null <&- 3<>/tmp/y >|/tmp/z",
    "ls &\nwait",
    "while IFS= read -r line; do IFS=: read -r a b; done < /tmp/x",
    "for f in *.csv; do echo \"$f: $(wc -l < \"$f\")\"; done",
    "i=0; while [ \"$i\" -lt 3 ]; do i=$((i + 1)); done; echo $((i > 1 ? i : 0))",
    ">&2 echo a; echo b 1>&2; : > /tmp/x; { echo; ls; } >> /tmp/x 2>&1",
    /* In parentheses: one text, not two that lack a comma. */
    ("#!/bin/sh\nset -eu\ntotal=$(awk -F, '{ s += $2 } END { print s }' x.csv)\necho \"$total\" | tee -a "
     "/tmp/x"),
    "ls -l |\n  sort -k5 -n | # the largest\n  tail -n 3 &&\n  echo \\\n  done",
    "case \"$x\" in\n  *.txt | *.md)\n    cat \"$x\"\n    ;;\n  \"\") exit 1 ;;\n  *) exit 2\nesac",
    "say() {\n  local word=\"$1\"\n  printf '%s\\n' \"$word\"\n}\nsay a; say \"$(say b)\"",
    "ls\\\n -l",
    "[ -n \"$x\" ] && [ 1 -lt 2 ]",

};

static void
test_fine (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (fine); i++)
    compare (&(struct row){fine[i], ""}, 1);
}

/* ---- what is refused ---- */

static const struct row refused[] = {
    {"rm x", "1:1 refused rm"},
    {"  \t rm", "1:5 refused rm"},
    {"echo; rm", "1:7 refused rm"},
    {"echo\nrm", "2:1 refused rm"},
    {"echo|rm", "1:6 refused rm"},
    {"echo&rm", "1:6 refused rm"},
    {"echo&&rm||dd", "1:7 refused rm; 1:11 refused dd"},
    {"\\rm", "1:1 refused \\rm"},
    {"'rm'", "1:1 refused 'rm'"},
    {"r\"m\"", "1:1 refused r\"m\""},
    {"r''m x", "1:1 refused r''m"},
    {"r\\\nm", "1:1 refused r\\\nm"},
    {"/bin/rm", "1:1 refused /bin/rm"},
    {"A=1 rm", "1:5 refused rm"},
    {">/tmp/x rm", "1:9 refused rm"},
    {"2>&1 rm", "1:6 refused rm"},
    {"! rm", "1:3 refused rm"},
    {"! ! rm", "1:5 refused rm"},
    {"(rm)", "1:2 refused rm"},
    {"{ rm; }", "1:3 refused rm"},
    {"if rm; then dd; elif mv; then cp; else ln; fi",
     "1:4 refused rm; 1:13 refused dd; 1:22 refused mv; 1:31 refused cp; 1:40 refused ln"},
    {"while rm; do dd; done; until mv; do cp; done",
     "1:7 refused rm; 1:14 refused dd; 1:30 refused mv; 1:37 refused cp"},
    {"for i in $(rm); do dd; done", "1:12 refused rm; 1:20 refused dd"},
    {"case $(rm) in $(dd)) mv;; esac", "1:8 refused rm; 1:17 refused dd; 1:22 refused mv"},
    {"f() { rm; }", "1:7 refused rm"},
    {"f() rm", "1:5 refused rm"},
    {"rm() { :; }", "1:1 refused rm"},
    {"ls() { :; }", "1:1 refused ls"},
    {"echo $(rm)", "1:8 refused rm"},
    {"echo \"$(rm)\"", "1:9 refused rm"},
    {"echo $(echo $(rm))", "1:15 refused rm"},
    {"echo `rm`", "1:6 refused rm"},
    {"echo \"`rm`\"", "1:7 refused rm"},
    {"echo `echo \\`rm\\``", "1:6 refused rm"},
    {"echo ${x:-$(rm)} ${y#`dd`}", "1:13 refused rm; 1:22 refused dd"},
    {"echo \"${x:-$(rm)}\"", "1:14 refused rm"},
    {"echo $((1 + $(rm)))", "1:15 refused rm"},
    {"A=$(rm)", "1:5 refused rm"},
    {"A=$(rm) ls", "1:5 refused rm"},
    {"echo > $(rm)", "1:10 refused rm"},
    {"cat <<E\n$(rm) `dd`\nE", "2:3 refused rm; 2:7 refused dd"},
    {"cat <<E\n\\$(rm) \\`dd`mv`\nE", "2:12 refused mv"},
    {"cat <<E\nE\nrm", "3:1 refused rm"},
    {"cat <<E; rm\nE", "1:10 refused rm"},
    {"cat <<'E'\n  E\nE\nrm", "4:1 refused rm"},
    {"cat <<-E\n\t\tE\nrm", "3:1 refused rm"},
    {"cat <<A <<B\nrm\nA\nrm\nB\ndd", "6:1 refused dd"},
    {"echo a#rm\nrm # rm\n", "2:1 refused rm"},
    {"echo '\n'; rm", "2:4 refused rm"},
    {"xargs rm", "1:7 refused rm"},
    {"xargs -n1 -I {} rm {}", "1:17 refused rm"},
    {"xargs -n 1 rm", "1:12 refused rm"},
    {"xargs --max-args 1 rm", "1:20 refused rm"},
    {"xargs --max-args=1 rm", "1:20 refused rm"},
    {"xargs -0rn 1 rm", "1:14 refused rm"},
    {"xargs -- rm", "1:10 refused rm"},
    {"env rm", "1:5 refused rm"},
    {"env -i A=1 rm", "1:12 refused rm"},
    {"env -u A -- rm", "1:13 refused rm"},
    {"env -S 'rm x'", "1:5 refused -S"},
    {"env '-Srm x'", "1:5 refused '-Srm x'"},
    {"env --split-string='rm x'", "1:5 refused --split-string='rm x'"},
    {"timeout 5 rm", "1:11 refused rm"},
    {"timeout -s KILL 5 rm", "1:19 refused rm"},
    {"timeout --signal=KILL 5 rm", "1:25 refused rm"},
    {"nice rm; nice -n 3 rm; nice -5 rm", "1:6 refused rm; 1:20 refused rm; 1:32 refused rm"},
    {"nohup timeout 5 env xargs rm", "1:27 refused rm"},
    {"command rm; exec rm; command -p rm", "1:9 refused rm; 1:18 refused rm; 1:33 refused rm"},
    {"find . -exec rm {} \\;", "1:14 refused rm"},
    {"find . -execdir env rm {} +", "1:21 refused rm"},
    {"find . -ok dd \\; -okdir mv \\;", "1:12 refused dd; 1:25 refused mv"},
    {"find . -delete", "1:8 refused -delete"},
    {"trap 'rm x' EXIT", "1:1 refused rm"},
    {"trap \"$x\" EXIT", "1:6 not_literal \"$x\""},
    {"eval 'rm x'", "1:1 refused eval"},
    {". /tmp/x; source /tmp/x", "1:1 refused .; 1:11 refused source"},
    {"alias ls=rm", "1:1 refused alias"},
    {"sh -c 'rm x'; bash", "1:1 refused sh; 1:15 refused bash"},
    {"[[ a ]]", "1:1 refused [["},
    {"function f { :; }", "1:1 refused function; 1:17 syntax }"},
    {"$x", "1:1 not_literal $x"},
    {"$x rm", "1:1 not_literal $x"},
    {"\"$x\" y", "1:1 not_literal \"$x\""},
    {"r$x", "1:1 not_literal r$x"},
    {"`echo rm` x", "1:1 not_literal `echo rm`"},
    {"$(echo rm) x", "1:1 not_literal $(echo rm)"},
    {"r* x; r? x; [r]m x; ~/rm",
     "1:1 not_literal r*; 1:7 not_literal r?; 1:13 not_literal [r]m; 1:21 not_literal ~/rm"},
    {"env $x rm", "1:5 not_literal $x"},
    {"xargs -n $x ls; xargs -n \"$x\" rm", "1:10 not_literal $x; 1:31 refused rm"},
    {"env A=\"${@}\" ls", "1:5 not_literal A=\"${@}\""},
    {"env A=$x ls; env A=\"$x\" A=\"$@\" ls", "1:5 not_literal A=$x; 1:25 not_literal A=\"$@\""},
    {"timeout $x rm; timeout \"$x\" rm", "1:9 not_literal $x; 1:29 refused rm"},
    {"/tmp/x; ./x; ../bin/ls", "1:1 not_listed /tmp/x; 1:9 not_listed ./x; 1:14 not_listed ../bin/ls"},
    {"/lib64/ld-linux-x86-64.so.2 /bin/rm", "1:1 not_listed /lib64/ld-linux-x86-64.so.2"},
    {"foo; '' x", "1:1 not_listed foo; 1:6 not_listed ''"},
    {"{rm,x}", "1:1 not_listed {rm,x}"},
    {"PATH=/tmp ls", "1:1 variable PATH=/tmp"},
    {"PATH=/tmp", "1:1 variable PATH=/tmp"},
    {"LD_PRELOAD=x ls; export LD_LIBRARY_PATH=y ENV",
     "1:1 variable LD_PRELOAD=x; 1:25 variable LD_LIBRARY_PATH=y; 1:43 variable ENV"},
    {"for PATH in x; do :; done", "1:5 variable PATH"},
    {"for i; do rm; done", "1:11 refused rm"},
    {"find . -exec \\; -exec rm \\;", "1:23 refused rm"},
    {"nohup --x rm; command --x rm", "1:11 refused rm; 1:27 refused rm"},
    {"env \"-$x\" rm; nice \"-n$x\" rm", "1:5 not_literal \"-$x\"; 1:20 not_literal \"-n$x\""},
    {"echo ${#} ${#x} ${##}; rm", "1:24 refused rm"},
    {"read PATH; : ${PATH:=x}; env PATH=x ls", "1:6 variable PATH; 1:16 variable PATH; 1:30 variable PATH=x"},
    {"export $x; export \"A$x\"; export A=$x", "1:8 not_literal $x; 1:19 not_literal \"A$x\""},
    {"echo 'a", "1:6 syntax 'a"},
    {"echo \"a\n", "1:6 syntax \"a"},
    {"echo `a", "1:6 syntax `a"},
    {"echo $(ls", "1:8 syntax ls"},
    {"echo ${x", "1:6 syntax ${x"},
    {"echo ${x/a/b} rm", "1:6 syntax ${x/a/b} rm"},
    {"echo ${!x}", "1:6 syntax ${!x}"},
    {"echo $'\\x72m'", "1:6 syntax $'\\x72m'"},
    {"((1))", "1:1 syntax ((1))"},
    {"cat <(rm)", "1:5 syntax <(rm)"},
    {"cat <<< x", "1:5 syntax <<< x"},
    {"ls &> x", "1:4 syntax &> x"},
    {"ls |& cat", "1:5 syntax & cat"},
    {"if true", "1:8 syntax "},
    {"if true; then", "1:14 syntax "},
    {"for i in a; echo; done", "1:12 syntax  echo; done"},
    {"fi; rm", "1:1 syntax fi; rm"},
    {") rm", "1:1 syntax ) rm"},
    {"ls ) rm", "1:4 syntax ) rm"},
    {";; rm", "1:1 syntax ;; rm"},
    {"cat <<E", "1:8 syntax "},
    {"cat <<E\na \\\nE\nrm\nE", "3:1 syntax E"},
    {"echo $(cat <<E)", "1:8 syntax cat <<E)"},
    {"cat <<E $(ls\nrm)\nE", "1:13 syntax "},
    {"echo \"${x:-'a'}\"", "1:12 syntax 'a'}\""},
    {"echo ${#x:-y}", "1:6 syntax ${#x:-y}"},
    {"echo \"`echo \\\"a\\\"`\"", "1:7 syntax `echo \\\"a\\\"`\""},
    {"case x in a) ls ;& esac", "1:18 syntax & esac"},
    {"case x in a) ls ;;& esac", "1:19 syntax & esac"},
    {"cat <<'a\nb'\nx\na\nb", "1:7 syntax 'a"},
    {"cat <<$x\na\n$x", "1:7 syntax $x"},
    {"cat <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A", "1:71 syntax A"},
};

static void
test_refused (void)
{
  compare (refused, G_N_ELEMENTS (refused));
}

static void
test_zero_byte (void)
{
  static struct check check;
  g_assert_false (check_script (&check, "ls\0rm", 5));
  g_assert_cmpstr (check.violations[0].rule, ==, "syntax");
}

/* Whatever nests, at some depth it is too deep, and nothing falls over before. */
static void
test_depth (void)
{
  static const char *const openings[] = {
      "(",    "$(",   "{ ",   "if ",     "while ", "echo $(echo ", "${x:-", "$((", "case x in a) ",
      "f() ", "\"$(", "env ", "\"${x:-", "! "};
  static struct check check;
  for (gsize i = 0; i < G_N_ELEMENTS (openings); i++) {
    GString *text = g_string_new (NULL);
    for (int depth = 0; depth < 20000; depth++)
      g_string_append (text, openings[i]);
    g_assert_false (check_script (&check, text->str, text->len));
    g_string_free (text, TRUE);
  }
}

/* A command in backquotes is looked at, however deep it is, or the whole is refused. */
static void
test_depth_of_backquotes (void)
{
  static struct check check;
  const char *rule = "";
  for (int depth = 0; depth < 200; depth++) {
    g_autoptr (GString) text = g_string_new ("echo `rm`");
    for (int i = 0; i < depth; i++) {
      g_string_prepend (text, "( ");
      g_string_append (text, ")");
    }
    g_assert_false (check_script (&check, text->str, text->len));
    rule = check.violations[0].rule;
    g_assert_true (depth > 20 || g_str_equal (rule, "refused"));
  }
  g_assert_cmpstr (rule, ==, "syntax");
}

static void
test_many_violations (void)
{
  static struct check check;
  GString *text = g_string_new (NULL);
  for (int i = 0; i < 5000; i++)
    g_string_append (text, "rm x\n");
  g_assert_false (check_script (&check, text->str, text->len));
  g_assert_cmpuint (check.count, ==, CHECK_VIOLATIONS_MAX);
  g_string_free (text, TRUE);
}

#define SIXTY "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz01234567"

static void
test_host (void)
{
  static const struct row rows[] = {
      {"curl -s https://a.example.com/x", "curl https://a.example.com/x"},
      {"ls | wget -q example.com", "wget example.com"},
      {"curl --version; curl file:///tmp/x.txt", ""},
      {"env curl \"https://$x.example.com\"", "curl https://.example.com"},
      {"echo https://example.com", ""},
      /* cut to what there is room for */
      {"curl a." SIXTY SIXTY ".example.com",
       "curl a." SIXTY "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"},
  };
  static struct check check;
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    check_script (&check, rows[i].text, strlen (rows[i].text));
    g_assert_cmpstr (check.host, ==, rows[i].told);
  }
}

/* No name is in two rows, and each refused one says why. */
static void
test_programs (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint refusals = 0;
  for (gsize i = 0; i < program_rows_count; i++) {
    const char *list = program_rows[i].names, *word;
    gsize length;
    g_assert_true ((program_rows[i].kind == PROGRAM_REFUSED) == (program_rows[i].hint != NULL));
    while ((word = programs_next (&list, &length))) {
      g_assert_true (programs_find (word, length) == &program_rows[i]);
      g_assert_true (g_hash_table_add (seen, g_strndup (word, length)));
      refusals += program_rows[i].kind == PROGRAM_REFUSED;
    }
  }
  g_assert_cmpuint (refusals, >, 60);
}

/* ---- beside dash ---- */

/* Pieces of scripts. Programs are c0 to c9, which are nowhere: dash says of each that it tried to run it. */
static const char *const pieces[] = {
    "c0",   "c1",   "c2",      "c3",    "c4",      "c5",        "c6",      "c7",     "c8",         "c9",
    " ",    " ",    "\n",      "\n",    ";",       "; ",        "&",       "&&",     "||",         "|",
    "(",    ")",    "{ ",      "; }",   "$(",      ")",         "`",       "\\`",    "'",          "\"",
    "\\",   "\\\n", "#",       " #",    "$x",      "${x:-",     "${x#",    "}",      "$((",        "))",
    "1+1",  "if ",  "; then ", "; fi",  "; else ", "for x in ", "; do ",   "; done", "case x in ", "x) ",
    ";; ",  "esac", "<<E ",    "<<E\n", "\nE\n",   "E",         "<<'E'\n", "<<-E\n", "\t",         ">f",
    "2>&1", "<f",   "! ",      "x=1 ",  "f() ",    "a",         "\"$(",    ")\"",    "$",          "=",
    "{",    "~",    "*",       "${x",   "%",       "<<\\E\n",   "then",    "do",
};

static char *
random_script (GRand *random)
{
  GString *text = g_string_new (NULL);
  int count = g_rand_int_range (random, 2, 30);
  for (int i = 0; i < count; i++)
    g_string_append (text, pieces[g_rand_int_range (random, 0, G_N_ELEMENTS (pieces))]);
  return g_string_free (text, FALSE);
}

/* What dash says on standard error when it runs TEXT in DIRECTORY where no program can be found. */
static char *
run_dash (const char *text, const char *directory)
{
  const char *argv[] = {"/usr/bin/timeout", "10", "/usr/bin/dash", "-c", text, "sh", NULL};
  const char *environment[] = {"PATH=/nonexistent", NULL};
  char *errors = NULL;
  g_autoptr (GError) error = NULL;
  g_spawn_sync (directory, (char **)(guintptr)argv, (char **)(guintptr)environment,
                G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &errors, NULL, &error);
  g_assert_no_error (error);
  return errors;
}

/* TEXT without what quotes it: names are compared by the rest. The caller's. */
static char *
without_quotes (const char *text)
{
  GString *rest = g_string_new (NULL);
  for (; *text; text++)
    if (!strchr ("\\\"'\n", *text))
      g_string_append_c (rest, *text);
  return g_string_free (rest, FALSE);
}

static gboolean
was_looked_up (const struct check *check, const char *name)
{
  g_autofree char *plain = without_quotes (name);
  for (gsize i = 0; i < check->count; i++) {
    const struct check_violation *violation = &check->violations[i];
    /* One that cannot be read, or whose program cannot be told, is not run at all. */
    if (strcmp (violation->rule, "syntax") == 0 || strcmp (violation->rule, "not_literal") == 0)
      return TRUE;
    g_autofree char *told = without_quotes (violation->text);
    if (strcmp (told, plain) == 0)
      return TRUE;
  }
  return FALSE;
}

static void
test_beside_dash (void)
{
  static struct check check;
  const char *wanted = g_getenv ("ADDER_SCRIPTS");
  guint rounds = wanted ? (guint)g_ascii_strtoull (wanted, NULL, 10) : 400, ran = 0;
  guint32 seed = wanted ? g_random_int () : 7;
  if (!g_file_test ("/usr/bin/dash", G_FILE_TEST_IS_EXECUTABLE)) {
    g_test_skip ("there is no dash");
    return;
  }
  g_autofree char *directory = g_dir_make_tmp ("adder-script-XXXXXX", NULL);
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (GRegex) tried = g_regex_new ("(?:sh: [0-9]+: )+(.*): (not found|Permission denied)$",
                                          G_REGEX_MULTILINE | G_REGEX_RAW, 0, NULL);
  for (guint i = 0; i < rounds; i++) {
    g_autofree char *text = random_script (random);
    g_autofree char *errors = run_dash (text, directory);
    g_autoptr (GMatchInfo) match = NULL;
    check_script (&check, text, strlen (text));
    for (g_regex_match (tried, errors, 0, &match); g_match_info_matches (match);
         g_match_info_next (match, NULL)) {
      g_autofree char *name = g_match_info_fetch (match, 1);
      ran++;
      if (!was_looked_up (&check, name))
        g_error ("dash runs %s, which nobody looked up, of (seed %u):\n%s", name, seed, text);
    }
  }
  g_assert_cmpuint (ran, >, rounds / 20);
  GDir *left = g_dir_open (directory, 0, NULL);
  for (const char *name; left && (name = g_dir_read_name (left));) {
    g_autofree char *path = g_build_filename (directory, name, NULL);
    g_unlink (path);
  }
  g_dir_close (left);
  g_rmdir (directory);
}

UNIT_SUITE (runner_script)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/script/fine", test_fine);
  g_test_add_func ("/script/refused", test_refused);
  g_test_add_func ("/script/zero_byte", test_zero_byte);
  g_test_add_func ("/script/depth", test_depth);
  g_test_add_func ("/script/depth/backquotes", test_depth_of_backquotes);
  g_test_add_func ("/script/many_violations", test_many_violations);
  g_test_add_func ("/script/host", test_host);
  g_test_add_func ("/script/programs", test_programs);
  g_test_add_func ("/script/beside_dash", test_beside_dash);
  return g_test_run ();
}
