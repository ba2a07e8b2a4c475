/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews: a commit that was broken off at any moment is finished or taken back, and nobody else's work is
 * lost. What a process that died left is made by hand: which names exist tells how far a step came
 * (review_commit.c). */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/json.h"
#include "engine/host/id.h"
#include "store/review_private.h"
#include "store_world.h"
#include "suite.h"

#define OWNER "uid:1"

/* A directory in which one name, "x", is to be changed. */
struct world {
  char *path, *folder; /* FOLDER: of the review, once it waits */
  int directory_fd, upper_fd;
  struct config config;
  struct reviews *reviews;
  char *id;
};

/* What a name is: NULL nothing, "f:CONTENT", "l:TARGET", "p:" a pipe, or "d:CONTENT", a directory whose file
 * "in" has it. */
static void
make (int at_fd, const char *name, const char *what)
{
  g_assert_true (what && what[1] == ':');
  if (what[0] == 'l') {
    g_assert_cmpint (symlinkat (what + 2, at_fd, name), ==, 0);
    return;
  }
  if (what[0] == 'p') {
    g_assert_cmpint (mkfifoat (at_fd, name, 0600), ==, 0);
    return;
  }
  if (what[0] == 'd')
    g_assert_cmpint (mkdirat (at_fd, name, 0755), ==, 0);
  g_autofree char *file = what[0] == 'd' ? g_build_filename (name, "in", NULL) : g_strdup (name);
  autoclose int fd = openat (at_fd, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fd_write_all (fd, what + 2, strlen (what + 2)), ==, 0);
}

static char *
look (int at_fd, const char *name)
{
  struct stat st;
  char text[100] = "";
  if (fstatat (at_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return NULL;
  if (S_ISLNK (st.st_mode)) {
    g_assert_cmpint (readlinkat (at_fd, name, text, sizeof text - 1), >, 0);
    return g_strconcat ("l:", text, NULL);
  }
  if (S_ISFIFO (st.st_mode))
    return g_strdup ("p:");
  g_autofree char *file = S_ISDIR (st.st_mode) ? g_build_filename (name, "in", NULL) : g_strdup (name);
  autoclose int fd = openat (at_fd, file, O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (read (fd, text, sizeof text - 1), >=, 0);
  return g_strconcat (S_ISDIR (st.st_mode) ? "d:" : "f:", text, NULL);
}

static void
assert_is (const struct world *world, const char *name, const char *what)
{
  g_autofree char *found = look (world->directory_fd, name);
  g_assert_cmpstr (found, ==, what);
}

static void
remove_name (const struct world *world, const char *name)
{
  g_autofree char *inside = g_build_filename (name, "in", NULL);
  (void)unlinkat (world->directory_fd, inside, 0);
  if (unlinkat (world->directory_fd, name, 0) < 0)
    (void)unlinkat (world->directory_fd, name, AT_REMOVEDIR);
}

static int
open_folder (const struct world *world, const char *name)
{
  g_autofree char *path = g_build_filename (world->path, name, NULL);
  g_assert_cmpint (g_mkdir (path, 0755), ==, 0);
  int fd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static void
set_up (struct world *world)
{
  *world = (struct world){
      .path = g_dir_make_tmp ("adder-review-XXXXXX", NULL),
      .config = {.review_expire_ms = 3600 * 1000, .max_reviews = 3, .max_reviews_bytes = 1000}};
  g_setenv ("ADDER_STATE_DIR", world->path, TRUE);
  world->directory_fd = open_folder (world, "directory");
  world->upper_fd = open_folder (world, "upper");
  world->reviews = reviews_new (&world->config);
}

static void
tear_down (struct world *world)
{
  reviews_close (world->reviews);
  reviews_unref (world->reviews);
  close (world->directory_fd);
  close (world->upper_fd);
  suite_remove (world->path);
  g_free (world->path);
  g_free (world->folder);
  g_free (world->id);
}

/* What the layer and the directory hold waits for a yes. */
static gboolean
stage (struct world *world, GError **error)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  struct change_set *changes = changes_collect (world->upper_fd, world->directory_fd, G_MAXINT64, warnings);
  g_assert_cmpstr (changes->obstacle, ==, NULL);
  const struct review_subject subject = {.owner = OWNER,
                                         .path = "/directory",
                                         .directory_fd = world->directory_fd,
                                         .upper_fd = world->upper_fd,
                                         .changes = changes};
  g_clear_pointer (&world->id, g_free);
  g_clear_pointer (&world->folder, g_free);
  gboolean ok = reviews_stage (world->reviews, &subject, &world->id, error);
  if (ok)
    world->folder = g_build_filename (world->path, "reviews", world->id, NULL);
  change_set_free (changes);
  return ok;
}

/* A review of "x" that becomes AFTER from BEFORE. FALSE: the host lets nobody make what an overlay has for a
 * name that was removed. */
static gboolean
propose (struct world *world, const char *before, const char *after)
{
  g_autoptr (GError) error = NULL;
  if (before)
    make (world->directory_fd, "x", before);
  if (after)
    make (world->upper_fd, "x", after);
  else if (mknodat (world->upper_fd, "x", S_IFCHR, makedev (0, 0)) < 0) {
    g_test_skip ("no device of an overlay can be made here");
    return FALSE;
  }
  stage (world, &error);
  g_assert_no_error (error);
  return TRUE;
}

static void
write_file (const struct world *world, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (world->folder, name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

/* ---- settling ---- */

/* "committed" and so on, or what it was refused with. The caller's. */
static char *
settle (const struct world *world, enum review_action action)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) answer = reviews_settle (world->reviews, OWNER, world->id, action, NULL, -1, &error);
  g_assert_true (!answer == !!error);
  return g_strdup (answer ? json_member_text (answer, "state") : error->message);
}

static void
settles (const struct world *world, enum review_action action, const char *state)
{
  g_autofree char *found = settle (world, action);
  g_assert_cmpstr (found, ==, state);
}

static void
fails (const struct world *world, enum review_action action, const char *says)
{
  g_autofree char *found = settle (world, action);
  if (!strstr (found, says))
    g_error ("expected \"%s\" in: %s", says, found);
}

/* Names of ours in the directory. */
static guint
count_left (const struct world *world)
{
  g_autofree char *path = g_build_filename (world->path, "directory", NULL);
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  guint left = 0;
  for (const char *name; (name = g_dir_read_name (directory));)
    left += g_str_has_prefix (name, ".adder");
  return left;
}

static guint
count_waiting (const struct world *world, const char *owner, const char *state)
{
  g_autoptr (json_t) answer = reviews_list (world->reviews, owner, NULL);
  guint count = 0;
  gsize i;
  json_t *one;
  json_array_foreach (json_object_get (answer, "reviews"), i, one)
  {
    g_assert_cmpstr (json_member_text (one, "state"), ==, state);
    count++;
  }
  return count;
}

/* ---- broken off anywhere ---- */

enum moment {
  NOT_YET,
  LINKED,  /* what is there has both names */
  MISSING, /* what was there is set aside, and nothing has its name */
  DONE,
  MOMENTS
};

static gboolean
is_moment_of (enum moment moment, const char *before, const char *after)
{
  gboolean replaces = before && after;
  return moment == LINKED ? replaces && before[0] != 'd' && after[0] != 'd' : moment != MISSING || replaces;
}

/* Makes of a review that waits one that was broken off at MOMENT. */
static void
break_off (const struct world *world, enum moment moment, const char *before, const char *after)
{
  int fd = world->directory_fd;
  const char *id = world->id + strlen (world->id) - 12;
  g_autofree char *fresh = g_strdup_printf (".adder-%s-0.new", id),
                  *aside = g_strdup_printf (".adder-%s-0.old", id);
  if (moment == LINKED)
    g_assert_cmpint (linkat (fd, "x", fd, aside, 0), ==, 0);
  else if (before && moment != NOT_YET)
    g_assert_cmpint (renameat (fd, "x", fd, aside), ==, 0);
  if (after)
    make (fd, moment == DONE ? "x" : fresh, after);
  write_file (world, "journal", "writing\nswitching\n");
}

static const struct {
  const char *before, *after;
} changes[] = {
    {"p:", "f:new"},    {"p:", "d:new"},    {NULL, "f:new"},    {NULL, "d:new"},
    {NULL, "l:there"},  {"f:old", "f:new"}, {"f:old", "d:new"}, {"l:here", "l:there"},
    {"d:old", "f:new"}, {"f:old", NULL},    {"l:here", NULL},   {"d:old", NULL},
};

static void
test_broken_off (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    for (enum moment moment = NOT_YET; moment < MOMENTS; moment++)
      for (guint undo = 0; undo < 2; undo++) {
        struct world world;
        const char *before = changes[i].before, *after = changes[i].after;
        if (!is_moment_of (moment, before, after))
          continue;
        g_test_message ("%s to %s, moment %d, %s", before, after, moment, undo ? "undo" : "finish");
        set_up (&world);
        if (propose (&world, before, after)) {
          break_off (&world, moment, before, after);
          g_assert_cmpuint (count_waiting (&world, OWNER, "broken off"), ==, 1);
          fails (&world, REVIEW_DROP, "was interrupted: finish or undo it");
          if (undo) {
            settles (&world, REVIEW_UNDO, "waiting");
            g_assert_cmpuint (count_left (&world), ==, 0);
            assert_is (&world, "x", before);
            g_assert_cmpuint (count_waiting (&world, OWNER, "waiting"), ==, 1);
          }
          settles (&world, REVIEW_COMMIT, "committed");
          reviews_close (world.reviews);
          g_assert_cmpuint (count_left (&world), ==, 0);
          assert_is (&world, "x", after);
          g_assert_false (g_file_test (world.folder, G_FILE_TEST_EXISTS));
        }
        tear_down (&world);
      }
}

/* What somebody else put there meanwhile is named and stays, as does what was set aside. */
static void
test_somebody_else (void)
{
  static const struct {
    const char *before, *after;
    enum moment moment;
    enum review_action action;
    const char *mine, *named;
  } rows[] = {
      {NULL, "f:new", DONE, REVIEW_UNDO, "f:mine", "x"},
      {NULL, "f:new", DONE, REVIEW_UNDO, "l:mine", "x"},
      {NULL, "d:new", DONE, REVIEW_UNDO, "d:mine", "x"},
      {NULL, "d:new", DONE, REVIEW_UNDO, "f:mine", "x"},
      {NULL, "l:there", DONE, REVIEW_UNDO, "l:mine", "x"},
      {"f:old", "f:new", DONE, REVIEW_UNDO, "f:mine", "x"},
      {"f:old", "d:new", DONE, REVIEW_UNDO, "d:mine", "x"},
      {"f:old", NULL, DONE, REVIEW_UNDO, "f:mine", "x"},
      {"d:old", NULL, DONE, REVIEW_UNDO, "d:mine", "x"},
      {"f:old", "d:new", MISSING, REVIEW_UNDO, "f:mine", "x"},
      {"d:old", "f:new", MISSING, REVIEW_UNDO, "f:mine", "x"},
      {"f:old", "f:new", MISSING, REVIEW_UNDO, "f:mine", "x"},
      {"f:old", "f:new", LINKED, REVIEW_UNDO, "f:mine", "x"},
      {NULL, "f:new", NOT_YET, REVIEW_COMMIT, "f:mine", "x"},
      {NULL, "d:new", NOT_YET, REVIEW_COMMIT, "d:mine", "x"},
      {"f:old", "f:new", NOT_YET, REVIEW_COMMIT, "f:mine", "x"},
      {"f:old", "f:new", NOT_YET, REVIEW_COMMIT, "f:our", "x"},
      {"f:old", "f:new", LINKED, REVIEW_COMMIT, "f:mine", "x"},
      {"f:old", "d:new", MISSING, REVIEW_COMMIT, "f:mine", "x"},
      {"l:here", "l:there", NOT_YET, REVIEW_COMMIT, "l:mine", "x"},
      {"l:here", "l:there", NOT_YET, REVIEW_COMMIT, "f:mine", "x"},
      {"d:old", "f:new", NOT_YET, REVIEW_COMMIT, "d:mine", "x/in"},
      {"d:old", "f:new", NOT_YET, REVIEW_COMMIT, "l:mine", "x"},
      {"f:old", NULL, NOT_YET, REVIEW_COMMIT, "f:mine", "x"},
      {"d:old", NULL, NOT_YET, REVIEW_COMMIT, "d:mine", "x/in"},
      {"p:", "f:new", NOT_YET, REVIEW_COMMIT, "f:mine", "x"},
      {"f:old", "f:new", NOT_YET, REVIEW_COMMIT, "p:", "x"},
      {"f:old", "f:new", DONE, REVIEW_UNDO, "p:", "x"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct world world;
    g_test_message ("%s to %s, moment %d, %s", rows[i].before, rows[i].after, rows[i].moment, rows[i].mine);
    set_up (&world);
    if (propose (&world, rows[i].before, rows[i].after)) {
      break_off (&world, rows[i].moment, rows[i].before, rows[i].after);
      guint left = count_left (&world);
      remove_name (&world, "x");
      make (world.directory_fd, "x", rows[i].mine);
      g_autofree char *says = g_strdup_printf ("changed by somebody else meanwhile: %s", rows[i].named);
      for (guint twice = 0; twice < 2; twice++)
        fails (&world, rows[i].action, says);
      assert_is (&world, "x", rows[i].mine);
      g_assert_cmpuint (count_left (&world), ==, left);
      g_assert_cmpuint (count_waiting (&world, OWNER, "broken off"), ==, 1);
    }
    tear_down (&world);
  }
}

/* Before anything has its place, the answer is that nothing was changed, and it waits on. */
static void
test_nothing_changed (void)
{
  struct world world;
  set_up (&world);
  g_assert_true (propose (&world, "f:old", "f:new"));
  write_file (&world, "content", "odd");
  fails (&world, REVIEW_COMMIT, "nothing was changed: the new content of x is not what was reviewed");
  assert_is (&world, "x", "f:old");
  g_assert_cmpuint (count_left (&world), ==, 0);
  g_autofree char *content = g_build_filename (world.folder, "content", NULL);
  g_assert_cmpint (g_remove (content), ==, 0);
  fails (&world, REVIEW_COMMIT, "nothing was changed: cannot open the files of the review");
  assert_is (&world, "x", "f:old");
  write_file (&world, "content", "new");

  /* What was half written is written anew, or is taken away. */
  g_autofree char *half = g_strdup_printf (".adder-%s-0.new", world.id + strlen (world.id) - 12);
  for (guint undo = 2; undo-- > 0;) {
    make (world.directory_fd, half, "f:ha");
    write_file (&world, "journal", "writing\nswitch");
    settles (&world, undo ? REVIEW_UNDO : REVIEW_COMMIT, undo ? "waiting" : "committed");
    reviews_close (world.reviews);
    g_assert_cmpuint (count_left (&world), ==, 0);
    assert_is (&world, "x", undo ? "f:old" : "f:new");
  }
  tear_down (&world);
}

/* When all is in its place, only what was set aside is left to be removed. */
static void
test_all_changed (void)
{
  struct world world;
  set_up (&world);
  g_assert_true (propose (&world, "f:old", "f:new"));
  break_off (&world, DONE, "f:old", "f:new");
  write_file (&world, "journal", "writing\nswitching\ncleaning\n");
  fails (&world, REVIEW_UNDO, "all changes were made and cannot be taken back");
  assert_is (&world, "x", "f:new");
  settles (&world, REVIEW_COMMIT, "committed");
  reviews_close (world.reviews);
  g_assert_cmpuint (count_left (&world), ==, 0);
  assert_is (&world, "x", "f:new");
  tear_down (&world);
}

/* A directory that stays gets its permissions, and gets them back. */
static void
test_permissions (void)
{
  struct world world;
  struct stat st;
  set_up (&world);
  g_assert_cmpint (mkdirat (world.upper_fd, "x", 0750), ==, 0);
  g_assert_cmpint (fchmodat (world.upper_fd, "x", 0750, 0), ==, 0);
  make (world.directory_fd, "x", "d:old");
  g_assert_cmpint (fchmodat (world.directory_fd, "x", 0711, 0), ==, 0);
  g_assert_true (stage (&world, NULL));
  write_file (&world, "journal", "writing\nswitching\n");
  for (guint undo = 2; undo-- > 0;) {
    g_assert_cmpint (fchmodat (world.directory_fd, "x", undo ? 0750 : 0711, 0), ==, 0);
    settles (&world, undo ? REVIEW_UNDO : REVIEW_COMMIT, undo ? "waiting" : "committed");
    g_assert_cmpint (fstatat (world.directory_fd, "x", &st, 0), ==, 0);
    g_assert_cmpint (st.st_mode & 0777, ==, undo ? 0711 : 0750);
    assert_is (&world, "x", "d:old");
  }
  reviews_close (world.reviews);
  tear_down (&world);
}

/* Another directory takes the place of one: what the old one alone had goes with it, and comes back with it.
 */
static void
test_directory_replaced (void)
{
  struct world world;
  struct stat st;
  for (guint undo = 0; undo < 2; undo++) {
    set_up (&world);
    make (world.directory_fd, "x", "d:old");
    make (world.directory_fd, "x/gone", "f:gone");
    make (world.upper_fd, "x", "d:new");
    make (world.upper_fd, "x/sub", "d:deep");
    g_assert_cmpint (fchmodat (world.upper_fd, "x/sub", 0500, 0), ==, 0);
    g_autofree char *path = g_build_filename (world.path, "upper", "x", NULL);
    if (setxattr (path, "user.overlay.opaque", "y", 1, 0) < 0) {
      g_test_skip ("no attribute of an overlay can be set here");
    } else {
      g_assert_true (stage (&world, NULL));
      if (undo) {
        break_off (&world, DONE, "d:old", "d:new");
        make (world.directory_fd, "x/sub", "d:deep");
        settles (&world, REVIEW_UNDO, "waiting");
        assert_is (&world, "x", "d:old");
        assert_is (&world, "x/gone", "f:gone");
        g_assert_cmpint (faccessat (world.directory_fd, "x/sub", F_OK, 0), <, 0);
      }
      settles (&world, REVIEW_COMMIT, "committed");
      reviews_close (world.reviews);
      assert_is (&world, "x", "d:new");
      assert_is (&world, "x/sub", "d:deep");
      assert_is (&world, "x/gone", NULL);
      g_assert_cmpint (fstatat (world.directory_fd, "x/sub", &st, 0), ==, 0);
      g_assert_cmpint (st.st_mode & 0777, ==, 0500);
      g_assert_cmpuint (count_left (&world), ==, 0);
      g_assert_cmpint (fchmodat (world.directory_fd, "x/sub", 0700, 0), ==, 0);
    }
    g_assert_cmpint (fchmodat (world.upper_fd, "x/sub", 0700, 0), ==, 0);
    tear_down (&world);
  }
}

/* Without a folder for reviews nothing waits, and it is said so. */
static void
test_no_folder (void)
{
  struct world world;
  set_up (&world);
  g_assert_true (propose (&world, "f:old", "f:new"));
  g_autofree char *state = g_build_filename (world.path, "state", NULL), *id = g_strdup (world.id);
  g_assert_true (g_file_set_contents (state, "", 0, NULL));
  g_setenv ("ADDER_STATE_DIR", state, TRUE);
  for (guint i = 0; i < 4; i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (i == 0   ? reviews_list (world.reviews, OWNER, &error) != NULL
                    : i == 1 ? reviews_show (world.reviews, OWNER, id, &error) != NULL
                    : i == 2
                        ? reviews_settle (world.reviews, OWNER, id, REVIEW_COMMIT, NULL, -1, &error) != NULL
                        : stage (&world, &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_FAILED);
    g_assert_nonnull (strstr (error->message, "/state"));
  }
  assert_is (&world, "x", "f:old");
  tear_down (&world);
}

/* ---- which one ---- */

static void
refused (const struct world *world, struct reviews *reviews, const char *owner, const char *id,
         const char *digest, int fd, int code, const char *says)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (reviews_settle (reviews, owner, id, REVIEW_COMMIT, digest, fd, &error));
  g_assert_error (error, ADDER_ERROR, code);
  if (!strstr (error->message, says))
    g_error ("expected \"%s\" in: %s", says, error->message);
  assert_is (world, "x", "f:old");
}

static void
test_refused (void)
{
  struct world world;
  set_up (&world);
  g_assert_true (propose (&world, "f:old", "f:new"));
  char other[ID_BYTES];
  id_make (other);
  static const char no[] = "there is no such review";
  refused (&world, world.reviews, OWNER, other, NULL, -1, ADDER_ERROR_NOT_FOUND, no);
  refused (&world, world.reviews, OWNER, "..", NULL, -1, ADDER_ERROR_NOT_FOUND, no);
  refused (&world, world.reviews, "uid:2", world.id, NULL, -1, ADDER_ERROR_NOT_FOUND, no);
  refused (&world, world.reviews, NULL, world.id, NULL, -1, ADDER_ERROR_NOT_FOUND, no);
  refused (&world, world.reviews, OWNER, world.id, "another", -1, ADDER_ERROR_REFUSED,
           "not those that were said yes");
  refused (&world, world.reviews, OWNER, world.id, NULL, world.upper_fd, ADDER_ERROR_REFUSED,
           "another directory than the one of the review is at /directory");

  /* Another process has the directory only where somebody opens it. */
  struct reviews *second = reviews_new (&world.config);
  refused (&world, second, OWNER, world.id, NULL, -1, ADDER_ERROR_UNSUPPORTED, "is not open here any more");
  g_autofree char *journal = g_build_filename (world.folder, "journal", NULL);
  autoclose int fd = open (journal, O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (flock (fd, LOCK_EX), ==, 0);
  refused (&world, second, OWNER, world.id, NULL, -1, ADDER_ERROR_BUSY, "is being carried out already");
  g_assert_cmpint (flock (fd, LOCK_UN), ==, 0);

  static const char *const manifests[] = {"", "[]", "{\"owner\": \"uid:1\"}"};
  g_autofree char *manifest = g_build_filename (world.folder, "manifest", NULL), *good = NULL;
  g_assert_true (g_file_get_contents (manifest, &good, NULL, NULL));
  static const char *const edits[][2] = {
      {"\"path\":\"x\"", "\"path\":7"}, {"\"path\":\"x\"", "\"path\":\"%zz\""},
      {"\"type\":1", "\"type\":9"},     {"\"type\":1", "\"type\":-1"},
      {"\"type\":1", "\"type\":2"}, /* a link to nowhere */
      {"\"inode\":", "\"node\":"},      {"\"directory\":\"/directory\"", "\"directory\":null"}};
  for (gsize i = 0; i < G_N_ELEMENTS (manifests) + G_N_ELEMENTS (edits); i++) {
    const char *const *edit = i < G_N_ELEMENTS (manifests) ? NULL : edits[i - G_N_ELEMENTS (manifests)];
    g_autoptr (GString) text = g_string_new (edit ? good : manifests[i]);
    g_assert_true (!edit || g_string_replace (text, edit[0], edit[1], 0) > 0);
    write_file (&world, "manifest", text->str);
    refused (&world, second, OWNER, world.id, NULL, world.directory_fd, ADDER_ERROR_FAILED, "cannot be read");
    g_assert_cmpuint (count_waiting (&world, OWNER, ""), ==, 0);
  }
  write_file (&world, "manifest", good);
  write_file (&world, "changes", "odd");
  g_autoptr (json_t) shown = reviews_show (second, OWNER, world.id, NULL);
  g_assert_cmpstr (json_member_text (shown, "review_id"), ==, world.id);
  g_assert_cmpuint (json_array_size (json_object_get (shown, "changes")), ==, 0);
  g_assert_null (reviews_show (second, "uid:2", world.id, NULL));
  g_assert_cmpuint (count_waiting (&world, "uid:2", ""), ==, 0);
  g_assert_cmpuint (count_waiting (&world, OWNER, "waiting"), ==, 1);
  settles (&world, REVIEW_DROP, "dropped");
  reviews_unref (second);
  tear_down (&world);
}

/* So many wait at most, with so many bytes; those that nobody decides on go. */
static void
test_room (void)
{
  struct world world;
  g_autoptr (GError) error = NULL;
  set_up (&world);
  g_assert_true (propose (&world, "f:old", "f:new"));
  g_assert_true (stage (&world, NULL));
  g_assert_true (stage (&world, NULL));
  g_assert_false (stage (&world, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  g_clear_error (&error);
  g_assert_cmpuint (count_waiting (&world, OWNER, "waiting"), ==, 3);

  world.config.review_expire_ms = 0;
  struct reviews *hasty = reviews_new (&world.config);
  g_autoptr (json_t) none = reviews_list (hasty, OWNER, NULL);
  g_assert_cmpuint (json_array_size (json_object_get (none, "reviews")), ==, 0);
  g_assert_cmpuint (count_waiting (&world, OWNER, ""), ==, 0);
  reviews_unref (hasty);

  world.config.review_expire_ms = 3600 * 1000;
  world.config.max_reviews_bytes = 2;
  struct reviews *small = reviews_new (&world.config);
  struct reviews *large = world.reviews;
  world.reviews = small;
  g_assert_false (stage (&world, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_BUSY);
  world.reviews = large;
  reviews_unref (small);
  tear_down (&world);
}

/* One that is let go is unlocked, though a process that is being started has a copy of its descriptor. */
static void
test_let_go (void)
{
  struct world world;
  set_up (&world);
  g_assert_true (propose (&world, "f:old", "f:new"));
  g_autoptr (GError) error = NULL;
  autoclose int store_fd = review_open_store (&error);
  struct review *held = review_read (store_fd, world.id, TRUE, &error);
  g_assert_no_error (error);
  struct review *seen = review_read (store_fd, world.id, FALSE, &error);
  g_assert_no_error (error);
  autoclose int copy = fcntl (held->journal_fd, F_DUPFD_CLOEXEC, 0);
  g_assert_cmpint (copy, >=, 0);
  g_assert_true (review_is_locked (seen));
  review_free (held);
  g_assert_false (review_is_locked (seen));
  review_free (seen);
  tear_down (&world);
}

/* What a process that died left of one is removed when it is old. */
static void
test_swept (void)
{
  struct world world;
  set_up (&world);
  g_assert_true (propose (&world, "f:old", "f:new"));
  const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  static const char *const names[] = {"old.part", "young.part", "odd"};
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_build_filename (world.path, "reviews", names[i], NULL);
    g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
    if (i != 1)
      g_assert_cmpint (utimensat (AT_FDCWD, path, old, 0), ==, 0);
  }
  g_assert_cmpuint (count_waiting (&world, OWNER, "waiting"), ==, 1);
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_build_filename (world.path, "reviews", names[i], NULL);
    g_assert_cmpint (g_file_test (path, G_FILE_TEST_EXISTS), ==, i != 0);
  }
  tear_down (&world);
}

UNIT_SUITE (store_review)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store/review/broken-off", test_broken_off);
  g_test_add_func ("/store/review/somebody-else", test_somebody_else);
  g_test_add_func ("/store/review/nothing-changed", test_nothing_changed);
  g_test_add_func ("/store/review/all-changed", test_all_changed);
  g_test_add_func ("/store/review/permissions", test_permissions);
  g_test_add_func ("/store/review/directory-replaced", test_directory_replaced);
  g_test_add_func ("/store/review/no-folder", test_no_folder);
  g_test_add_func ("/store/review/refused", test_refused);
  g_test_add_func ("/store/review/room", test_room);
  g_test_add_func ("/store/review/let-go", test_let_go);
  g_test_add_func ("/store/review/swept", test_swept);
  return g_test_run ();
}
