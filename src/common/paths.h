/* SPDX-License-Identifier: Apache-2.0 */
/* Where things lie: built tree, installed tree, and the user's directories (XDG; root: the system's).
 * All strings returned are the caller's (g_free). */
#pragma once

#include <glib.h>

/* The folder with adder-zygote, adder-init, _adder.abi3.so and the runner's *.py. Found beside the program or
 * library that holds this code (a build tree's src/runner, ../libexec/adder), else ADDER_LIBEXECDIR;
 * $ADDER_LIBEXECDIR wins. */
char *paths_libexec_dir (GError **error);

/* The folder with profiles/ and environments/ as shipped: a build tree's own, ../share/adder, else
 * ADDER_DATADIR. */
char *paths_data_dir (GError **error);

/* The interpreter of the environment that the program was installed into as a wheel: python3 beside it. It
 * may be missing; NULL: it was installed in another way. */
char *paths_own_python (void);

/* Sockets and locks: $ADDER_RUNTIME_DIR, root: /run/adder, else $XDG_RUNTIME_DIR/adder, else /tmp/adder-UID.
 * Made with mode 0700 when missing; a directory that is not ours, or open to others, is an error. */
char *paths_runtime_dir (GError **error);

/* What outlives a daemon: $ADDER_STATE_DIR, root: /var/lib/adder, else $XDG_STATE_HOME/adder. Created with
 * mode 0700 if missing; one that is not ours, or that others may write to, is an error. */
char *paths_state_dir (GError **error);

/* For data that can be fetched or made again: $ADDER_CACHE_DIR, else $XDG_CACHE_HOME/adder. Created with mode
 * 0700 if missing. */
char *paths_cache_dir (GError **error);

/* Environments, in order of search: $ADDER_ENVIRONMENTS_DIR alone when set, else
 * $XDG_DATA_HOME/adder/environments (not for root) and /var/lib/adder/environments. The first is where new
 * ones are made. NULL-terminated, g_strfreev. */
GStrv paths_environment_dirs (void);

/* Environments with added packages of runs: with/ in the state directory. It may be missing. g_free. */
char *paths_with_dir (void);

/* adder.conf and a user's profiles/: $ADDER_CONFIG_DIR, root: ADDER_SYSCONFDIR, else $XDG_CONFIG_HOME/adder.
 */
char *paths_config_dir (void);
