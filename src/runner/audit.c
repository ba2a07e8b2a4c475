/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. An audit event comes before the operation that it announces, and there are thousands
 * of them in one import. So those that cannot be a denial are dropped here, at the cost of a comparison or an
 * access(2); the few that are left go to denials.py, which decides.
 *
 * Before that the watch over guarded code may refuse the event (watch.c). What denials.py asks for meanwhile
 * is no exception: it is Python, and code could have put its own in the place.
 *
 * That a limit is met shows in an operation's errno, which no event carries. Where the same request can be
 * made without effect, it is made: a descriptor more, a process more. Files that grow too large have a
 * signal.
 */
#include "runner/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "runner/watch.h"
#include "runner/wire.h"

/* Not in the limited API, but in every CPython from 3.8 on, and with this signature. Weak: without it an
 * interpreter runs all the same, and denials are known by exceptions alone. */
extern int PySys_AddAuditHook (int (*hook) (const char *event, PyObject *arguments, void *data), void *data)
    __attribute__ ((weak));

enum event_kind {
  EVENT_ANY,     /* denials.py decides */
  EVENT_OPEN,    /* path, mode, flags */
  EVENT_READ,    /* a path that is read or executed */
  EVENT_WRITE,   /* a path, or two, that are changed */
  EVENT_START,   /* of a process or thread */
  EVENT_COMMAND, /* a process that is told what to do: denials.py looks whether it installs packages */
};

static const struct event {
  const char *name;
  enum event_kind kind;
} events[] = {
    {"open", EVENT_OPEN},
    {"os.chdir", EVENT_READ},
    {"os.chmod", EVENT_WRITE},
    {"os.chown", EVENT_WRITE},
    {"os.exec", EVENT_COMMAND},
    {"os.fork", EVENT_START},
    {"os.forkpty", EVENT_START},
    {"os.link", EVENT_WRITE},
    {"os.listdir", EVENT_READ},
    {"os.mkdir", EVENT_WRITE},
    {"os.posix_spawn", EVENT_COMMAND},
    {"os.remove", EVENT_WRITE},
    {"os.rename", EVENT_WRITE},
    {"os.rmdir", EVENT_WRITE},
    {"os.scandir", EVENT_READ},
    {"os.symlink", EVENT_WRITE},
    {"os.system", EVENT_COMMAND},
    {"os.truncate", EVENT_WRITE},
    {"os.utime", EVENT_WRITE},
    {"shutil.rmtree", EVENT_WRITE},
    {"socket.__new__", EVENT_ANY},
    {"socket.connect", EVENT_ANY},
    {"socket.getaddrinfo", EVENT_ANY},
    {"socket.gethostbyaddr", EVENT_ANY},
    {"socket.gethostbyname", EVENT_ANY},
    {"socket.sendto", EVENT_ANY},
    {"socket.sethostname", EVENT_ANY},
    {"sqlite3.connect", EVENT_READ},
    {"subprocess.Popen", EVENT_COMMAND},
    {"ctypes.dlsym", EVENT_ANY},
    {"_thread.start_joinable_thread", EVENT_START},
    {"_thread.start_new_thread", EVENT_START},
};

/* One page that a sandbox shares with its children. */
struct limits_met {
  volatile bool file_size, open_files, pids;
};

static struct limits_met unshared;
static struct limits_met *met = &unshared;
static PyObject *watcher;
static PyInterpreterState *interpreter; /* that the watcher is of */

/* What denials.py does raises events of its own. */
static __thread bool busy;

/* ---- limits ---- */

static void
note_descriptors (void)
{
  int fd = fcntl (WIRE_SOCKET_FD, F_DUPFD_CLOEXEC, 0);
  if (fd >= 0)
    close (fd);
  else if (errno == EMFILE)
    met->open_files = true;
}

static int
audit_leave (void *data)
{
  (void)data;
  _exit (0);
}

/* A control group counts what it refuses; RLIMIT_NPROC does not. So one more is made, which ends at once: it
 * has no exit signal, so whoever waits for children does not see it. */
static void
note_processes (void)
{
  static char stack[16384] __attribute__ ((aligned (16)));
  pid_t pid = clone (audit_leave, stack + sizeof stack, CLONE_VM | CLONE_VFORK, NULL);
  if (pid < 0 && errno == EAGAIN)
    met->pids = true;
  while (pid > 0 && waitpid (pid, NULL, __WALL) < 0 && errno == EINTR)
    ;
}

static void
note_file_size (int number)
{
  (void)number;
  met->file_size = true;
}

/* Nobody outside can look into it: the daemon has the workspace only. */
static bool
is_shared_memory_full (void)
{
  struct statfs fs;
  return statfs ("/dev/shm", &fs) == 0 && fs.f_blocks > 0 && fs.f_bfree == 0;
}

int
audit_note_limits (void)
{
  void *page = mmap (NULL, sizeof *met, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return -errno;
  met = page;
  memset (page, 0, sizeof *met);
  /* Python ignores this signal, and so do its children; a write fails either way. */
  struct sigaction action = {.sa_handler = note_file_size, .sa_flags = SA_RESTART};
  return sigaction (SIGXFSZ, &action, NULL) < 0 ? -errno : 0;
}

void
audit_forget_limits (void)
{
  memset (met, 0, sizeof *met);
}

PyObject *
audit_limits_met (bool threads)
{
  note_descriptors ();
  /* They are announced from CPython 3.12 on only. */
  if (threads)
    note_processes ();
  const struct {
    bool met;
    enum limit limit;
  } limits[] = {
      {met->file_size, LIMIT_FILE_SIZE},
      {met->open_files, LIMIT_OPEN_FILES},
      {met->pids, LIMIT_PIDS},
      {is_shared_memory_full (), LIMIT_SHM},
  };
  bool any = false;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    any |= limits[i].met;
  if (!any)
    Py_RETURN_NONE;
  PyObject *list = PyList_New (0);
  for (size_t i = 0; list && i < sizeof limits / sizeof limits[0]; i++) {
    if (!limits[i].met)
      continue;
    PyObject *name = PyUnicode_FromString (limit_table[limits[i].limit].name);
    if (!name || PyList_Append (list, name) < 0)
      Py_CLEAR (list);
    Py_XDECREF (name);
  }
  return list;
}

/* ---- events ---- */

static bool tries_reading;

void
audit_try_reading (void)
{
  tries_reading = true;
}

/* What is no plain file is not opened for the trial, which others could notice. */
static bool
can_read (const char *path)
{
  struct stat info;
  if (access (path, R_OK) < 0)
    return false;
  if (!tries_reading || stat (path, &info) < 0 || !(S_ISREG (info.st_mode) || S_ISDIR (info.st_mode)))
    return true;
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return fd >= 0 || errno != EACCES;
}

/* Whether item INDEX of ARGUMENTS is an absolute path, and, when it would be READ, one that cannot be. What a
 * relative path leads to is the run's own folder, unless the code went elsewhere: an exception then tells. */
static bool
may_be_refused (PyObject *arguments, Py_ssize_t index, bool reads)
{
  PyObject *path = index < PyTuple_Size (arguments) ? PyTuple_GetItem (arguments, index) : NULL;
  PyObject *bytes = NULL;
  if (path && PyUnicode_Check (path))
    bytes = PyUnicode_EncodeFSDefault (path);
  else if (path && PyBytes_Check (path)) {
    Py_INCREF (path);
    bytes = path;
  }
  if (!bytes) {
    PyErr_Clear ();
    return false;
  }
  const char *text = PyBytes_AsString (bytes);
  bool may = text[0] == '/' && !(reads && can_read (text));
  Py_DECREF (bytes);
  return may;
}

static bool
audit_opens_for_reading (PyObject *arguments)
{
  PyObject *flags = PyTuple_Size (arguments) > 2 ? PyTuple_GetItem (arguments, 2) : NULL;
  if (!flags || !PyLong_Check (flags))
    return false;
  return (PyLong_AsUnsignedLongMask (flags) & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY;
}

/* Whether denials.py has to look at it. */
static bool
concerns (const struct event *event, PyObject *arguments)
{
  switch (event->kind) {
  case EVENT_ANY:
    return true;
  case EVENT_OPEN:
    note_descriptors ();
    return may_be_refused (arguments, 0, audit_opens_for_reading (arguments));
  case EVENT_COMMAND:
    note_processes ();
    return true;
  case EVENT_READ:
    return may_be_refused (arguments, 0, true);
  case EVENT_WRITE:
    return may_be_refused (arguments, 0, false) || may_be_refused (arguments, 1, false);
  case EVENT_START:
    note_processes ();
    return false;
  }
  return false;
}

static const struct event *
audit_find_event (const char *name)
{
  /* Most events are of the interpreter itself: compile, exec, import, object.__getattr__ and the like. */
  if (!strchr ("osc_", name[0]) || strncmp (name, "object.", 7) == 0 || strncmp (name, "sys.", 4) == 0)
    return NULL;
  for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
    if (strcmp (events[i].name, name) == 0)
      return &events[i];
  return NULL;
}

static int
hook (const char *name, PyObject *arguments, void *data)
{
  (void)data;
  if (watch_is_on && watch_look (name, arguments) < 0)
    return -1;
  if (!watcher || PyInterpreterState_Get () != interpreter)
    return 0;
  const struct event *event = busy ? NULL : audit_find_event (name);
  if (!event || !arguments || !PyTuple_Check (arguments) || !concerns (event, arguments))
    return 0;
  busy = true;
  PyObject *done = PyObject_CallFunction (watcher, "sO", name, arguments);
  busy = false;
  Py_XDECREF (done);
  if (done)
    return 0;
  /* An Exception is ours, or of a lack of stack or memory, and none of the code's business. What is no
   * Exception was raised by a signal's handler meanwhile, and is. */
  if (!PyErr_ExceptionMatches (PyExc_Exception))
    return -1;
  PyErr_Clear ();
  return 0;
}

int
audit_watch (PyObject *callable)
{
  Py_INCREF (callable);
  watcher = callable;
  return audit_listen ();
}

int
audit_listen (void)
{
  if (interpreter || !PySys_AddAuditHook)
    return 0;
  interpreter = PyInterpreterState_Get ();
  return PySys_AddAuditHook (hook, NULL);
}
