/* SPDX-License-Identifier: Apache-2.0 */
/* Making an environment with added packages, in a thread of its own.
 *
 * The virtual environment uses the base's interpreter. A file in its site-packages (BASE_FILE) adds the
 * directories of the base, so that pip finds their packages and installs only the rest. pip is the base's,
 * and runs before anything was installed; after that the new interpreter, which would run the .pth files of
 * packages, starts in sandboxes only. So its needs are read from names and links (environment_read.c), and
 * the base's interpreter compiles.
 *
 * Each build has a thread, which shares with its waiters only their sockets (environment_with_making.c), on
 * which it reports its steps and its end: a byte for the kind, and text. It has copies of all else, since all
 * waiters may leave. If another process makes the same, the lock of the folder decides, and the other finds
 * it there.
 *
 * Packages are untrusted archives, which may unpack to a thousand times their size. So everything is written
 * below one folder, whose size is checked repeatedly, and the programs that write it have limits for each
 * file and for their memory. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/command.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/size.h"
#include "common/text.h"
#include "engine/host/environment_with_private.h"

#define VENV_MS    (2 * 60 * 1000)
#define LINE_BYTES 200
#define SAID_BYTES 2000
/* Of pip's last lines, in an error. */
#define TROUBLES_MAX 3

/* pip needs a tenth of it; some source code takes any amount to compile. */
#define MEMORY_BYTES ((guint64)2 << 30)

/* An unused interpreter ends sooner, unless the host is busy. */
#define ROOM_US      (10 * G_USEC_PER_SEC)
#define ROOM_LOOK_US (G_USEC_PER_SEC / 20)
/* Each time, unused interpreters of all owners end. */
#define ROOM_ASK_US G_USEC_PER_SEC

/* An empty file takes space as well. */
#define FILE_BYTES_LEAST 4096

#define BASE_FILE        "adder-base.pth"

/* On the socket. */
#define SAID_PROGRESS 'p'
#define SAID_ROOM     'm'
#define SAID_READY    'r'
#define SAID_FAILED   'f' /* followed by the error's code as a letter from A on */

struct build {
  char *base_name, *owner;
  GStrv with;
  /* From the configuration, which may end before the thread. */
  guint64 install_ms, build_bytes, environment_bytes;
  struct environment_with_room room;
  struct making_bounds bounds;
  gboolean sources;
  struct making *making;

  struct environment *base;
  char *folder, *venv, *python, *temporary;
};

static void
build_free (struct build *build)
{
  g_free (build->base_name);
  g_free (build->owner);
  g_strfreev (build->with);
  environment_free (build->base);
  g_free (build->folder);
  g_free (build->venv);
  g_free (build->python);
  g_free (build->temporary);
  g_free (build);
}

/* ---- messages ---- */

static char *
build_word (const char *kind, const char *text, gssize most)
{
  g_autofree char *line = text_one_line (text, most);
  return g_strconcat (kind, line, NULL);
}

static void
build_tell (const struct build *build, const char *text)
{
  const char kind[] = {SAID_PROGRESS, '\0'};
  g_autofree char *said = build_word (kind, text, LINE_BYTES);
  making_tell (build->making, said);
}

static void
build_end (struct build *build, const GError *error)
{
  const char ready[] = {SAID_READY, '\0'};
  const char failed[] = {SAID_FAILED, (char)('A' + (error ? error->code : 0)), '\0'};
  g_autofree char *said = build_word (error ? failed : ready, error ? error->message : "", SAID_BYTES);
  making_end (g_steal_pointer (&build->making), said);
}

/* ---- programs ---- */

struct build_listener {
  const struct build *build;
  const char *what;     /* its task: "install polars" */
  gboolean pip;         /* its output format is known */
  gboolean unreachable; /* it cannot reach the index */
  gboolean none;        /* it found no version that it may install */
  gboolean too_large;   /* a file exceeded its limit */
  GPtrArray *troubles;  /* the last lines that explain a failure */
};

static void
build_note_trouble (struct build_listener *listener, const char *line)
{
  /* Not every caller may learn where that is on this machine. */
  g_autofree char *folder = g_strconcat (listener->build->folder, "/", NULL);
  g_autoptr (GString) text = g_string_new (line);
  g_string_replace (text, folder, "", 0);
  if (listener->troubles->len == TROUBLES_MAX)
    g_ptr_array_remove_index (listener->troubles, 0);
  /* Such as a list of all existing versions. */
  if (text->len > LINE_BYTES) {
    const char *blank = g_strrstr_len (text->str, LINE_BYTES, " ");
    g_string_truncate (text, blank ? (gsize)(blank - text->str) : LINE_BYTES);
    g_string_append (text, " ...");
  }
  g_ptr_array_add (listener->troubles, text_one_line (text->str, -1));
  listener->too_large = listener->too_large || strstr (line, "[Errno 27]"); /* EFBIG */
}

static void
build_hear_line (const char *line, gboolean from_stderr, gpointer data)
{
  static const char *const told[] = {"Collecting ", "  Downloading ", "Installing collected packages: "};
  struct build_listener *listener = data;
  if (!listener->pip) {
    if (from_stderr && line[0] != '\0' && line[0] != ' ')
      build_note_trouble (listener, line);
    return;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (told); i++)
    if (g_str_has_prefix (line, told[i]))
      build_tell (listener->build, line + strspn (line, " "));
  if (g_str_has_prefix (line, "WARNING: Retrying"))
    listener->unreachable = TRUE;
  if (g_str_has_prefix (line, "ERROR: ")) {
    listener->none = listener->none || strstr (line, "(from versions: none)");
    build_note_trouble (listener, line + strlen ("ERROR: "));
  }
  if (g_str_has_prefix (line, "MemoryError"))
    build_note_trouble (listener, "it needs more memory than it may have");
}

/* ---- size ---- */

/* The disk space below PATH; above MOST, any larger number. */
static guint64
build_measure (const char *path, guint64 most)
{
  char *const paths[] = {(char *)(guintptr)path, NULL};
  guint64 bytes = 0;
  FTS *tree = fts_open (paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  for (const FTSENT *entry; tree && bytes <= most && (entry = fts_read (tree));)
    if (entry->fts_info != FTS_DP && entry->fts_info != FTS_NS)
      bytes += MAX ((guint64)entry->fts_statp->st_blocks * 512, FILE_BYTES_LEAST);
  if (tree)
    fts_close (tree);
  return bytes;
}

static void
build_set_too_large (const struct build *build, const char *what, GError **error)
{
  g_autofree char *most = size_format (build->build_bytes);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "cannot %s: that needs more than %s on disk while it is installed ([packages] build_bytes)",
               what, most);
}

static gboolean
build_check_size (gpointer data, GError **error)
{
  const struct build_listener *listener = data;
  const struct build *build = listener->build;
  if (build_measure (build->folder, build->build_bytes) <= build->build_bytes)
    return TRUE;
  build_set_too_large (build, listener->what, error);
  return FALSE;
}

/* ---- running ---- */

static void
build_set_failed (const struct build *build, const struct build_listener *listener, const char *what,
                  GError **error)
{
  if (listener->too_large) {
    build_set_too_large (build, what, error);
    return;
  }
  g_ptr_array_add (listener->troubles, NULL);
  g_autofree char *said = g_strjoinv ("; ", (GStrv)listener->troubles->pdata);
  const char *why = listener->unreachable ? "the package index cannot be reached: " : "";
  const char *wheels = listener->none && !listener->unreachable && !build->sources
                           ? " (only wheels are installed, see [packages] sources)"
                           : "";
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot %s: %s%s%s", what, why,
               said[0] ? said : "it ended without a word", wheels);
}

/* Runs ARGV to do WHAT ("install polars"). */
static gboolean
build_run (const struct build *build, const char *const *argv, gboolean pip, guint64 timeout_ms,
           const char *what, GError **error)
{
  struct build_listener listener = {
      .build = build, .what = what, .pip = pip, .troubles = g_ptr_array_new_with_free_func (g_free)};
  g_autofree char *temporary = g_strconcat ("TMPDIR=", build->temporary, NULL);
  const char *const settings[] = {temporary, NULL};
  struct command command = {.argv = argv,
                            .settings = settings,
                            .timeout_ms = (guint)timeout_ms,
                            .alone = TRUE,
                            .file_bytes = build->build_bytes,
                            .memory_bytes = MEMORY_BYTES,
                            .check = build_check_size,
                            .line = build_hear_line,
                            .data = &listener};
  int status = 0;
  gboolean ran = command_run (&command, &status, error);
  if (!ran && !g_error_matches (*error, ADDER_ERROR, ADDER_ERROR_REFUSED))
    g_prefix_error (error, "cannot %s: ", what);
  else if (status != 0)
    build_set_failed (build, &listener, what, error);
  g_ptr_array_unref (listener.troubles);
  return ran && status == 0;
}

/* ---- the steps ---- */

static gboolean
base_has_pip (const struct environment *base)
{
  for (gsize i = 0; base->packages[i]; i++) {
    g_autofree char *pip = g_build_filename (base->packages[i], "pip", "__main__.py", NULL);
    if (g_file_test (pip, G_FILE_TEST_EXISTS))
      return TRUE;
  }
  return FALSE;
}

static gboolean
build_make_venv (const struct build *build, GError **error)
{
  gboolean has_pip = base_has_pip (build->base);
  const char *const argv[] = {
      build->base->python,          "-I", "-m", "venv", has_pip ? "--without-pip" : build->venv,
      has_pip ? build->venv : NULL, NULL};
  build_tell (build, "making a virtual environment");
  return build_run (build, argv, FALSE, VENV_MS, "make a virtual environment", error);
}

/* A string of Python. */
static char *
python_quoted (const char *text)
{
  g_autofree char *escaped = g_strescape (text, NULL);
  return g_strconcat ("\"", escaped, "\"", NULL);
}

/* site.addsitedir instead of plain lines, so that .pth files of the base count too. */
static gboolean
build_join_base (const struct build *build, const char *packages, GError **error)
{
  g_autofree char *path = g_build_filename (packages, BASE_FILE, NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) cause = NULL;
  for (gsize i = 0; build->base->packages[i]; i++) {
    g_autofree char *quoted = python_quoted (build->base->packages[i]);
    g_string_append_printf (text, "import site; site.addsitedir(%s)\n", quoted);
  }
  if (g_file_set_contents (path, text->str, (gssize)text->len, &cause) && chmod (path, 0644) == 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot write %s: %s", path,
               cause ? cause->message : g_strerror (errno));
  return FALSE;
}

static gboolean
build_install (const struct build *build, GError **error)
{
  g_autoptr (GPtrArray) argv = environment_pip_install (build->python);
  g_ptr_array_add (argv, (gpointer) "--no-warn-script-location");
  /* Its cache grows without bound, and may hold what another user put there. */
  g_ptr_array_add (argv, (gpointer) "--no-cache-dir");
  if (!build->sources)
    g_ptr_array_add (argv, (gpointer) "--only-binary=:all:");
  g_ptr_array_add (argv, (gpointer) "--");
  for (gsize i = 0; build->with[i]; i++)
    g_ptr_array_add (argv, build->with[i]);
  g_ptr_array_add (argv, NULL);
  g_autofree char *names = g_strjoinv (", ", build->with);
  g_autofree char *what = g_strdup_printf ("install %s", names);
  g_autofree char *before = facts_stamp (build->python, NULL);
  if (!build_run (build, (const char *const *)argv->pdata, TRUE, build->install_ms, what, error))
    return FALSE;
  g_autofree char *after = facts_stamp (build->python, NULL);
  if (g_str_equal (before, after))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "cannot %s: a package replaces the interpreter",
               what);
  return FALSE;
}

/* The directory for temporary files of programs. */
static gboolean
build_make_temporary (const struct build *build, GError **error)
{
  return mkdir (build->temporary, 0700) == 0 ||
         error_from_errno (error, errno, "cannot make %s", build->temporary);
}

static gboolean
build_remove_temporary (const struct build *build, GError **error)
{
  autoclose int fd = open (build->temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  int result = fd < 0 ? -errno : environment_folder_clear (fd);
  if (result == 0 && rmdir (build->temporary) != 0)
    result = -errno;
  return result == 0 || error_from_errno (error, result, "cannot remove %s", build->temporary);
}

/* A lock on the directory of them all: what is made counts only once it is sealed, and others that are being
 * made would find the same room until then. The descriptor that holds it, or -1 with ERROR. */
static int
build_lock_room (GError **error)
{
  g_autofree char *directory = paths_with_dir ();
  autoclose int fd = open (directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (fd >= 0 && flock (fd, LOCK_EX) != 0)
    if (errno != EINTR)
      fd_close (&fd);
  if (fd < 0)
    error_from_errno (error, errno, "cannot lock %s", directory);
  return fd_steal (&fd);
}

/* A kept environment may be in use only because its interpreter is kept ready; a waiter for this build can
 * end that. No lock tells how long that takes, or when a run that uses it ends, so it is retried. The lock
 * under which there is room, or -1 with ERROR. */
static int
build_make_room (const struct build *build, GError **error)
{
  const char word[] = {SAID_ROOM, '\0'};
  gint64 ask_us = g_get_monotonic_time (), deadline_us = ask_us + ROOM_US;
  g_autoptr (GError) problem = NULL;
  for (;;) {
    autoclose int fd = build_lock_room (error);
    if (fd < 0 || environment_with_make_room (&build->room, &problem))
      return fd_steal (&fd);
    gint64 now_us = g_get_monotonic_time ();
    if (now_us >= deadline_us) {
      g_propagate_error (error, g_steal_pointer (&problem));
      return -1;
    }
    fd_close (&fd);
    g_clear_error (&problem);
    if (now_us >= ask_us) {
      making_tell (build->making, word);
      ask_us = now_us + ROOM_ASK_US;
    }
    g_usleep (ROOM_LOOK_US);
  }
}

static int
build_find_room (struct build *build, GError **error)
{
  build->room.bytes = build_measure (build->folder, G_MAXUINT64);
  if (build->room.bytes <= build->environment_bytes)
    return build_make_room (build, error);
  g_autofree char *has = size_format (build->room.bytes);
  g_autofree char *most = size_format (build->environment_bytes);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "the packages have %s, and may have %s ([packages] environment_bytes)", has, most);
  return -1;
}

/* Modules that cannot be compiled are still importable. */
static void
build_compile (const struct build *build)
{
  g_autofree char *library = g_build_filename (build->venv, "lib", NULL);
  const char *const argv[] = {build->base->python, "-I", "-m", "compileall", "-q", library, NULL};
  build_tell (build, "compiling");
  g_autoptr (GError) ignored = NULL;
  (void)build_run (build, argv, FALSE, build->install_ms, "compile", &ignored);
}

/* matplotlib's font list; another version of it makes its own. */
static void
build_copy_cache (const struct build *build)
{
  g_autoptr (GDir) listing = build->base->cache ? g_dir_open (build->base->cache, 0, NULL) : NULL;
  g_autofree char *cache = g_build_filename (build->folder, ENVIRONMENT_CACHE, NULL);
  if (!listing || mkdir (cache, 0755) != 0 || chmod (cache, 0755) != 0)
    return;
  for (const char *name; (name = g_dir_read_name (listing));) {
    g_autofree char *source = g_build_filename (build->base->cache, name, NULL);
    g_autofree char *target = g_build_filename (cache, name, NULL), *text = NULL;
    gsize length;
    if (g_str_has_prefix (name, "fontlist-") && g_file_get_contents (source, &text, &length, NULL) &&
        g_file_set_contents (target, text, (gssize)length, NULL))
      (void)chmod (target, 0644);
  }
}

/* ONE, and those of OTHER that are not inside one of them. The caller's. */
static GStrv
joined_paths (char *const *one, char *const *other)
{
  g_autoptr (GStrvBuilder) paths = g_strv_builder_new ();
  g_strv_builder_addv (paths, (const char **)(guintptr)one);
  for (gsize i = 0; other[i]; i++) {
    gboolean there = FALSE;
    for (gsize j = 0; one[j] && !there; j++)
      there = facts_is_below (other[i], one[j]);
    if (!there)
      g_strv_builder_add (paths, other[i]);
  }
  return g_strv_builder_end (paths);
}

static gboolean
build_seal (const struct build *build, struct facts *facts, int folder_fd, GError **error)
{
  const struct environment *base = build->base;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  GStrv roots = joined_paths (base->roots, facts->roots);
  GStrv packages = joined_paths (facts->packages, base->packages);
  g_strfreev (facts->roots);
  g_strfreev (facts->packages);
  g_free (facts->version);
  facts->roots = roots;
  facts->packages = packages;
  facts->version = g_strdup (base->version);
  g_key_file_set_string (file, ENVIRONMENT_GROUP, "python", facts->executable);
  g_key_file_set_string_list (file, ENVIRONMENT_GROUP, "modules", (const char *const *)base->modules,
                              g_strv_length (base->modules));
  facts_write (facts, file);
  g_key_file_set_string (file, ENVIRONMENT_GROUP, "base", base->name);
  g_key_file_set_string_list (file, ENVIRONMENT_GROUP, "with", (const char *const *)build->with,
                              g_strv_length (build->with));
  g_key_file_set_uint64 (file, ENVIRONMENT_GROUP, "bytes", build->room.bytes);
  environment_with_set_owner (build->folder, build->owner);
  return environment_folder_seal (build->folder, folder_fd, file, error);
}

static gboolean
build_fill (struct build *build, int folder_fd, GError **error)
{
  if (!build_make_temporary (build, error) || !build_make_venv (build, error))
    return FALSE;
  autofacts struct facts *facts = facts_by_names (build->python, error);
  if (!facts || !facts->packages[0] || !build_join_base (build, facts->packages[0], error) ||
      !build_install (build, error))
    return FALSE;
  build_compile (build);
  build_copy_cache (build);
  autoclose int room_fd = build_remove_temporary (build, error) ? build_find_room (build, error) : -1;
  return room_fd >= 0 && build_seal (build, facts, folder_fd, error);
}

/* ---- the whole ---- */

/* The directory of them all. Root's sandboxes are another user, who may have no access to a state directory,
 * but needs it to what is exposed to them. */
static gboolean
make_with_directory (GError **error)
{
  g_autofree char *state = paths_state_dir (error);
  g_autofree char *directory = paths_with_dir ();
  if (!state)
    return FALSE;
  if (mkdir (directory, geteuid () == 0 ? 0755 : 0700) == 0 || errno == EEXIST)
    return TRUE;
  return error_from_errno (error, errno, "cannot make %s", directory);
}

static gboolean
build_await_turn (const struct build *build, GError **error)
{
  const char kind[] = {SAID_PROGRESS, '\0'};
  g_autofree char *said = build_word (kind, "waiting until fewer packages are being installed", LINE_BYTES);
  return making_await_turn (build->making, &build->bounds, said, error);
}

/* The folder, if it must be filled; -1 without ERROR if somebody else has done so. */
static int
build_claim (const struct build *build, GError **error)
{
  while (!environment_with_is_ready (build->folder)) {
    g_autoptr (GError) problem = NULL;
    int fd = environment_folder_claim (build->folder, TRUE, &problem);
    if (fd >= 0)
      return fd;
    if (!g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY)) {
      g_propagate_error (error, g_steal_pointer (&problem));
      return -1;
    }
    build_tell (build, "waiting for another run that installs the same");
    environment_folder_wait (build->folder);
  }
  return -1;
}

static gboolean
build_make (struct build *build, GError **error)
{
  build->base = environment_with_base (build->base_name, error);
  if (!build->base || !build_await_turn (build, error) || !make_with_directory (error))
    return FALSE;
  g_autofree char *name =
      environment_with_name (build->base, (const char *const *)build->with, build->sources);
  build->folder = environment_with_folder (name);
  build->venv = g_build_filename (build->folder, "venv", NULL);
  build->python = g_build_filename (build->venv, "bin", "python", NULL);
  build->temporary = g_build_filename (build->folder, "tmp", NULL);
  autoclose int fd = build_claim (build, error);
  /* The previous holder of the lock may have made it. */
  if (fd < 0 || environment_with_is_ready (build->folder))
    return environment_with_is_ready (build->folder);
  environment_with_sweep ();
  int result = environment_folder_clear (fd); /* left by a crash */
  if (result != 0)
    return error_from_errno (error, result, "cannot clear %s", build->folder);
  if (fchmod (fd, 0755) != 0)
    return error_from_errno (error, errno, "cannot open %s to all", build->folder);
  if (build_fill (build, fd, error))
    return TRUE;
  environment_folder_remove (build->folder, fd, NULL);
  return FALSE;
}

static gpointer
build_thread (gpointer data)
{
  struct build *build = data;
  g_autoptr (GError) error = NULL;
  (void)build_make (build, &error);
  build_end (build, error);
  build_free (build);
  return NULL;
}

static struct build *
build_new (const struct environment_with_order *order, const struct config *config)
{
  struct build *build = g_new0 (struct build, 1);
  build->base_name = g_strdup (order->base);
  build->owner = g_strdup (order->owner ? order->owner : "");
  build->with = g_strdupv ((GStrv)(guintptr)order->requirements);
  build->install_ms = config->packages_install_ms;
  build->build_bytes = config_packages_build_bytes (config);
  build->environment_bytes = config->packages_environment_bytes;
  build->sources = config->packages_sources;
  build->room = (struct environment_with_room){
      .owner = build->owner,
      .owner_bytes = config_packages_owner_bytes (config),
      .owner_sets = config->packages_sets_owner,
      .all_bytes = config->packages_cache_bytes,
      .all_sets = config->packages_sets,
  };
  build->bounds = (struct making_bounds){
      .most = config->packages_builds,
      .of_owner = config->packages_builds_owner,
      .waiting = config->packages_builds_waiting,
      .wait_ms = config->packages_install_ms,
  };
  return build;
}

int
environment_with_start (const struct environment_with_order *order, const struct config *config,
                        GError **error)
{
  int ends[2];
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
    error_from_errno (error, errno, "cannot make a socket");
    return -1;
  }
  autoclose int heard = ends[0];
  gboolean listens;
  struct build *build = build_new (order, config);
  build->making = making_begin (order->name, build->owner, &build->bounds, ends[1], &listens, error);
  if (!listens)
    close (ends[1]);
  if (!build->making) { /* another makes it, or it is not allowed */
    build_free (build);
    return listens ? fd_steal (&heard) : -1;
  }
  g_autoptr (GError) problem = NULL;
  GThread *thread = g_thread_try_new ("adder-packages", build_thread, build, &problem);
  if (thread) {
    g_thread_unref (thread);
    return fd_steal (&heard);
  }
  build_end (build, problem);
  build_free (build);
  g_propagate_error (error, g_steal_pointer (&problem));
  return -1;
}

enum environment_with_said
environment_with_read (int fd, char **ret_text, GError **error)
{
  char said[SAID_BYTES + 8];
  ssize_t got;
  while ((got = recv (fd, said, sizeof said - 1, 0)) < 0 && errno == EINTR)
    continue;
  said[MAX (got, 0)] = '\0';
  switch (said[0]) {
  case SAID_PROGRESS:
    *ret_text = g_strdup (said + 1);
    return ENVIRONMENT_WITH_PROGRESS;
  case SAID_ROOM:
    return ENVIRONMENT_WITH_ROOM;
  case SAID_READY:
    return ENVIRONMENT_WITH_READY;
  case SAID_FAILED:
    g_set_error_literal (error, ADDER_ERROR, said[1] - 'A', said[1] ? said + 2 : "");
    return ENVIRONMENT_WITH_FAILED;
  default:
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the installation ended without a word");
    return ENVIRONMENT_WITH_FAILED;
  }
}
