/* SPDX-License-Identifier: Apache-2.0 */
/* Files into and out of a workspace, on a plain directory: what hostile code may leave there comes back
 * safely or not. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "base/frame.h"
#include "common/json.h"
#include "engine/files/artifact.h"
#include "engine/files/read_input.h"
#include "engine/files/save.h"
#include "engine/files/workspace.h"
#include "engine/request/ferry.h"
#include "runner/wire.h"
#include "suite.h"

struct fixture {
  char *path;
  int root_fd;
  struct interrupt interrupt;
  struct workspace_owner owner;
  struct limits limits;
  GHashTable *files; /* struct workspace_file by path */
  GPtrArray *warnings;
};

static void
set_up (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  fixture->path = g_dir_make_tmp ("adder-workspace-XXXXXX", NULL);
  g_autofree char *work = g_build_filename (fixture->path, "work", NULL);
  g_autofree char *output = g_build_filename (fixture->path, "tmp", "output", NULL);
  g_assert_cmpint (g_mkdir_with_parents (work, 0755), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (output, 0755), ==, 0);
  fixture->root_fd = open (fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_true (interrupt_init (&fixture->interrupt, -1, NULL));
  fixture->limits = limits_default ();
  fixture->files = workspace_files_new ();
  fixture->warnings = g_ptr_array_new_with_free_func (g_free);
}

static void
tear_down (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  suite_remove (fixture->path);
  interrupt_clear (&fixture->interrupt);
  g_hash_table_unref (fixture->files);
  g_ptr_array_unref (fixture->warnings);
  close (fixture->root_fd);
  g_free (fixture->path);
}

static void
make (const struct fixture *fixture, const char *name, const char *content)
{
  g_autofree char *path = g_build_filename (fixture->path, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, content, -1, NULL));
}

static GPtrArray *
collect (struct fixture *fixture)
{
  return artifact_collect (fixture->root_fd, fixture->files, NULL, &fixture->limits, fixture->warnings,
                           &fixture->interrupt);
}

static const struct artifact *
find (const GPtrArray *artifacts, const char *name)
{
  for (guint i = 0; i < artifacts->len; i++) {
    const struct artifact *artifact = artifacts->pdata[i];
    if (strcmp (artifact->name, name) == 0)
      return artifact;
  }
  return NULL;
}

/* Why ARTIFACT is not saved to TO, over what is there; NULL: it is. The caller's. */
static char *
save (const struct fixture *fixture, const struct artifact *artifact, int to)
{
  g_autoptr (GPtrArray) one = g_ptr_array_new ();
  g_ptr_array_add (one, (gpointer)(guintptr)artifact);
  g_autoptr (json_t) told = save_files (fixture->root_fd, one, to, TRUE);
  const json_t *left = json_array_get (json_object_get (told, "not_written"), 0);
  return g_strdup (json_string_value (json_object_get (left, "reason")));
}

static gboolean
is_warned (const struct fixture *fixture, const char *words)
{
  for (guint i = 0; i < fixture->warnings->len; i++)
    if (strstr (fixture->warnings->pdata[i], words))
      return TRUE;
  return FALSE;
}

/* ---- names ---- */

static void
test_names (void)
{
  static const char *const good[] = {"a",           "data.csv", "a/b/c.txt", ".hidden",
                                     "Gr\xC3\xBCn", "a b",      "...",       "a..b/c"};
  static const char *const bad[] = {"",    "/",    "/etc/passwd", "..",   "../a",  "a/../b", "a/..",  "./a",
                                    "a/.", "a//b", "a/",          "a\nb", "a\x7f", "\xFF",   "a/\x01"};
  for (gsize i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_true (workspace_check_name (good[i], NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (workspace_check_name (bad[i], &error));
    g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
  }
  g_autofree char *part = g_strnfill (256, 'a');
  g_assert_false (workspace_check_name (part, NULL));
}

/* ---- putting ---- */

static int
source_file (const struct fixture *fixture, const char *content)
{
  make (fixture, "source", content);
  g_autofree char *path = g_build_filename (fixture->path, "source", NULL);
  return open (path, O_RDONLY | O_CLOEXEC);
}

static void
put (struct fixture *fixture, const char *name, int fd)
{
  g_autoptr (GError) error = NULL;
  struct workspace_file *file = workspace_put (fixture->root_fd, &fixture->owner, "work", name, fd, NULL,
                                               &fixture->interrupt, -1, &error);
  g_assert_no_error (error);
  workspace_files_add (fixture->files, file);
}

#define NS_PER_SECOND G_GINT64_CONSTANT (1000000000)

static gint64
ns_of (struct timespec time)
{
  return time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

static void
test_put (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  autoclose int source = source_file (fixture, "a,b\n1,2\n");
  g_assert_cmpint (lseek (source, 3, SEEK_SET), ==, 3);
  put (fixture, "deep/er/data.csv", source);
  g_assert_cmpint (lseek (source, 0, SEEK_CUR), ==, 3);

  g_autofree char *path = g_build_filename (fixture->path, "work/deep/er/data.csv", NULL);
  g_autofree char *content = NULL;
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "a,b\n1,2\n");
  struct stat st;
  g_assert_cmpint (stat (path, &st), ==, 0);
  /* A write at once changes the time of the file. The time of its status is the file system's own clock,
   * which may be milliseconds behind the one that the copy is dated by: half of the second between them must
   * be left. */
  g_assert_cmpint (ns_of (st.st_ctim) - ns_of (st.st_mtim), >, NS_PER_SECOND / 2);
  g_assert_true (st.st_mode & S_IWUSR);
}

static void
test_put_pipe (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  int ends[2];
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  g_assert_cmpint (fd_write_all (ends[1], "from a pipe", 11), ==, 0);
  close (ends[1]);
  put (fixture, "piped", ends[0]);
  close (ends[0]);
  g_autofree char *path = g_build_filename (fixture->path, "work/piped", NULL);
  g_autofree char *content = NULL;
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "from a pipe");
}

static void
test_put_refuses (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (workspace_put (fixture->root_fd, &fixture->owner, "work", "d", fixture->root_fd, NULL,
                                &fixture->interrupt, -1, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&error);

  /* Links of the sandbox's are not followed: as a directory they are refused, as the file replaced. */
  g_autofree char *link = g_build_filename (fixture->path, "work/link", NULL);
  g_autofree char *outside = g_build_filename (fixture->path, "outside", NULL);
  g_assert_cmpint (symlink (fixture->path, link), ==, 0);
  autoclose int source = source_file (fixture, "x");
  g_assert_null (workspace_put (fixture->root_fd, &fixture->owner, "work", "link/outside", source, NULL,
                                &fixture->interrupt, -1, &error));
  g_assert_nonnull (error);
  g_assert_cmpint (unlink (link), ==, 0);
  g_assert_cmpint (symlink (outside, link), ==, 0);
  put (fixture, "link", source);
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_REGULAR) && !g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_assert_false (g_file_test (outside, G_FILE_TEST_EXISTS));
  g_clear_error (&error);

  /* A pipe of a session's, which would wait for a reader. */
  g_autofree char *fifo = g_build_filename (fixture->path, "work/fifo", NULL);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  put (fixture, "fifo", source);
  g_assert_true (g_file_test (fifo, G_FILE_TEST_IS_REGULAR));

  /* A pipe that nobody ends. */
  int ends[2];
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  g_assert_null (workspace_put (fixture->root_fd, &fixture->owner, "work", "slow", ends[0], NULL,
                                &fixture->interrupt, g_get_monotonic_time () + 20000, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT);
  g_clear_error (&error);
  interrupt_cancel (&fixture->interrupt);
  g_assert_null (workspace_put (fixture->root_fd, &fixture->owner, "work", "slow", ends[0], NULL,
                                &fixture->interrupt, -1, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED);
  close (ends[0]);
  close (ends[1]);
}

static void
test_input_bound (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  autoclose int source = source_file (fixture, "0123456789");
  g_assert_cmpint (input_read (source, 9, "standard input", &fixture->interrupt, -1, &error), ==, -1);
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, "standard input has more than 9 bytes");

  g_assert_cmpint (lseek (source, 2, SEEK_SET), ==, 2);
  autoclose int memory = input_read (source, 10, "standard input", &fixture->interrupt, -1, NULL);
  char text[16] = "";
  g_assert_cmpint (read (memory, text, sizeof text), ==, 8);
  g_assert_cmpstr (text, ==, "23456789");
  g_assert_cmpint (write (memory, "x", 1), ==, -1);
  g_assert_cmpint (ftruncate (memory, 0), ==, -1);
}

/* Two files that look alike but for their time, and one that was replaced. */
static void
test_untouched (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  struct workspace_mark mark;
  autoclose int source = source_file (fixture, "one");
  put (fixture, "a.txt", source);
  put (fixture, "b.txt", source);
  g_assert_true (workspace_measure (fixture->root_fd, &mark));
  static const char *const paths[] = {"work/a.txt", "work/b.txt"};
  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++) {
    struct stat st;
    g_assert_cmpint (fstatat (fixture->root_fd, paths[i], &st, 0), ==, 0);
    g_assert_true (workspace_file_is (g_hash_table_lookup (fixture->files, paths[i]), &st));
  }
  make (fixture, "work/b.txt", "two");
  g_assert_false (workspace_is_untouched (fixture->root_fd, &mark, fixture->files));

  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, 1);
  g_assert_nonnull (find (artifacts, "b.txt"));
}

/* ---- taking ---- */

static void
test_take (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  make (fixture, "work/plot.png", "\x89PNG\r\n\x1a\n");
  make (fixture, "work/sub/table.csv", "a,b\n");
  make (fixture, "work/.config", "dot file");
  make (fixture, "work/empty", "");
  make (fixture, "tmp/notes.txt", "n");
  make (fixture, "tmp/output/report.html", "<p>");
  make (fixture, "work/tmp/notes.txt", "another of the same name");
  make (fixture, "work/.cache/x", "cache");
  make (fixture, "work/__pycache__/m.cpython-311.pyc", "cache");
  make (fixture, "work/m.pyc", "cache");
  make (fixture, "tmp/matplotlib-abc/fontlist.json", "cache");
  make (fixture, "tmp/.ipython/x", "cache");
  make (fixture, "tmp/.lock", "cache");

  g_autoptr (GPtrArray) artifacts = collect (fixture);
  static const char *const names[] = {".config",
                                      "empty",
                                      "plot.png",
                                      "sub/table.csv",
                                      "tmp/notes.txt",
                                      "tmp/notes-2.txt",
                                      "tmp/output/report.html"};
  g_assert_cmpuint (artifacts->len, ==, G_N_ELEMENTS (names));
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_nonnull (find (artifacts, names[i]));
  g_assert_cmpuint (fixture->warnings->len, ==, 0);

  const struct artifact *plot = find (artifacts, "plot.png");
  g_assert_cmpstr (plot->mime, ==, "image/png");
  g_assert_cmpuint (plot->bytes, ==, 8);
  g_assert_cmpstr (find (artifacts, "empty")->sha256, ==,
                   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  char text[8] = "";
  autoclose int file = artifact_open (fixture->root_fd, find (artifacts, "sub/table.csv"), NULL);
  g_assert_cmpint (read (file, text, sizeof text), ==, 4);
  g_assert_cmpstr (text, ==, "a,b\n");
}

static void
test_take_hostile (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *work = g_build_filename (fixture->path, "work", NULL);
  autoclose int dir = open (work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (symlinkat ("/etc/passwd", dir, "passwd"), ==, 0);
  g_assert_cmpint (symlinkat ("/etc", dir, "etc"), ==, 0);
  g_assert_cmpint (symlinkat ("loop", dir, "loop"), ==, 0);
  g_assert_cmpint (symlinkat ("..", dir, "up"), ==, 0);
  g_assert_cmpint (mkfifoat (dir, "fifo", 0666), ==, 0);
  autoclose int listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_snprintf (address.sun_path, sizeof address.sun_path, "%s/socket", work);
  g_assert_cmpint (bind (listener, (struct sockaddr *)&address, sizeof address), ==, 0);
  make (fixture, "work/new\nline \x1b[31m", "control characters");
  make (fixture, "work/bad\xFF", "not UTF-8");
  make (fixture, "work/fine.txt", "fine");
  g_assert_cmpint (linkat (dir, "fine.txt", dir, "hard.txt", 0), ==, 0);
  make (fixture, "work/locked/inside.txt", "in a directory that nobody may enter");
  g_assert_cmpint (fchmodat (dir, "locked", 0, 0), ==, 0);
  make (fixture, "work/secret.txt", "unreadable");
  g_assert_cmpint (fchmodat (dir, "secret.txt", 0, 0), ==, 0);

  g_autoptr (GPtrArray) artifacts = collect (fixture);
  static const char *const names[] = {"fine.txt", "hard.txt", "locked/inside.txt", "secret.txt",
                                      "new_line _[31m"};
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_nonnull (find (artifacts, names[i]));
  g_assert_cmpuint (artifacts->len, ==, G_N_ELEMENTS (names) + 1);
  for (guint i = 0; i < artifacts->len; i++) {
    const struct artifact *artifact = artifacts->pdata[i];
    g_assert_true (g_utf8_validate (artifact->name, -1, NULL));
    autoclose int file = artifact_open (fixture->root_fd, artifact, NULL);
    g_assert_cmpint (file, >=, 0);
  }
  g_assert_true (is_warned (fixture, "and 3 more: only regular files come back"));
}

static void
test_take_limits (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  for (int i = 0; i < 10; i++) {
    g_autofree char *name = g_strdup_printf ("work/f%d", i);
    make (fixture, name, "0123456789");
  }
  fixture->limits.value[LIMIT_FILES] = 4;
  g_autoptr (GPtrArray) few = collect (fixture);
  g_assert_cmpuint (few->len, ==, 4);
  g_assert_nonnull (find (few, "f3"));
  g_assert_true (is_warned (fixture, "left out: f4, f5, f6 and 3 more: only 4 files come back (files)"));

  fixture->limits.value[LIMIT_FILES] = 100;
  fixture->limits.value[LIMIT_FILES_BYTES] = 35;
  g_autoptr (GPtrArray) small = collect (fixture);
  g_assert_cmpuint (small->len, ==, 3);
  g_assert_true (is_warned (fixture, "(files_bytes)"));
}

static void
test_take_deep (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  make (fixture, "work/one/kept", "k");
  make (fixture, "work/one/two/lost", "l");
  fixture->limits.value[LIMIT_FILES_DEPTH] = 2;
  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, 1);
  g_assert_nonnull (find (artifacts, "one/kept"));
  g_assert_true (is_warned (fixture, "one/two: directories deeper than 2 levels"));
}

/* A thousand directories in one another do not take the daemon's stack or descriptors. */
static void
test_take_abyss (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  int directory = openat (fixture->root_fd, "work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < 1000; i++) {
    g_assert_cmpint (mkdirat (directory, "d", 0755), ==, 0);
    int next = openat (directory, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close (directory);
    directory = next;
  }
  close (directory);
  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, 0);
  g_assert_true (is_warned (fixture, "(files_depth)"));
}

/* A tree whose parts are moved about meanwhile would have no end: so many names are looked at. */
static void
test_take_many (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  for (int i = 0; i < 10; i++) {
    g_autofree char *name = g_strdup_printf ("work/f%d.pyc", i);
    make (fixture, name, "x");
  }
  make (fixture, "work/z", "x");
  fixture->limits.value[LIMIT_WORKSPACE_FILES] = 5;
  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, 0);
  g_assert_true (is_warned (fixture, "files come back (files)"));
}

/* What a session did with a file since is not what the result speaks of. */
static void
test_changed_since (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    const char *command, *said;
  } rows[] = {
      {"true", NULL},
      {"printf longer >%s", "a.txt is not as it was: its session has changed it since"},
      {"touch -d @1000 %s", "a.txt is not as it was: its session has changed it since"},
      {"rm %s && mkdir %s", "a.txt is not as it was: its session has changed it since"},
      {"rm %s && mkfifo %s", "a.txt is not as it was: its session has changed it since"},
      {"rm %s", "cannot open a.txt: No such file or directory"},
      {"rm %s && ln -s /etc/passwd %s", "cannot open a.txt: Too many levels of symbolic links"},
  };
  g_autofree char *path = g_build_filename (fixture->path, "work", "a.txt", NULL);
  autoclose int to = open (fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_remove (path);
    make (fixture, "work/a.txt", "12345");
    g_autoptr (GPtrArray) artifacts = collect (fixture);
    g_autoptr (GString) command = g_string_new (rows[i].command);
    g_string_replace (command, "%s", path, 0);
    char *shell[] = {(char *)"/bin/sh", (char *)"-c", command->str, NULL};
    g_assert_true (g_spawn_sync (NULL, shell, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL));
    autoclose int file = artifact_open (fixture->root_fd, artifacts->pdata[0], &error);
    g_assert_cmpint (file >= 0, ==, rows[i].said == NULL);
    g_assert_cmpstr (error ? error->message : NULL, ==, rows[i].said);
    g_autofree char *reason = save (fixture, artifacts->pdata[0], to);
    g_assert_cmpstr (reason, ==, rows[i].said);
  }
}

/* Caches that libraries leave, and nothing else that is called so. */
static void
test_take_caches (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const char *const made[] = {
      "work/.git/config",     "work/.env",           "work/__pycache__/a.txt",
      "work/a.pyc",           "work/matplotlib-x/a", "tmp/matplotlib-x/a",
      "tmp/fontlist.json",    "work/fontlist.json",  "tmp/.X1",
      "work/__pycache__.txt",
  };
  static const char *const names[] = {".env", "matplotlib-x/a", "fontlist.json", "__pycache__.txt"};
  for (gsize i = 0; i < G_N_ELEMENTS (made); i++)
    make (fixture, made[i], "x");
  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, G_N_ELEMENTS (names));
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_nonnull (find (artifacts, names[i]));
  g_assert_cmpuint (fixture->warnings->len, ==, 0);
}

/* Names that no file elsewhere could have are shortened, and paths that nobody could open stay. */
static void
test_take_long_names (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *invalid = g_strnfill (240, '\xFF');
  g_autofree char *name = g_strdup_printf ("work/%s.csv", invalid);
  make (fixture, name, "first");
  name[5] = '\xFE';
  make (fixture, name, "second");
  g_autofree char *part = g_strnfill (255, 'n');
  int directory = openat (fixture->root_fd, "work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < 15; i++) {
    g_assert_cmpint (mkdirat (directory, part, 0755), ==, 0);
    int next = openat (directory, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close (directory);
    directory = next;
  }
  close (openat (directory, "deep", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  close (directory);

  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, 2);
  for (guint i = 0; i < artifacts->len; i++) {
    const struct artifact *artifact = artifacts->pdata[i];
    g_assert_true (g_str_has_suffix (artifact->name, ".csv"));
    g_assert_cmpuint (strlen (artifact->name), <=, 255);
    g_assert_true (g_utf8_validate (artifact->name, -1, NULL));
    g_assert_cmpstr (artifact->mime, ==, "text/csv");
  }
  g_assert_true (is_warned (fixture, "paths of at most 2048 bytes come back"));
  g_assert_cmpuint (strlen (fixture->warnings->pdata[0]), <, 400);
}

static void
test_take_sparse (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  make (fixture, "work/sparse", "");
  g_autofree char *path = g_build_filename (fixture->path, "work/sparse", NULL);
  g_assert_cmpint (truncate (path, (off_t)1 << 40), ==, 0);
  make (fixture, "work/z", "after");
  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, 1);
  g_assert_true (is_warned (fixture, "sparse: files of at most 256 MiB together"));
}

static void
test_take_cancelled (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  make (fixture, "work/a", "a");
  interrupt_cancel (&fixture->interrupt);
  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, 0);
}

/* ---- saving ---- */

static void
test_save (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  make (fixture, "work/sub/a.txt", "new");
  make (fixture, "work/linked.txt", "new");
  make (fixture, "work/out/x.txt", "new");
  g_autoptr (GPtrArray) artifacts = collect (fixture);

  g_autofree char *path = g_dir_make_tmp ("adder-saved-XXXXXX", NULL);
  g_autofree char *victim = g_build_filename (fixture->path, "victim", NULL);
  g_autofree char *link = g_build_filename (path, "linked.txt", NULL);
  g_autofree char *out = g_build_filename (path, "out", NULL);
  make (fixture, "victim", "old");
  g_assert_cmpint (symlink (victim, link), ==, 0);
  g_assert_cmpint (symlink (fixture->path, out), ==, 0);
  autoclose int to = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  g_assert_null (save (fixture, find (artifacts, "sub/a.txt"), to));
  g_autofree char *saved = g_build_filename (path, "sub/a.txt", NULL);
  g_autofree char *content = NULL, *kept = NULL;
  g_assert_true (g_file_get_contents (saved, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "new");

  /* A link in the way is replaced, not followed; a directory that is a link out is refused. */
  g_assert_null (save (fixture, find (artifacts, "linked.txt"), to));
  g_assert_true (g_file_get_contents (victim, &kept, NULL, NULL));
  g_assert_cmpstr (kept, ==, "old");
  g_assert_false (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_autofree char *reason = save (fixture, find (artifacts, "out/x.txt"), to);
  g_assert_cmpstr (reason, ==, "its folder is a link or a file");

  suite_remove (path);
}

static void
test_save_full (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  make (fixture, "work/a.txt", "new");
  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_autofree char *path = g_dir_make_tmp ("adder-saved-XXXXXX", NULL);
  g_autofree char *blocked = g_build_filename (path, "a.txt", "in-the-way", NULL);
  g_assert_cmpint (g_mkdir_with_parents (blocked, 0755), ==, 0);
  autoclose int to = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_autofree char *reason = save (fixture, artifacts->pdata[0], to);
  g_assert_cmpstr (reason, ==, "a folder has its name");
  /* What was written aside is gone. */
  g_autoptr (GDir) listing = g_dir_open (path, 0, NULL);
  g_assert_cmpstr (g_dir_read_name (listing), ==, "a.txt");
  g_assert_null (g_dir_read_name (listing));
  suite_remove (path);
}

/* The file system of this fixture is everybody's: somebody else may write to it between the two looks. */
static gboolean
is_untouched (const struct fixture *fixture)
{
  gint64 end_us = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;
  struct workspace_mark mark;
  gboolean untouched;
  do {
    g_assert_true (workspace_measure (fixture->root_fd, &mark));
    untouched = workspace_is_untouched (fixture->root_fd, &mark, fixture->files);
  } while (!untouched && g_get_monotonic_time () < end_us);
  return untouched;
}

/* A file that is bind-mounted is a mount in the sandbox, which the daemon does not see: what it sees is an
 * empty file, and that is no artifact, wherever the code has taken its directory. */
static void
test_bind_mounted (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  make (fixture, "work/sub/data.csv", "");
  make (fixture, "work/empty.csv", "");
  struct workspace_file *bound =
      workspace_file_bind_mounted (fixture->root_fd, "work", "sub/data.csv", &error);
  g_assert_no_error (error);
  workspace_files_add (fixture->files, bound);
  g_assert_true (is_untouched (fixture));

  g_autofree char *sub = g_build_filename (fixture->path, "work", "sub", NULL);
  g_autofree char *other = g_build_filename (fixture->path, "work", "other", NULL);
  g_assert_cmpint (rename (sub, other), ==, 0);
  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, 1);
  g_assert_nonnull (find (artifacts, "empty.csv"));

  g_assert_null (workspace_file_bind_mounted (fixture->root_fd, "work", "sub/data.csv", &error));
  g_assert_nonnull (strstr (error->message, "cannot find the place of the file sub/data.csv"));
}

/* Into a sandbox with a kernel of its own: each file as a frame with its path and descriptor. */
static void
test_ferry_put (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  struct sandbox sandbox = {.apart = TRUE, .workspace_fd = fixture->root_fd};
  struct frame_header header;
  char text[8] = "";
  size_t count = 0;
  int ends[2], fd = -1;
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
  channel_init (&sandbox.channel, ends[0]);
  autoclose int source = source_file (fixture, "abc");
  put (fixture, "a", source);
  g_assert_true (ferry_put (&sandbox, fixture->files, &fixture->limits, 0, &error));
  g_assert_no_error (error);
  g_assert_cmpint (frame_receive (ends[1], 100, 1000, &header, &path, &fd, 1, &count), ==, 0);
  g_assert_cmpuint (header.kind, ==, WIRE_PUT);
  g_assert_cmpstr (path, ==, "work/a");
  g_assert_cmpint (fd_read_all (fd, text, 3), ==, 0);
  g_assert_cmpstr (text, ==, "abc");
  fd_close (&fd);

  fixture->limits.value[LIMIT_WORKSPACE] = 2;
  g_assert_false (ferry_put (&sandbox, fixture->files, &fixture->limits, 0, &error));
  g_assert_nonnull (strstr (error->message, "cannot put the file work/a"));
  g_clear_error (&error);

  /* Nobody reads. */
  fixture->limits.value[LIMIT_WORKSPACE] = 3;
  while (send (ends[0], text, sizeof text, MSG_DONTWAIT) > 0)
    ;
  g_assert_false (
      ferry_put (&sandbox, fixture->files, &fixture->limits, g_get_monotonic_time () + 10000, &error));
  g_assert_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT);
  g_clear_error (&error);

  g_assert_cmpint (unlinkat (fixture->root_fd, "work/a", 0), ==, 0);
  g_assert_false (ferry_put (&sandbox, fixture->files, &fixture->limits, 0, &error));
  g_assert_nonnull (strstr (error->message, "cannot read the file work/a"));
  channel_clear (&sandbox.channel);
  close (ends[0]);
  close (ends[1]);
}

/* What code sends of a kernel of its own: paths that are none, files without a beginning, more than there is
 * room for. */
static void
test_ferry (struct fixture *fixture, G_GNUC_UNUSED gconstpointer data)
{
  static const struct {
    const char *bytes;
    gsize length;
    gboolean good;
    guint left; /* in all, so far */
  } frames[] = {
      {"\0early", 6, TRUE, 0},
      {"work/a", 6, FALSE, 0},
      {"", 0, FALSE, 0},
      {"work/../../b\0x", 14, TRUE, 1},
      {"\0more", 5, TRUE, 1},
      {"/work/b\0x", 9, TRUE, 2},
      {"work\0x", 6, TRUE, 3},
      {"other/b\0x", 9, TRUE, 4},
      {"work/a\0abc", 10, TRUE, 4},
      {"\0def", 4, TRUE, 4},
      {"tmp/output/b\0", 13, TRUE, 4},
      {"work/link/c\0x", 13, TRUE, 5},
      {"work/a/b\0x", 10, TRUE, 6},
      {"work/large\0"
       "0123456789",
       21, TRUE, 6},
      {"\0"
       "0123456789",
       11, TRUE, 7},
      {"\0"
       "0123456789",
       11, TRUE, 7},
      {"work/1/2/3/4/5/6\0x", 18, TRUE, 8},
      {"work/d\0", 7, TRUE, 9},
  };
  struct sandbox sandbox = {.apart = TRUE, .workspace_fd = fixture->root_fd};
  struct ferry ferry = {.fd = -1};
  make (fixture, "outside/kept", "kept");
  g_autofree char *link = g_build_filename (fixture->path, "work", "link", NULL);
  g_assert_cmpint (symlink ("../outside", link), ==, 0);
  fixture->limits.value[LIMIT_WORKSPACE] = 25;
  fixture->limits.value[LIMIT_WORKSPACE_FILES] = 9;
  for (gsize i = 0; i < G_N_ELEMENTS (frames); i++) {
    g_assert_cmpint (
        ferry_take (&ferry, &sandbox, &fixture->owner, &fixture->limits, frames[i].bytes, frames[i].length),
        ==, frames[i].good);
    g_assert_cmpuint (ferry.left, ==, frames[i].left);
  }
  fd_close (&ferry.fd);
  g_autoptr (GPtrArray) artifacts = collect (fixture);
  g_assert_cmpuint (artifacts->len, ==, 3);
  g_assert_cmpuint (find (artifacts, "a")->bytes, ==, 6);
  g_assert_cmpuint (find (artifacts, "tmp/output/b")->bytes, ==, 0);
  g_assert_cmpuint (find (artifacts, "large")->bytes, ==, 10);
  g_autofree char *outside = g_build_filename (fixture->path, "outside", "c", NULL);
  g_assert_false (g_file_test (outside, G_FILE_TEST_EXISTS));

  sandbox.apart = FALSE;
  g_assert_false (ferry_take (&ferry, &sandbox, &fixture->owner, &fixture->limits, "work/z\0", 7));
}

static const struct {
  const char *path;
  void (*test) (struct fixture *, gconstpointer);
} tests[] = {
    {"/workspace/put", test_put},
    {"/workspace/put-pipe", test_put_pipe},
    {"/workspace/put-refuses", test_put_refuses},
    {"/workspace/input-bound", test_input_bound},
    {"/workspace/untouched", test_untouched},
    {"/workspace/bind-mounted", test_bind_mounted},
    {"/workspace/ferry-put", test_ferry_put},
    {"/workspace/ferry", test_ferry},
    {"/artifact/take", test_take},
    {"/artifact/hostile", test_take_hostile},
    {"/artifact/limits", test_take_limits},
    {"/artifact/deep", test_take_deep},
    {"/artifact/abyss", test_take_abyss},
    {"/artifact/sparse", test_take_sparse},
    {"/artifact/long-names", test_take_long_names},
    {"/artifact/cancelled", test_take_cancelled},
    {"/artifact/many", test_take_many},
    {"/artifact/caches", test_take_caches},
    {"/artifact/changed-since", test_changed_since},
    {"/artifact/save", test_save},
    {"/artifact/save-full", test_save_full},
};

UNIT_SUITE (engine_workspace)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/workspace/names", test_names);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, struct fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
