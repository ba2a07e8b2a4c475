/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/mountinfo.h"

#include <string.h>

bool
mountinfo_has_word (const char *list, const char *separators, const char *word)
{
  size_t length = strlen (word);
  for (const char *at = list + strspn (list, separators); *at; at += strspn (at, separators)) {
    size_t here = strcspn (at, separators);
    if (here == length && memcmp (at, word, length) == 0)
      return true;
    at += here;
  }
  return false;
}

bool
mountinfo_next (FILE *file, struct mountinfo *ret_mount)
{
  char line[3 * PATH_MAX];
  while (fgets (line, sizeof line, file)) {
    const char *dash = strstr (line, " - "), *shared = strstr (line, " shared:");
    ret_mount->shared = shared && shared < dash;
    /* The widths are those of struct mountinfo, less the byte that ends each. */
    if (dash && sscanf (line, "%*s %*s %*s %4095s %4095s", ret_mount->root, ret_mount->point) == 2 &&
        sscanf (dash, " - %31s %*s %511s", ret_mount->type, ret_mount->options) == 2)
      return true;
  }
  return false;
}

bool
mountinfo_find_cgroup (FILE *file, const char *controller, struct mountinfo *ret_mount)
{
  while (mountinfo_next (file, ret_mount))
    if (controller ? strcmp (ret_mount->type, "cgroup") == 0 &&
                         mountinfo_has_word (ret_mount->options, ",", controller)
                   : strcmp (ret_mount->type, "cgroup2") == 0)
      return true;
  return false;
}

/* A line is "N:CONTROLLERS:PATH"; v2's has no controllers. */
bool
mountinfo_own_group (FILE *file, const char *controller, char *path, size_t size)
{
  char line[PATH_MAX + 256];
  while (fgets (line, sizeof line, file)) {
    line[strcspn (line, "\n")] = '\0';
    char *list = strchr (line, ':');
    char *at = list ? strchr (list + 1, ':') : NULL;
    if (!at)
      continue;
    *at = '\0';
    bool found = controller ? mountinfo_has_word (list + 1, ",", controller) : list[1] == '\0';
    if (found && (size_t)snprintf (path, size, "%s", at + 1) < size)
      return true;
  }
  return false;
}
