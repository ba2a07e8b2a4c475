/* SPDX-License-Identifier: Apache-2.0 */
/* What a run changed in a directory of which it had an overlay: the upper layer, which hostile code filled,
 * against the directory itself. Nothing is followed on either side, and nothing is changed. */
#pragma once

#include <glib.h>
#include <jansson.h>

enum change_type {
  CHANGE_NOTHING, /* there is nothing of that name */
  CHANGE_FILE,
  CHANGE_LINK,
  CHANGE_DIRECTORY,
  CHANGE_OTHER, /* devices, sockets, pipes */
};
const char *change_type_name (enum change_type type);

/* Something in a directory. */
struct change_entry {
  enum change_type type;
  guint mode; /* the nine bits of permissions */
  guint64 bytes;
  char *sha256; /* of a file; NULL where it was too large, or could not be read */
  char *target; /* of a link */
  guint64 inode;
  gint64 modified_ns, changed_ns; /* mtime and ctime */
};

struct change {
  char *path; /* as the file system has it: perhaps not UTF-8 */
  struct change_entry before, after;
  gboolean covered;  /* it comes or goes with the directory above it, which is in the list as well */
  gboolean replaced; /* by something of another type, or by another directory */
  gboolean binary;   /* a file that cannot be shown line by line */
  char *diff;        /* of text; or NULL */
  gboolean cut;      /* the diff is */
};

struct change_set {
  GPtrArray *changes; /* struct change, a directory before what is in it */
  char *obstacle;     /* why they cannot be made real, or NULL */
  char digest[65];    /* SHA-256 over all of it, hexadecimal */
};
void change_set_free (struct change_set *set);

/* Compares the layer below UPPER_FD with the directory LOWER_FD. What was changed in the directory by others
 * after BEGUN_NS is an obstacle. What cannot be kept, such as a device, is left out with a line in WARNINGS.
 */
struct change_set *changes_collect (int upper_fd, int lower_fd, gint64 begun_ns, GPtrArray *warnings);

/* Looks at NAME in DIRECTORY_FD: what is there now, with its digest where BYTES are not too many. */
void change_entry_read (int directory_fd, const char *name, guint64 most_bytes,
                        struct change_entry *ret_entry);
void change_entry_clear (struct change_entry *entry);

/* Larger files are known by their times alone. */
#define CHANGES_HASHED_BYTES ((guint64)16 << 20)

/* A list of at most CHANGES_SHOWN objects as docs/results.md describes; how many there are more is added to
 * WARNINGS. */
#define CHANGES_SHOWN 10000
json_t *changes_to_json (const struct change_set *set, GPtrArray *warnings);
