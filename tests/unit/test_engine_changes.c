/* SPDX-License-Identifier: Apache-2.0 */
/* What code changed in a directory: an upper layer, as the kernel's overlay leaves it, against the directory.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/json.h"
#include "engine/files/changes.h"
#include "suite.h"

struct world {
  char *folder;
  int lower, upper;
  GPtrArray *warnings;
  struct change_set *set;
};

static int
make_directory (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_assert_cmpint (g_mkdir (path, 0755), ==, 0);
  int fd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static void
world_begin (struct world *world)
{
  *world = (struct world){.folder = g_dir_make_tmp ("adder-changes-XXXXXX", NULL)};
  world->lower = make_directory (world->folder, "lower");
  world->upper = make_directory (world->folder, "upper");
  world->warnings = g_ptr_array_new_with_free_func (g_free);
}

static void
world_end (struct world *world)
{
  change_set_free (world->set);
  g_ptr_array_unref (world->warnings);
  fd_close (&world->lower);
  fd_close (&world->upper);
  suite_remove (world->folder);
  g_free (world->folder);
}

static void
put_text (int directory, const char *path, const char *text, gsize length)
{
  autoclose int fd = openat (directory, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fd_write_all (fd, text, length), ==, 0);
}

static void
put (int directory, const char *path, const char *text)
{
  put_text (directory, path, text, strlen (text));
}

static void
whiteout (int directory, const char *path)
{
  g_assert_cmpint (mknodat (directory, path, S_IFCHR, makedev (0, 0)), ==, 0);
}

/* WORDS: "KIND:PATH" or "KIND:PATH=MORE", between blanks. */
static void
fill (int directory, const char *words)
{
  g_auto (GStrv) list = g_strsplit (words, " ", -1);
  for (char **word = list; *word && **word; word++) {
    char *path = *word + 2, *more = strchr (path, '=');
    if (more)
      *more++ = '\0';
    int r = 0;
    switch (**word) {
    case 'f':
      put (directory, path, more ? more : "");
      break;
    case 'd':
      r = mkdirat (directory, path, 0755);
      if (r == 0 && more)
        r = fchmodat (directory, path, (mode_t)g_ascii_strtoull (more, NULL, 8), 0);
      break;
    case 'l':
      r = symlinkat (more, directory, path);
      break;
    case 'w':
      whiteout (directory, path);
      break;
    case 'm':
      r = fchmodat (directory, path, (mode_t)g_ascii_strtoull (more, NULL, 8), 0);
      break;
    default:
      r = mkfifoat (directory, path, 0600);
    }
    g_assert_cmpint (r, ==, 0);
  }
}

static void
collect_since (struct world *world, gint64 begun_ns)
{
  change_set_free (world->set);
  world->set = changes_collect (world->upper, world->lower, begun_ns, world->warnings);
  g_assert_cmpuint (strlen (world->set->digest), ==, 64);
}

static void
collect (struct world *world)
{
  collect_since (world, G_MAXINT64);
}

/* "created a file, deleted b directory". */
static char *
told (struct world *world)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (json_t) list = changes_to_json (world->set, world->warnings);
  gsize index;
  json_t *change;
  json_array_foreach (list, index, change)
  {
    const char *type = json_string_value (json_object_get (change, "type"));
    const char *before = json_string_value (json_object_get (change, "type_before"));
    g_string_append_printf (text, "%s%s %s %s", text->len > 0 ? ", " : "",
                            json_string_value (json_object_get (change, "change")),
                            json_string_value (json_object_get (change, "path")), type ? type : before);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_kinds (void)
{
  static const struct {
    const char *lower, *upper, *told;
  } rows[] = {
      {"", "", ""},
      {"f:a=x", "f:b=y", "created b file"},
      {"f:a=x", "w:a", "deleted a file"},
      {"f:a=x", "f:a=y", "changed a file"},
      /* Opened for writing, and nothing was written. */
      {"f:a=x", "f:a=x", ""},
      {"f:a=x", "f:a=x m:a=600", "changed a file"},
      {"f:a=x", "l:a=b", "replaced a link"},
      {"l:a=b", "f:a=x", "replaced a file"},
      {"l:a=b", "l:a=b", ""},
      {"l:a=b", "l:a=c", "changed a link"},
      {"l:a=b", "w:a", "deleted a link"},
      {"d:d", "d:d", ""},
      {"d:d", "d:d=700", "changed d directory"},
      {"d:d f:d/a=x", "d:d f:d/b=y w:d/a", "deleted d/a file, created d/b file"},
      {"", "d:d d:d/e f:d/e/a=x", "created d directory, created d/e directory, created d/e/a file"},
      {"d:d d:d/e f:d/e/a=x l:d/l=x", "w:d",
       "deleted d directory, deleted d/e directory, deleted d/e/a file, deleted d/l link"},
      {"d:d f:d/a=x", "f:d=y", "replaced d file, deleted d/a file"},
      {"f:d=y", "d:d f:d/a=x", "replaced d directory, created d/a file"},
      /* Of a name that came and went. */
      {"", "w:gone", ""},
      {"", "p:pipe", ""},
      {"p:a", "w:a", "deleted a other"},
      /* Closed to its own user. */
      {"", "d:d f:d/a=x m:d=0", "created d directory, created d/a file"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct world world;
    world_begin (&world);
    g_test_message ("%s / %s", rows[i].lower, rows[i].upper);
    fill (world.lower, rows[i].lower);
    fill (world.upper, rows[i].upper);
    collect (&world);
    g_autofree char *text = told (&world);
    g_assert_cmpstr (text, ==, rows[i].told);
    g_assert_cmpstr (world.set->obstacle, ==, NULL);
    world_end (&world);
  }
}

/* A directory that was made anew hides all of the one before. */
static void
test_opaque (void)
{
  struct world world;
  world_begin (&world);
  fill (world.lower, "d:d f:d/a=x");
  fill (world.upper, "d:d f:d/b=y");
  autoclose int fd = openat (world.upper, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fsetxattr (fd, "user.overlay.opaque", "y", 1, 0) < 0)
    g_test_skip ("the file system of the temporary files has no user attributes");
  else {
    collect (&world);
    g_autofree char *text = told (&world);
    g_assert_cmpstr (text, ==, "replaced d directory, deleted d/a file, created d/b file");
    const struct change *last = world.set->changes->pdata[2];
    g_assert_true (last->covered);
  }
  world_end (&world);
}

/* What somebody else changed meanwhile is not to be overwritten; what nobody had before can be made. */
static void
test_others (void)
{
  static const struct {
    const char *lower, *upper, *obstacle;
  } rows[] = {
      {"f:a=x", "f:a=y", "a was changed by somebody else while the code ran"},
      {"f:a=x", "w:a", "a was changed by somebody else while the code ran"},
      {"d:d f:d/a=x", "w:d", "d was changed by somebody else while the code ran"},
      {"f:a=x", "f:a=x", NULL},
      {"f:a=x", "f:b=y", NULL},
      {"d:d", "d:d=700", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct world world;
    world_begin (&world);
    fill (world.lower, rows[i].lower);
    fill (world.upper, rows[i].upper);
    collect_since (&world, 0);
    g_assert_cmpstr (world.set->obstacle, ==, rows[i].obstacle);
    world_end (&world);
  }
}

static void
make_nested (int directory, const char *name, guint depth)
{
  autoclose int at = fcntl (directory, F_DUPFD_CLOEXEC, 3);
  for (guint i = 0; i < depth; i++) {
    g_assert_cmpint (mkdirat (at, name, 0755), ==, 0);
    int below = openat (at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    g_assert_cmpint (below, >=, 0);
    fd_close (&at);
    at = below;
  }
}

static void
test_depth (void)
{
  static const struct {
    guint depth, name;
    gboolean removed;
    const char *obstacle;
  } rows[] = {
      {127, 1, FALSE, NULL},
      {128, 1, FALSE, "directories are nested more than 128 deep"},
      {129, 1, TRUE, "directories are nested more than 128 deep"},
      {16, 250, FALSE, NULL},
      {17, 250, FALSE, "the path of a file that would be changed has more than 4095 bytes"},
      {17, 250, TRUE, "the path of a file that would be changed has more than 4095 bytes"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct world world;
    world_begin (&world);
    g_autofree char *name = g_strnfill (rows[i].name, 'n');
    make_nested (rows[i].removed ? world.lower : world.upper, name, rows[i].depth);
    if (rows[i].removed)
      whiteout (world.upper, name);
    collect (&world);
    g_assert_cmpstr (world.set->obstacle, ==, rows[i].obstacle);
    if (!rows[i].obstacle)
      g_assert_cmpuint (world.set->changes->len, ==, rows[i].depth);
    world_end (&world);
  }
}

static void
test_left_out (void)
{
  struct world world;
  world_begin (&world);
  fill (world.upper, "p:a p:b d:d p:d/c");
  collect (&world);
  g_assert_cmpuint (world.warnings->len, ==, 1);
  g_assert_cmpstr (world.warnings->pdata[0], ==,
                   "not among the changes, because they are no files: a, b, d/c");
  fill (world.upper, "p:e");
  collect (&world);
  g_assert_cmpstr (world.warnings->pdata[1], ==,
                   "not among the changes, because they are no files: a, b, d/c, ...");
  world_end (&world);
}

static const struct change *
change_of (const struct world *world, const char *path)
{
  for (guint i = 0; i < world->set->changes->len; i++) {
    const struct change *change = world->set->changes->pdata[i];
    if (strcmp (change->path, path) == 0)
      return change;
  }
  g_assert_not_reached ();
}

static char *
lines_of (char letter, guint count)
{
  g_autofree char *line = g_strnfill (79, letter);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < count; i++)
    g_string_append_printf (text, "%s\n", line);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_text (void)
{
  struct world world;
  world_begin (&world);
  g_autofree char *much = lines_of ('x', 1000), *too_much = lines_of ('x', 14000);
  fill (world.lower, "f:a=x f:b=x f:c=x");
  put_text (world.lower, "d", "\xff", 1);
  put (world.upper, "a", "y\n");
  put_text (world.upper, "b", "\xff", 1);
  put (world.upper, "c", much);
  put (world.upper, "d", "text");
  put (world.upper, "e", too_much);
  put_text (world.upper, "f", "a\0b", 3);
  collect (&world);
  const struct change *shown = change_of (&world, "a"), *cut = change_of (&world, "c");
  g_assert_nonnull (strstr (shown->diff, "+y\n"));
  g_assert_false (shown->cut || shown->binary);
  g_assert_true (cut->cut);
  g_assert_cmpuint (strlen (cut->diff), <=, 64 << 10);
  static const char *const binary[] = {"b", "d", "e"};
  for (gsize i = 0; i < G_N_ELEMENTS (binary); i++) {
    const struct change *change = change_of (&world, binary[i]);
    g_assert_true (change->binary);
    g_assert_null (change->diff);
  }
  world_end (&world);
}

/* Of all differences together no more is told than anybody reads; the changes themselves are all there. */
static void
test_much_text (void)
{
  struct world world;
  world_begin (&world);
  g_autofree char *much = lines_of ('x', 1000);
  for (guint i = 10; i < 50; i++) {
    g_autofree char *name = g_strdup_printf ("f%u", i);
    put (world.upper, name, much);
  }
  collect (&world);
  gsize total = 0;
  for (guint i = 0; i < world.set->changes->len; i++) {
    const struct change *change = world.set->changes->pdata[i];
    g_assert_true (change->cut);
    total += change->diff ? strlen (change->diff) : 0;
  }
  g_assert_cmpuint (world.set->changes->len, ==, 40);
  g_assert_null (change_of (&world, "f49")->diff);
  g_assert_cmpuint (total, >, 1 << 20);
  g_assert_cmpuint (total, <=, 2 << 20);
  world_end (&world);
}

/* A file that is too large for a digest is known by its times. */
static void
test_large (void)
{
  static const struct timespec times[] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
  struct world world;
  world_begin (&world);
  fill (world.lower, "f:a=x");
  fill (world.upper, "f:a=x");
  for (int i = 0; i < 2; i++) {
    autoclose int fd = openat (i ? world.lower : world.upper, "a", O_WRONLY | O_CLOEXEC);
    g_assert_cmpint (ftruncate (fd, CHANGES_HASHED_BYTES + 1), ==, 0);
  }
  g_assert_cmpint (utimensat (world.lower, "a", times, 0), ==, 0);
  collect (&world);
  g_assert_cmpuint (world.set->changes->len, ==, 1);
  const struct change *change = change_of (&world, "a");
  g_assert_null (change->before.sha256);
  g_assert_nonnull (change->after.sha256);
  g_assert_true (change->binary);
  g_assert_cmpint (utimensat (world.upper, "a", times, 0), ==, 0);
  collect (&world);
  g_assert_cmpuint (world.set->changes->len, ==, 0);
  world_end (&world);
}

/* What is approved is this and nothing else. */
static void
test_digest (void)
{
  static const char *const uppers[] = {"", "f:a=x", "f:a=y", "f:b=x", "l:a=x", "f:a=x m:a=700", "d:a", "w:z"};
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (uppers); i++) {
    struct world world;
    world_begin (&world);
    fill (world.lower, "f:z=x");
    fill (world.upper, uppers[i]);
    collect (&world);
    g_autofree char *first = g_strdup (world.set->digest);
    collect (&world);
    g_assert_cmpstr (first, ==, world.set->digest);
    g_assert_true (g_hash_table_add (known, g_steal_pointer (&first)));
    world_end (&world);
  }
}

static void
test_list_bound (void)
{
  struct change_set set = {.changes = g_ptr_array_new ()};
  struct change change = {.path = (char *)"a\xff", .after = {.type = CHANGE_FILE}};
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  for (int i = 0; i < CHANGES_SHOWN + 2; i++)
    g_ptr_array_add (set.changes, &change);
  g_autoptr (json_t) list = changes_to_json (&set, warnings);
  g_assert_cmpuint (json_array_size (list), ==, CHANGES_SHOWN);
  g_assert_cmpstr (json_string_value (json_object_get (json_array_get (list, 0), "path")), ==,
                   "a\xef\xbf\xbd");
  g_assert_cmpstr (warnings->pdata[0], ==, "2 more changes are not listed");
  g_ptr_array_unref (set.changes);
}

UNIT_SUITE (engine_changes)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/changes/kinds", test_kinds);
  g_test_add_func ("/changes/opaque", test_opaque);
  g_test_add_func ("/changes/others", test_others);
  g_test_add_func ("/changes/depth", test_depth);
  g_test_add_func ("/changes/left-out", test_left_out);
  g_test_add_func ("/changes/text", test_text);
  g_test_add_func ("/changes/much-text", test_much_text);
  g_test_add_func ("/changes/large", test_large);
  g_test_add_func ("/changes/digest", test_digest);
  g_test_add_func ("/changes/list-bound", test_list_bound);
  return g_test_run ();
}
