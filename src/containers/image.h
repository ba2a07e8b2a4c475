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
  gint64 built_us; /* when its packages were fetched, since the epoch; 0: unknown */
  guint64 bytes;
};

/* The image NAME. ADDER_ERROR_NOT_FOUND: there is none, and how to build it; ADDER_ERROR_UNSUPPORTED: it is
 * none of `adder env image build`, or of another runner than this one. The caller's. */
struct container_image *container_image_look (struct container_client *client, const char *name,
                                              GError **error);
void container_image_free (struct container_image *image);

/* The same, of whatever runner it is. */
struct container_image *container_image_find (struct container_client *client, const char *name,
                                              GError **error);

/* All images of `adder env image build` that CLIENT's engine has, each once for each name. An array of struct
 * container_image; the caller's. NULL with ERROR. */
GPtrArray *container_image_list (struct container_client *client, GError **error);

/* Takes its name from the image NAME, and removes it with its last one. It must be one of `adder env image
 * build`. ADDER_ERROR_FAILED with the engine's words where a container uses it. */
gboolean container_image_remove (struct container_client *client, const char *name, GError **error);

/* FALSE with ERROR, a clear sentence, where IMAGE holds another runner than this one's. */
gboolean container_image_fits (const struct container_image *image, GError **error);

/* A sentence for people when IMAGE is older than MAX_MS (0: never is); the caller's, or NULL. */
char *container_image_warning (const struct container_image *image, guint64 most_ms);

/* SHA-256, in hex, of the files of the runner in LIBEXEC that go into an image. NULL with ERROR. The
 * caller's. */
char *container_image_runner_digest (const char *libexec, GError **error);

/* A name as engines take it, in a path of theirs: ADDER_ERROR_INVALID where NAME is none. The caller's. */
char *container_image_path (const char *name, GError **error);
