/* SPDX-License-Identifier: Apache-2.0 */
/* A path is resolved beneath a root by the kernel (openat2, RESOLVE_BENEATH), so neither ".." nor a symbolic
 * link leads out, even if files change meanwhile. It is first opened without side effects (O_PATH) and
 * checked: a pipe or a device is never opened for reading. */
#include "interfaces/cli/mcp/cli_mcp_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/syscalls.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/mcp/local_files.h"

#define ROOTS_MOST    256
#define SHOWN_BYTES   200
#define OPENINGS_MOST 64 /* files being opened at once, including those that nobody waits for */

LOCK_CLASS (cli_mcp_files);

struct cli_mcp_files {
  gint references; /* atomic: the owner's, and one of each thread that opens a file */
  int channel;     /* -1: none yet */
  GThread *thread;
  MUTEX (cli_mcp_files) lock;
  GUARDED_BY (cli_mcp_files) guint openings;    /* threads that open a file */
  GUARDED_BY (cli_mcp_files) gboolean declared; /* the client has roots */
  GUARDED_BY (cli_mcp_files) GPtrArray *roots;  /* their paths; NULL: not yet received */
};

/* ---- the client's roots ---- */

static GPtrArray *
cli_mcp_files_paths (const json_t *roots)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  gsize index;
  json_t *root;
  json_array_foreach ((json_t *)(guintptr)roots, index, root)
  {
    const char *uri = json_string_value (json_object_get (root, "uri"));
    char *path = uri && paths->len < ROOTS_MOST ? g_filename_from_uri (uri, NULL, NULL) : NULL;
    if (path)
      g_ptr_array_add (paths, path);
  }
  return paths;
}

/* The list of roots in MESSAGE: a legacy client's answer, or one of a modern client's answers. NULL: none. */
static const json_t *
cli_mcp_files_roots_in (const json_t *message)
{
  const char *key;
  json_t *answer;
  const json_t *roots = json_object_get (json_object_get (message, "result"), "roots");
  json_t *answers = json_object_get (json_object_get (message, "params"), "inputResponses");
  json_object_foreach (answers, key, answer)
  {
    if (!roots)
      roots = json_object_get (answer, "roots");
  }
  return json_is_array (roots) ? roots : NULL;
}

static gboolean
cli_mcp_files_declares (const json_t *message)
{
  const json_t *params = json_object_get (message, "params");
  const json_t *modern = json_object_get (json_object_get (params, "_meta"), MCP_META_CAN);
  return json_is_object (json_object_get (json_object_get (params, "capabilities"), "roots")) ||
         json_is_object (json_object_get (modern, "roots"));
}

void
cli_mcp_files_hear (struct cli_mcp_files *files, const json_t *message)
{
  const json_t *roots = cli_mcp_files_roots_in (message);
  g_mutex_lock (&files->lock);
  files->declared |= cli_mcp_files_declares (message);
  if (roots) {
    g_clear_pointer (&files->roots, g_ptr_array_unref);
    files->roots = cli_mcp_files_paths (roots);
  }
  g_mutex_unlock (&files->lock);
}

/* ---- one file ---- */

/* Whether PATH is the current directory or below it, by any name. */
static gboolean
cli_mcp_files_is_here_or_below (const char *path)
{
  struct stat here, at;
  autoclose int fd = path ? open (path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd < 0 || stat (".", &here) < 0)
    return FALSE;
  while (fstat (fd, &at) == 0) {
    if (at.st_dev == here.st_dev && at.st_ino == here.st_ino)
      return TRUE;
    int above = openat (fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat parent;
    if (above < 0 || fstat (above, &parent) < 0 ||
        (parent.st_dev == at.st_dev && parent.st_ino == at.st_ino)) {
      fd_close (&above);
      return FALSE;
    }
    fd_close (&fd);
    fd = above;
  }
  return FALSE;
}

/* The home directory contains the user's keys, and so do its parents. */
static gboolean
is_too_wide (void)
{
  char room[4096];
  struct passwd entry, *user = NULL;
  (void)getpwuid_r (geteuid (), &entry, room, sizeof room, &user);
  return cli_mcp_files_is_here_or_below ("/") || cli_mcp_files_is_here_or_below (g_get_home_dir ()) ||
         (user && cli_mcp_files_is_here_or_below (user->pw_dir));
}

/* The directories that may hold files: paths, the caller's. NULL with ERROR. */
static GPtrArray *
cli_mcp_files_places (struct cli_mcp_files *files, GError **error)
{
  g_mutex_lock (&files->lock);
  GPtrArray *places = files->roots ? g_ptr_array_ref (files->roots) : NULL;
  gboolean declared = files->declared;
  g_mutex_unlock (&files->lock);
  if (places)
    return places;
  g_autofree char *here = g_get_current_dir ();
  if (declared)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "the client did not say what its roots are");
  else if (is_too_wide ())
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                 "no files of %s are opened, since the client names no roots: ask the user to have it start "
                 "adder mcp in "
                 "the directory that has the files",
                 here);
  else {
    places = g_ptr_array_new_with_free_func (g_free);
    g_ptr_array_add (places, g_steal_pointer (&here));
  }
  return places;
}

/* PATH relative to ROOT, "data/a.csv", in PATH; NULL: not below it, by its text. */
static const char *
cli_mcp_files_below (const char *root, const char *path)
{
  gsize length = strlen (root);
  while (length > 0 && root[length - 1] == '/')
    length--;
  if (path[0] == '/') {
    if (strncmp (path, root, length) != 0 || path[length] != '/')
      return NULL;
    path += length;
  }
  while (path[0] == '/' || g_str_has_prefix (path, "./"))
    path += path[0] == '/' ? 1 : 2;
  return path[0] != '\0' ? path : NULL;
}

static gboolean
cli_mcp_files_goes_up (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);
  return g_strv_contains ((const char *const *)parts, "..");
}

/* NAME beneath ROOT, opened read-only. -1 with errno; ENOENT: there is none. */
static int
cli_mcp_files_open_in (const char *root, const char *name)
{
  struct stat is;
  autoclose int directory = open (root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return -1;
  autoclose int found =
      sys_openat2 (directory, name, O_PATH | O_CLOEXEC, 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
  if (found < 0 || fstat (found, &is) < 0)
    return -1;
  if (!S_ISREG (is.st_mode)) {
    errno = S_ISDIR (is.st_mode) ? EISDIR : EINVAL;
    return -1;
  }
  g_autofree char *same = g_strdup_printf ("/proc/self/fd/%d", found);
  return open (same, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

static const char *
cli_mcp_files_reason (int problem)
{
  switch (problem) {
  case ENOENT:
    return "there is no such file";
  case EXDEV:
    return "a symbolic link leads out of it";
  case EISDIR:
    return "it is a directory";
  case EINVAL:
    return "it is no regular file";
  default:
    return g_strerror (problem);
  }
}

/* PATH, opened; *RET_NAME in it is its name in the run. -1 with ERROR. */
static int
cli_mcp_files_open (struct cli_mcp_files *files, const char *path, const char **ret_name, GError **error)
{
  g_autoptr (GPtrArray) places = cli_mcp_files_places (files, error);
  g_autofree char *shown = text_one_line (path, SHOWN_BYTES);
  int problem = 0;
  if (!places) {
    g_prefix_error (error, "cannot open %s: ", shown);
    return -1;
  }
  for (guint i = 0; i < places->len && !cli_mcp_files_goes_up (path); i++) {
    const char *name = cli_mcp_files_below (places->pdata[i], path);
    int fd = name ? cli_mcp_files_open_in (places->pdata[i], name) : -1;
    if (fd >= 0) {
      *ret_name = name;
      return fd;
    }
    if (name && (problem == 0 || problem == ENOENT))
      problem = errno;
  }
  g_autofree char *where = places->len > 0 ? text_one_line (places->pdata[0], SHOWN_BYTES) : NULL;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "cannot open %s in %s%s: %s", shown,
               where ? where : "the client's roots", places->len > 1 ? " or another root" : "",
               problem           ? cli_mcp_files_reason (problem)
               : places->len > 0 ? "it lies outside"
                                 : "there are none");
  return -1;
}

/* ---- the channel ---- */

/* A request, and where its answer goes. */
struct opening {
  struct cli_mcp_files *files; /* a reference */
  char *packet;
  gsize length;
  int answer_fd;
};

static struct cli_mcp_files *
cli_mcp_files_ref (struct cli_mcp_files *files)
{
  g_atomic_int_inc (&files->references);
  return files;
}

static void
cli_mcp_files_unref (struct cli_mcp_files *files)
{
  if (!g_atomic_int_dec_and_test (&files->references))
    return;
  UNSHARED (cli_mcp_files);
  g_clear_pointer (&files->roots, g_ptr_array_unref);
  g_mutex_clear (&files->lock);
  g_free (files);
}

static void
opening_free (struct opening *opening)
{
  fd_close (&opening->answer_fd);
  g_free (opening->packet);
  cli_mcp_files_unref (opening->files);
  g_free (opening);
}

/* Sends the descriptor FD under NAME, or else PROBLEM; dropped if nobody waits for it. The thread that takes
 * requests sends refusals, so they must not block. */
static void
opening_answer (const struct opening *opening, int fd, const char *name, const char *problem)
{
  g_autoptr (json_t) answer = fd >= 0 ? json_pack ("{s:o}", "name", json_text_or_null (name))
                                      : json_pack ("{s:o}", "error", json_text_or_null (problem));
  g_autofree char *text = json_to_text (answer);
  if (fd >= 0)
    (void)fd_send (opening->answer_fd, text, strlen (text), &fd, 1);
  else
    (void)send (opening->answer_fd, text, strlen (text), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* In a thread of its own, which a file system may block indefinitely. */
static gpointer
cli_mcp_files_carry_out (gpointer data)
{
  struct opening *opening = data;
  struct cli_mcp_files *files = opening->files;
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) question =
      json_parse_object (opening->packet, opening->length, "the question", &problem);
  const char *path = json_string_value (json_object_get (question, "path")), *name = NULL;
  autoclose int fd = path ? cli_mcp_files_open (files, path, &name, &problem) : -1;
  opening_answer (opening, fd, name, problem ? problem->message : "no path");
  g_mutex_lock (&files->lock);
  files->openings--;
  g_mutex_unlock (&files->lock);
  opening_free (opening);
  return NULL;
}

/* Takes OPENING. */
static void
cli_mcp_files_start (struct opening *opening)
{
  struct cli_mcp_files *files = opening->files;
  g_mutex_lock (&files->lock);
  gboolean starts = files->openings < OPENINGS_MOST;
  files->openings += starts;
  g_mutex_unlock (&files->lock);
  GThread *thread = starts ? g_thread_try_new ("open", cli_mcp_files_carry_out, opening, NULL) : NULL;
  if (thread) {
    g_thread_unref (thread);
    return;
  }
  g_mutex_lock (&files->lock);
  files->openings -= starts;
  g_mutex_unlock (&files->lock);
  opening_answer (opening, -1, NULL,
                  "cannot open more local files: earlier ones still wait for their file system");
  opening_free (opening);
}

static gpointer
cli_mcp_files_serve (gpointer data)
{
  struct cli_mcp_files *files = data;
  g_autofree char *packet = g_malloc (LOCAL_FILES_PACKET);
  for (;;) {
    gsize count = 0;
    autoclose int answer_fd = -1;
    ssize_t got = fd_receive (files->channel, packet, LOCAL_FILES_PACKET, &answer_fd, 1, &count);
    if (got <= 0)
      return NULL;
    if (count == 0)
      continue;
    struct opening *opening = g_new0 (struct opening, 1);
    *opening = (struct opening){cli_mcp_files_ref (files), g_memdup2 (packet, (gsize)got), (gsize)got,
                                fd_steal (&answer_fd)};
    cli_mcp_files_start (opening);
  }
}

struct cli_mcp_files *
cli_mcp_files_new (void)
{
  struct cli_mcp_files *files = g_new0 (struct cli_mcp_files, 1);
  files->references = 1;
  files->channel = -1;
  g_mutex_init (&files->lock);
  return files;
}

static void
cli_mcp_files_close (struct cli_mcp_files *files)
{
  if (!files->thread)
    return;
  shutdown (files->channel, SHUT_RDWR);
  g_thread_join (g_steal_pointer (&files->thread));
  fd_close (&files->channel);
}

int
cli_mcp_files_connect (struct cli_mcp_files *files, GError **error)
{
  int ends[2];
  cli_mcp_files_close (files);
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
    error_from_errno (error, errno, "cannot make a pair of sockets");
    return -1;
  }
  files->channel = ends[0];
  files->thread = g_thread_new ("files", cli_mcp_files_serve, files);
  return ends[1];
}

void
cli_mcp_files_free (struct cli_mcp_files *files)
{
  cli_mcp_files_close (files);
  cli_mcp_files_unref (files);
}
