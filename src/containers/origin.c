/* SPDX-License-Identifier: Apache-2.0 */
#include "containers/origin.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of /proc/PID/stat, behind the name: what state it is in, and when it started. */
#define STATE      0
#define STARTED_AT 19

/* When PROCESS started, in ticks since the boot; NULL: there is none, or it has ended and nobody has waited
 * for it yet. The caller's. */
static char *
origin_start_of (const char *process)
{
  g_autofree char *path = g_strdup_printf ("/proc/%s/stat", process);
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return NULL;
  /* A name may hold blanks and brackets. */
  const char *behind = strrchr (text, ')');
  g_auto (GStrv) fields = g_strsplit (behind ? behind + strlen (") ") : "", " ", -1);
  if (g_strv_length (fields) <= STARTED_AT || strchr ("ZX", fields[STATE][0]))
    return NULL;
  return g_strdup (fields[STARTED_AT]);
}

char *
container_origin_daemon (void)
{
  g_autofree char *process = g_strdup_printf ("%d", (int)getppid ());
  g_autofree char *start = origin_start_of (process);
  return g_strdup_printf ("%s:%s", process, start ? start : "0");
}

char *
container_origin_owner (void)
{
  return g_strdup_printf ("%u", (unsigned)geteuid ());
}

static char *
boot_id (void)
{
  char *text = NULL;
  if (!g_file_get_contents ("/proc/sys/kernel/random/boot_id", &text, NULL, NULL))
    return g_strdup ("unknown");
  return g_strstrip (text);
}

char *
container_origin_host (void)
{
  g_autofree char *boot = boot_id ();
  struct stat st = {0};
  (void)stat ("/proc/self/ns/pid", &st);
  return g_strdup_printf ("%s:%ju", boot, (uintmax_t)st.st_ino);
}

static gboolean
is_alive (const char *daemon)
{
  g_auto (GStrv) parts = g_strsplit (daemon, ":", 2);
  if (g_strv_length (parts) != 2 || !g_ascii_string_to_unsigned (parts[0], 10, 1, G_MAXINT, NULL, NULL))
    return FALSE;
  g_autofree char *start = origin_start_of (parts[0]);
  return g_strcmp0 (start, parts[1]) == 0;
}

gboolean
container_origin_is_gone (const char *daemon, const char *owner, const char *host)
{
  g_autofree char *own_owner = container_origin_owner ();
  g_autofree char *own_host = container_origin_host ();
  g_autofree char *boot = boot_id ();
  if (!daemon || !host || g_strcmp0 (owner, own_owner) != 0)
    return FALSE;
  if (!g_str_has_prefix (host, boot))
    return TRUE;
  /* In another pid namespace numbers mean others: whether its daemon lives cannot be seen from here. */
  return strcmp (host, own_host) == 0 && !is_alive (daemon);
}
