/* SPDX-License-Identifier: Apache-2.0 */
#include "common/listing.h"

#include <errno.h>
#include <string.h>

#include "base/fd.h"

static int
listing_compare (const void *left, const void *right)
{
  return strcmp (*(const char *const *)left, *(const char *const *)right);
}

GPtrArray *
listing_read (int directory_fd, guint64 most, int *ret_err)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  DIR *list = fd_list (directory_fd);
  const char *name = "";
  while (list && names->len < most && (name = fd_next_name (list)))
    g_ptr_array_add (names, g_strdup (name));
  *ret_err = list && name ? 0 : errno;
  if (list)
    closedir (list);
  g_ptr_array_sort (names, listing_compare);
  return names;
}
