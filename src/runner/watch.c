/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. What gets past the guard's look at the syntax is Python in the same interpreter as the
 * runner: it finds every object there is and can change it. So nothing that decides here is an object, and
 * there is no way to switch the watch off, which the runner could use and code could then use as well.
 *
 * Instead, what the runner and libraries need meanwhile is let through for whoever asks, by what is asked:
 * - reading what Python is made of;
 * - while something is imported: reading, and files in the place for temporary ones. That something is being
 *   imported is what names of files on the stack say, and code that is past the guard can forge these. So an
 *   import starts no process, opens no socket and looks up no function of C;
 * - while the daemon waits for a branch: files, for the runner copies the session's.
 * Files of the runner's own are made without an event (output.c).
 *
 * Extension modules can be loaded from where Python is made of alone: with code of the processor's all of
 * this ends, as it does for whoever can write to memory at will.
 */
#include "runner/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Not in the limited API, but in every CPython from 3.9 on, and with this signature. */
extern PyFrameObject *PyFrame_GetBack (PyFrameObject *) __attribute__ ((weak));

enum use {
  USE_READS,
  USE_OPENS,    /* reads or changes, by mode and flags */
  USE_CHANGES,  /* a path */
  USE_MOVES,    /* a path to another */
  USE_BRANCHES, /* what only branches need */
  USE_SETS,     /* what is the process's own */
  USE_LOADS,
};

static const struct allowance {
  const char *name;
  enum use use;
} allowances[] = {
    {"open", USE_OPENS},
    {"os.listdir", USE_READS},
    {"os.scandir", USE_READS},
    {"os.walk", USE_READS}, /* announces what listing then asks for, as the next do */
    {"os.fwalk", USE_READS},
    {"glob.glob", USE_READS},
    {"glob.glob/2", USE_READS},
    {"tempfile.mkdtemp", USE_CHANGES},
    {"tempfile.mkstemp", USE_CHANGES},
    {"os.chmod", USE_CHANGES},
    {"os.mkdir", USE_CHANGES},
    {"os.remove", USE_CHANGES},
    {"os.rename", USE_MOVES},
    {"os.truncate", USE_CHANGES},
    {"os.utime", USE_CHANGES},
    {"os.symlink", USE_BRANCHES},
    {"os.chdir", USE_BRANCHES},
    {"os.putenv", USE_SETS},
    {"os.unsetenv", USE_SETS},
    {"ctypes.dlopen", USE_LOADS},
};

bool watch_is_on;

static struct watch_rules rules;
static bool branching;

int
watch_start (const struct watch_rules *given)
{
  if (watch_is_on)
    return -EPERM;
  rules = *given;
  watch_is_on = true;
  return 0;
}

void
watch_branching (bool begins)
{
  branching = begins;
}

/* ---- words ---- */

/* WORD is a name, in which a star stands for anything. */
static bool
watch_fits (const char *word, const char *name)
{
  for (; *word != '*'; word++, name++) {
    if (*word != *name)
      return false;
    if (*word == '\0')
      return true;
  }
  if (word[1] == '\0')
    return true;
  for (; *name; name++)
    if (watch_fits (word + 1, name))
      return true;
  return false;
}

static bool
is_refused (const char *event)
{
  /* In each run, and in what libraries do. */
  if (strcmp (event, "compile") == 0 || strcmp (event, "exec") == 0 || strcmp (event, "import") == 0)
    return false;
  bool refused = false;
  for (const char *const *word = rules.words; *word; word++) {
    if ((*word)[0] == '!' && watch_fits (*word + 1, event))
      return false;
    refused = refused || watch_fits (*word, event);
  }
  return refused;
}

/* ---- arguments ---- */

static PyObject *
item (PyObject *arguments, Py_ssize_t index)
{
  return arguments && PyTuple_Check (arguments) && index < PyTuple_Size (arguments)
             ? PyTuple_GetItem (arguments, index)
             : NULL;
}

static bool
watch_is_in (const char *path, const char *const *directories)
{
  for (; *directories; directories++) {
    size_t length = strlen (*directories);
    if (strncmp (path, *directories, length) == 0 ||
        (strlen (path) == length - 1 && strncmp (path, *directories, length - 1) == 0))
      return true;
  }
  return false;
}

/* Whether argument INDEX is always an absolute path below one of DIRECTORIES. */
static bool
watch_is_below (PyObject *arguments, Py_ssize_t index, const char *const *directories)
{
  PyObject *path = item (arguments, index);
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
  bool below = !strstr (text, "..") && watch_is_in (text, directories);
  Py_DECREF (bytes);
  return below;
}

static bool
watch_opens_for_reading (PyObject *arguments)
{
  PyObject *mode = item (arguments, 1), *flags = item (arguments, 2);
  const int writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  if (!flags || !PyLong_Check (flags) || (PyLong_AsUnsignedLongMask (flags) & (unsigned long)writing))
    return false;
  /* Some say it by the mode alone, and leave the flags 0. */
  for (Py_ssize_t i = 0; mode && PyUnicode_Check (mode) && i < PyUnicode_GetLength (mode); i++)
    if (PyUnicode_ReadChar (mode, i) < 128 && strchr ("wax+", (int)PyUnicode_ReadChar (mode, i)))
      return false;
  return true;
}

/* ---- callers ---- */

enum origin { ORIGIN_OTHER, ORIGIN_CODE, ORIGIN_IMPORT };

static enum origin
origin_of (PyFrameObject *frame)
{
  enum origin origin = ORIGIN_OTHER;
  PyObject *code = (PyObject *)PyFrame_GetCode (frame);
  PyObject *name = PyObject_GetAttrString (code, "co_filename");
  PyObject *bytes = name ? PyUnicode_EncodeFSDefault (name) : NULL;
  const char *text = bytes ? PyBytes_AsString (bytes) : NULL;
  if (!text)
    PyErr_Clear ();
  else if (strncmp (text, "<frozen importlib", strlen ("<frozen importlib")) == 0)
    origin = ORIGIN_IMPORT;
  else if (text[0] == '/' ? watch_is_in (text, rules.own)
                          : strncmp (text, "<frozen ", strlen ("<frozen ")) != 0)
    origin = ORIGIN_CODE;
  Py_XDECREF (bytes);
  Py_XDECREF (name);
  Py_XDECREF (code);
  return origin;
}

/* Whether something is imported, by a library or by the code, and it is not a file of the code's own. */
static bool
is_importing (void)
{
  if (!PyFrame_GetBack)
    return false;
  enum origin origin = ORIGIN_OTHER;
  PyFrameObject *frame = PyThreadState_GetFrame (PyThreadState_Get ());
  while (frame) {
    if (origin == ORIGIN_OTHER)
      origin = origin_of (frame);
    PyFrameObject *back = origin == ORIGIN_OTHER ? PyFrame_GetBack (frame) : NULL;
    Py_DECREF (frame);
    frame = back;
  }
  return origin == ORIGIN_IMPORT;
}

/* ---- events ---- */

static bool
is_let_through (const struct allowance *known, PyObject *arguments)
{
  enum use use = known->use;
  PyObject *first = item (arguments, 0);
  if (use == USE_OPENS) {
    /* A descriptor that is open already. */
    if (first && PyLong_Check (first))
      return true;
    use = watch_opens_for_reading (arguments) ? USE_READS : USE_CHANGES;
  }
  if (use == USE_READS && watch_is_below (arguments, 0, rules.roots))
    return true;
  if (branching)
    return use != USE_SETS && use != USE_LOADS;
  if (!is_importing ())
    return false;
  switch (use) {
  case USE_READS:
  case USE_SETS:
    return true;
  case USE_CHANGES:
    return watch_is_below (arguments, 0, rules.temporary);
  case USE_MOVES:
    return watch_is_below (arguments, 0, rules.temporary) && watch_is_below (arguments, 1, rules.temporary);
  case USE_LOADS:
    return first == Py_None || watch_is_below (arguments, 0, rules.roots);
  case USE_OPENS:
  case USE_BRANCHES:
    return false;
  }
  return false;
}

/* Of modules that are found as Python's own source or byte code, this event has no path. */
static bool
loads_foreign_extension (PyObject *arguments)
{
  PyObject *path = item (arguments, 1);
  return path && path != Py_None && is_refused ("open") && !watch_is_below (arguments, 1, rules.roots);
}

static int
watch_refuse (const char *event, PyObject *about)
{
  if (about && PyUnicode_Check (about))
    PyErr_Format (PyExc_PermissionError, "%s %U is refused by the rules of this profile", event, about);
  else
    PyErr_Format (PyExc_PermissionError, "%s is refused by the rules of this profile", event);
  return -1;
}

int
watch_look (const char *event, PyObject *arguments)
{
  if (strcmp (event, "import") == 0)
    return loads_foreign_extension (arguments) ? watch_refuse (event, item (arguments, 1)) : 0;
  if (!is_refused (event))
    return 0;
  for (size_t i = 0; i < sizeof allowances / sizeof *allowances; i++)
    if (strcmp (event, allowances[i].name) == 0 && is_let_through (&allowances[i], arguments))
      return 0;
  return watch_refuse (event, item (arguments, 0));
}

bool
watch_lets_make (const char *path)
{
  if (!watch_is_on)
    return true;
  const char *folder = rules.temporary[1];
  size_t length = strlen (folder);
  return strncmp (path, folder, length) == 0 && !strchr (path + length, '/') && path[length] != '\0' &&
         path[length] != '.';
}
