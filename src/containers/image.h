/* SPDX-License-Identifier: Apache-2.0 */
/* The image of runs in containers, as its labels tell. */
#pragma once

#include "containers/client.h"

struct container_image {
  char *name;      /* as it was asked for */
  char *digest;    /* "sha256:...": its id */
  char *version;   /* Adder's when it was built */
  char *runner;    /* digest of the runner in it */
  char *modules;   /* what its zygotes load ahead, between commas */
  gint64 built_us; /* since the epoch; 0: unknown */
  guint64 bytes;
};

/* The image NAME. ADDER_ERROR_NOT_FOUND: there is none, and how to build it; ADDER_ERROR_UNSUPPORTED: it is
 * none of `adder container build`, or of another runner than this one. The caller's. */
struct container_image *container_image_look (struct container_client *client, const char *name,
                                              GError **error);
void container_image_free (struct container_image *image);

/* A sentence for people when IMAGE is older than MOST_MS (0: never is); the caller's, or NULL. */
char *container_image_warning (const struct container_image *image, guint64 most_ms);

/* SHA-256, in hex, of the files of the runner in LIBEXEC that go into an image. NULL with ERROR. The
 * caller's. */
char *container_image_runner_digest (const char *libexec, GError **error);
