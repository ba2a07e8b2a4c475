/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a run finds in its workspace: copies, and those of a directory of links, of which it has none.
 * Hostile code tries to change what the links lead to. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "engine/run/run.h"
#include "library/library.h"
#include "run_support.h"
#include "suite.h"

static AdderEngine *engine;

/* A stored file of the test's: its home, and a directory with a link to it. */
struct stored {
  char *home, *links, *content, *sha256;
  gsize length;
  struct stat before;
};

static void
stored_init (struct stored *stored, const char *name, const char *content, gsize length)
{
  g_autoptr (GError) error = NULL;
  stored->home = g_build_filename (scratch, "home-XXXXXX", NULL);
  stored->links = g_build_filename (scratch, "links-XXXXXX", NULL);
  g_assert_nonnull (g_mkdtemp (stored->home));
  g_assert_nonnull (g_mkdtemp (stored->links));
  g_autofree char *file = g_build_filename (stored->home, "content", NULL);
  g_autofree char *link_path = g_build_filename (stored->links, name, NULL);
  stored->length = length;
  stored->content = g_memdup2 (content, length);
  stored->sha256 = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *)content, length);
  g_assert_true (g_file_set_contents (file, content, (gssize)length, &error));
  g_assert_cmpint (chmod (file, 0600), ==, 0);
  g_assert_cmpint (link (file, link_path), ==, 0);
  g_assert_cmpint (stat (file, &stored->before), ==, 0);
}

static void
stored_clear (struct stored *stored)
{
  g_autofree char *file = g_build_filename (stored->home, "content", NULL);
  g_autofree char *now = NULL;
  gsize length;
  struct stat after;
  g_assert_true (g_file_get_contents (file, &now, &length, NULL));
  g_assert_cmpmem (now, length, stored->content, stored->length);
  g_assert_cmpint (stat (file, &after), ==, 0);
  g_assert_cmpuint (after.st_mode, ==, stored->before.st_mode);
  g_assert_cmpuint (after.st_uid, ==, stored->before.st_uid);
  g_assert_cmpint (after.st_mtim.tv_sec, ==, stored->before.st_mtim.tv_sec);
  g_assert_cmpint (after.st_mtim.tv_nsec, ==, stored->before.st_mtim.tv_nsec);
  g_assert_cmpuint (after.st_nlink, ==, stored->before.st_nlink);
  g_free (stored->home);
  g_free (stored->links);
  g_free (stored->content);
  g_free (stored->sha256);
}

/* REQUEST gets STORED as PLACE/NAME. */
static void
bind_to (struct run_request *request, const struct stored *stored, enum input_place place, const char *name)
{
  g_autofree char *path = g_build_filename (stored->links, name, NULL);
  struct input input = {
      .name = g_strdup (name),
      .fd = open (path, O_RDONLY | O_CLOEXEC),
      .place = place,
      .bytes = stored->length,
      .sha256 = g_strdup (stored->sha256),
      .linked = TRUE,
  };
  g_assert_cmpint (input.fd, >=, 0);
  g_array_append_val (request->files, input);
  if (request->links.directory_fd[place] < 0)
    request->links.directory_fd[place] = open (stored->links, O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (request->links.directory_fd[place], >=, 0);
}

static struct run_request *
resolved_new (const char *code)
{
  AdderRequest *public = new_request (code);
  struct run_request *request = library_resolve (engine, public);
  adder_request_free (public);
  return request;
}

static json_t *
run_resolved (struct run_request *request, const char *outcome)
{
  AdderRun *run = run_start (engine->engine, request);
  g_autoptr (AdderResult) result = pull (run);
  json_t *root = parse (result);
  if (g_strcmp0 (string_at (root, "outcome"), outcome) != 0)
    g_error ("expected %s: %s", outcome, adder_result_json (result));
  adder_run_free (run);
  return root;
}

static gsize
files_of (const json_t *result)
{
  return json_array_size (json_object_get (result, "files"));
}

static const char *
file_name (const json_t *result, gsize i)
{
  return string_at (json_array_get (json_object_get (result, "files"), i), "name");
}

/* ---- what code finds ---- */

static void
test_read (void)
{
  static const enum isolation kinds[] = {ISOLATION_NAMESPACES, ISOLATION_PROCESS};
  static const enum input_place where[] = {INPUT_WORK, INPUT_TMP};
  for (gsize kind = 0; kind < G_N_ELEMENTS (kinds); kind++)
    for (gsize i = 0; i < G_N_ELEMENTS (where); i++) {
      struct stored stored;
      stored_init (&stored, "data.csv", "a,b\n1,2\n", 8);
      g_autofree char *code =
          g_strdup_printf ("import os\nos.chdir(os.path.join(os.getcwd(), '../%s'))\n"
                           "print(open('data.csv').read(), os.path.getsize('data.csv'), 'data.csv' in "
                           "os.listdir('.'))",
                           input_place_name (where[i]));
      struct run_request *request = resolved_new (code);
      request->isolation = kinds[kind];
      bind_to (request, &stored, where[i], "data.csv");
      g_autoptr (json_t) result = run_resolved (request, "ok");
      g_assert_cmpstr (string_at (result, "stdout"), ==, "a,b\n1,2\n 8 True\n");
      g_assert_cmpuint (files_of (result), ==, 0);
      stored_clear (&stored);
    }
}

/* Both places, small ones beside them, and what the code makes. */
static void
test_beside (void)
{
  struct stored work, tmp;
  stored_init (&work, "w.bin", "work", 4);
  stored_init (&tmp, "t.bin", "temp", 4);
  struct run_request *request =
      resolved_new ("import os\n"
                    "print(open('/work/w.bin').read(), open('/tmp/t.bin').read(), open('small').read())\n"
                    "print(sorted(os.listdir('/work')), sorted(os.listdir('/tmp')))\n"
                    "open('/tmp/output/made.txt', 'w').write('x')\n"
                    "open('/work/made.txt', 'w').write('y')\n");
  bind_to (request, &work, INPUT_WORK, "w.bin");
  bind_to (request, &tmp, INPUT_TMP, "t.bin");
  int ends[2];
  g_assert_cmpint (pipe (ends), ==, 0);
  g_assert_cmpint (fd_write_all (ends[1], "few", 3), ==, 0);
  fd_close (&ends[1]);
  struct input small = {.name = g_strdup ("small"), .fd = ends[0], .place = INPUT_WORK};
  g_array_append_val (request->files, small);
  g_autoptr (json_t) result = run_resolved (request, "ok");
  g_assert_cmpstr (string_at (result, "stdout"), ==,
                   "work temp few\n['small', 'w.bin'] ['output', 't.bin']\n");
  g_assert_cmpuint (files_of (result), ==, 2);
  g_assert_cmpstr (file_name (result, 0), ==, "made.txt");
  g_assert_cmpstr (file_name (result, 1), ==, "tmp/output/made.txt");
  stored_clear (&work);
  stored_clear (&tmp);
}

/* What is changed comes back, what was only touched does not, and what was removed is not missed. */
static void
test_changed (void)
{
  static const struct {
    const char *code;
    gsize files;
  } rows[] = {
      {"open('data', 'a').write('more')", 1},
      {"open('data', 'r+').write('D')", 1},
      {"import os; os.utime('data')", 0},
      {"import os; os.chmod('data', 0o400)", 0},
      {"open('data', 'a').close()", 0},
      {"x = open('data').read(); import os; os.remove('data'); open('data', 'w').write(x)", 0},
      {"import os; os.remove('data'); print(os.listdir('.'))", 0},
      {"import os; os.rename('data', 'other')", 1},
      {"import os; os.link('data', 'other')", 1},
      {"import os; os.symlink('data', 'other')", 0},
      {"import os; os.remove('data'); os.mkdir('data'); open('data/x', 'w').write('x')", 1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct stored stored;
    stored_init (&stored, "data", "content\n", 8);
    struct run_request *request = resolved_new (rows[i].code);
    bind_to (request, &stored, INPUT_WORK, "data");
    g_autoptr (json_t) result = run_resolved (request, "ok");
    if (files_of (result) != rows[i].files)
      g_error ("%s: %s", rows[i].code, json_dumps (result, 0));
    stored_clear (&stored);
  }
}

/* It takes nothing from the workspace until it is changed, and then as much as it is long. */
static void
test_room (void)
{
  gsize length = 8 * MIB;
  g_autofree char *content = g_malloc0 (length);
  struct stored stored;
  stored_init (&stored, "large", content, length);
  struct run_request *request = resolved_new ("import os\n"
                                              "print(len(open('large', 'rb').read()))\n"
                                              "open('own', 'wb').write(bytes(3 << 20))\n"
                                              "try:\n"
                                              "    open('large', 'r+b')\n"
                                              "except OSError as error:\n"
                                              "    print(error.strerror)\n"
                                              "os.remove('large')\n");
  request->limits.value[LIMIT_WORKSPACE] = 4 * MIB;
  bind_to (request, &stored, INPUT_WORK, "large");
  g_autoptr (json_t) result = run_resolved (request, "ok");
  g_assert_cmpstr (string_at (result, "stdout"), ==, "8388608\nNo space left on device\n");
  g_assert_cmpuint (files_of (result), ==, 1);
  /* Where it must be copied, the limit is named. */
  request = resolved_new ("1");
  request->limits.value[LIMIT_WORKSPACE] = 4 * MIB;
  bind_to (request, &stored, INPUT_TMP, "large");
  fd_close (&request->links.directory_fd[INPUT_TMP]);
  g_autoptr (json_t) copied = run_resolved (request, "failed");
  g_assert_nonnull (strstr (error_at (copied, "message"), "workspace_bytes"));
  stored_clear (&stored);
}

/* ---- what goes together ---- */

static void
test_bad_names (void)
{
  static const struct {
    const char *first, *second;
    enum input_place place;
    const char *message;
  } rows[] = {
      {"output", NULL, INPUT_TMP, "a directory of that name is there"},
      {"same", "same", INPUT_TMP, "would be two files"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct stored stored;
    stored_init (&stored, rows[i].first, "x", 1);
    struct run_request *request = resolved_new ("1");
    bind_to (request, &stored, rows[i].place, rows[i].first);
    if (rows[i].second)
      bind_to (request, &stored, rows[i].place, rows[i].second);
    g_autoptr (json_t) result = run_resolved (request, "failed");
    g_assert_nonnull (strstr (error_at (result, "message"), rows[i].message));
    stored_clear (&stored);
  }
}

/* ---- attacks ---- */

/* Each ends without having changed the stored file, which stored_clear checks; what it says is its own. */
static const char *const attacks[] = {
    "os.chmod(P, 0o666)",
    "os.chmod(P, 0o6777)",
    "os.chown(P, os.getuid(), os.getgid())",
    "os.utime(P, (1, 1))",
    "os.truncate(P, 0)",
    "open(P, 'w').write('evil')",
    "open(P, 'r+b').write(b'evil')",
    "open(P, 'ab').write(b'evil')",
    "m = mmap.mmap(os.open(P, os.O_RDWR), 8); m[:4] = b'evil'; m.flush()",
    "mmap.mmap(os.open(P, os.O_RDONLY), 8, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)[:4] = b'evil'",
    "m = mmap.mmap(os.open(P, os.O_RDONLY), 8, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE); m[:4] = "
    "b'evil'",
    "m = mmap.mmap(os.open(P, os.O_RDONLY), 4096, mmap.MAP_SHARED, mmap.PROT_READ)\n"
    "libc.mprotect(ctypes.c_void_p(next(int(l.split('-')[0], 16) for l in open('/proc/self/maps') if 'data' "
    "in l)), 4096, 3)\n"
    "ctypes.memmove(next(int(l.split('-')[0], 16) for l in open('/proc/self/maps') if 'data' in l), b'evil', "
    "4)",
    "os.link(P, D + '/other'); open(D + '/other', 'w').write('evil')",
    "os.rename(P, D + '/other'); open(D + '/other', 'w').write('evil')",
    "os.link(P, '/dev/shm/other'); open('/dev/shm/other', 'w').write('evil')",
    "f = os.open(P, os.O_RDONLY); open('/proc/self/fd/%d' % f, 'w').write('evil')",
    "f = os.open(P, os.O_RDONLY); libc.linkat(-100, b'/proc/self/fd/%d' % f, -100, (D + '/l').encode(), "
    "0x400); open(D + '/l', 'w').write('evil')",
    "f = os.open(P, os.O_RDONLY); libc.ftruncate(f, 0); os.write(f, b'evil')",
    "f = os.open(P, os.O_RDONLY); fcntl.fcntl(f, fcntl.F_SETFL, os.O_RDWR); os.write(f, b'evil')",
    "f = os.open(P, os.O_WRONLY | 0o40000); os.write(f, b'e' * 4096)",
    "f = os.open(P, os.O_RDONLY); libc.fallocate(f, 0, 0, 1 << 20)",
    "f = os.open(P, os.O_RDONLY); libc.fallocate(f, 3, 0, 4096)",
    "f = os.open(P, os.O_RDONLY); fcntl.ioctl(f, 0x40086602, (0x10).to_bytes(8, 'little'))",
    "f = os.open(P, os.O_RDONLY); fcntl.ioctl(f, 0x40049409, os.open(D + '/new', os.O_RDWR | os.O_CREAT))",
    "f = os.open(P, os.O_RDONLY); s = os.open(D + '/new', os.O_RDWR | os.O_CREAT); os.write(s, b'evil'); "
    "libc.copy_file_range(s, None, f, None, 4, 0)",
    "f = os.open(P, os.O_RDONLY); r, w = os.pipe(); os.write(w, b'evil'); libc.splice(r, None, f, None, 4, "
    "0)",
    "f = os.open(P, os.O_RDONLY); r, w = os.pipe(); libc.splice(f, None, w, None, 4, 0); os.write(w, "
    "b'evil')",
    "os.setxattr(P, 'user.evil', b'evil')",
    "os.setxattr(P, 'user.overlay.redirect', b'/etc/passwd')",
    "os.setxattr(D, 'user.overlay.opaque', b'y')",
    "os.removexattr(P, 'user.overlay.origin')",
    "f = os.open(P, os.O_RDONLY | 0o1000000); os.read(f, 1)",
    "fcntl.flock(os.open(P, os.O_RDONLY), fcntl.LOCK_EX)",
    "fcntl.fcntl(os.open(P, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    "fcntl.fcntl(os.open(P, os.O_RDWR), 1024 + 9, 15)",
    "libc.renameat2(-100, P.encode(), -100, (D + '/n').encode(), 4)",
    "open(D + '/n', 'w').write('evil'); libc.renameat2(-100, P.encode(), -100, (D + '/n').encode(), 2); "
    "open(D + '/n', 'w').write('x')",
    "os.mkdir(D + '/d'); os.rename(P, D + '/d/x'); os.rmdir(D + '/d')",
    "os.remove(P); os.mknod(P); open(P, 'w').write('evil')",
    "os.remove(P); os.symlink('/work/../content', P); open(P, 'w').write('evil')",
    "libc.mount(b'none', D.encode(), None, 32 | 4096, None); open(P, 'w').write('evil')",
    "libc.umount2(D.encode(), 2); open(P, 'w').write('evil'); print(os.listdir(D))",
    "libc.unshare(0x10020000); libc.mount(b'none', b'/', None, 0x44000, None); libc.umount2(D.encode(), 2)",
    "[open(os.path.join(b, n), 'r+b').write(b'evil') for b, _, f in os.walk('/') for n in f if n == 'data']",
};

#define PRELUDE                                                                                              \
  "import ctypes, fcntl, mmap, os\n"                                                                         \
  "libc = ctypes.CDLL(None)\n"

static void
test_attacks (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (attacks); i++)
    for (gsize place = 0; place < INPUT_PLACES; place++) {
      struct stored stored;
      stored_init (&stored, "data", "content\n", 8);
      const char *name = input_place_name ((enum input_place)place);
      g_autofree char *code =
          g_strdup_printf (PRELUDE "D, P = '/%s', '/%s/data'\n%s", name, name, attacks[i]);
      struct run_request *request = resolved_new (code);
      bind_to (request, &stored, (enum input_place)place, "data");
      AdderRun *run = run_start (engine->engine, request);
      g_autoptr (AdderResult) result = pull (run);
      g_test_message ("%s: %s", attacks[i], adder_result_json (result));
      /* None is a failure of ours. */
      g_assert_cmpint (adder_result_outcome (result), !=, ADDER_OUTCOME_FAILED);
      adder_run_free (run);
      stored_clear (&stored);
    }
}

/* Where it lies, what else is there, and that its owner has a name for it: code learns nothing of that. */
static void
test_seen (void)
{
  struct stored stored;
  stored_init (&stored, "data", "content\n", 8);
  g_autofree char *other = g_build_filename (stored.home, "secret", NULL);
  g_assert_true (g_file_set_contents (other, "s", 1, NULL));
  struct run_request *request = resolved_new (
      "import os\n"
      "open('/work/data').read()\n"
      "import mmap\nf = open('/work/data', 'rb')\nm = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)\n"
      "text = open('/proc/self/mountinfo').read() + open('/proc/self/maps').read() + os.readlink("
      "'/proc/self/fd/%d' % f.fileno())\n"
      "print('home-' in text, 'links-' in text, os.stat('/work/data').st_uid == os.getuid())\n"
      "for way in ('/work/../secret', '/work/./../links/data', '/proc/self/cwd/../secret'):\n"
      "    print(os.path.exists(way))\n");
  bind_to (request, &stored, INPUT_WORK, "data");
  g_autoptr (json_t) result = run_resolved (request, "ok");
  g_assert_cmpstr (string_at (result, "stdout"), ==, "False False True\nFalse\nFalse\nFalse\n");
  stored_clear (&stored);
}

/* ---- the end ---- */

static void
note_release (gpointer data)
{
  (*(int *)data)++;
}

static void
test_release (void)
{
  struct stored stored;
  int released = 0;
  stored_init (&stored, "data", "content\n", 8);
  struct run_request *request = resolved_new ("open('/work/data').read()");
  bind_to (request, &stored, INPUT_WORK, "data");
  request->links.release = note_release;
  request->links.data = &released;
  json_decref (run_resolved (request, "ok"));
  g_assert_cmpint (released, ==, 1);
  stored_clear (&stored);
}

UNIT_SUITE (engine_inputs)
{
  g_test_init (&argc, &argv, NULL);
  if (!support_begin ())
    return 0;
  engine = new_engine (NULL);
  g_test_add_func ("/inputs/read", test_read);
  g_test_add_func ("/inputs/beside", test_beside);
  g_test_add_func ("/inputs/changed", test_changed);
  g_test_add_func ("/inputs/room", test_room);
  g_test_add_func ("/inputs/bad-names", test_bad_names);
  g_test_add_func ("/inputs/attacks", test_attacks);
  g_test_add_func ("/inputs/seen", test_seen);
  g_test_add_func ("/inputs/release", test_release);
  int r = g_test_run ();
  adder_engine_free (engine);
  support_end ();
  return r;
}
