/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon orders of its launcher (adder-container): one container for one run. It is one argument, a
 * JSON object, so that `ps` and a log line show it whole. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct container_order {
  char *engine, *socket, *runtime; /* as configured; NULL where nothing is */
  char *name;                      /* of the container; NULL: none is meant */
  char *image;
  guint64 image_age_ms; /* 0: whatever its age */
  guint64 start_ms;
  char *environment; /* the name by which its zygote calls itself in messages */
  guint64 memory_bytes, pids,
      cpu_percent;   /* of the container, its zygote included; cpu_percent 0: one core */
  guint uid, gid;    /* as whom it runs, never 0 */
  guint64 shm_bytes; /* of /dev/shm */
  guint64 workspace_bytes, workspace_files; /* of the tmpfs that has /workspace and /tmp */
  char *home;                               /* a directory of the daemon's, in which the socket is made */
  char *bind;      /* one of CONTAINER_BIND_*, for a directory that is to be /workspace; NULL: none is */
  char *directory; /* its path, for the engine; NULL with CONTAINER_BIND_MOUNT */
};

/* How a directory gets there. An engine binds what it finds at a path, which need not be what was meant: the
 * daemon compares before it gives the container a run. A launcher that may mount needs no path. */
#define CONTAINER_BIND_READ  "read"  /* bound by the engine, read-only */
#define CONTAINER_BIND_WRITE "write" /* bound by the engine */
#define CONTAINER_BIND_MOUNT "mount" /* WIRE_LAUNCH_BIND, mounted by the launcher */

/* As the argument after "start"; the caller's. */
char *container_order_write (const struct container_order *order);
/* The way back, strictly. NULL with ERROR. The caller's. */
struct container_order *container_order_read (const char *text, GError **error);
void container_order_free (struct container_order *order);

/* What the launcher tells with LAUNCHED, after the header: the container. */
struct container_facts {
  char *engine, *engine_version, *runtime; /* "docker", "20.10.24", "runc" */
  char *container;                         /* its id */
  char *image, *digest, *version;          /* container_image */
  char *warning;                           /* of the image's age; or NULL */
};
char *container_facts_write (const struct container_facts *facts);
struct container_facts *container_facts_read (const char *text, gsize length, GError **error);
void container_facts_free (struct container_facts *facts);
