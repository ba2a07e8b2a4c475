/* SPDX-License-Identifier: Apache-2.0 */
/* Making the image. */
#pragma once

#include <stdio.h>

#include "containers/image.h"

struct container_recipe {
  const char *name; /* of the image to be */
  const char *base; /* the image to start from; NULL: of packages of this host's release */
  gboolean fresh;   /* fetch packages even where those of today are here */
  gboolean cached;  /* take those that are here, however old they are */
};

/* Puts an image together of packages and the runner, has CLIENT's engine import it under a name of its own,
 * tries whether it has what runs need, and only then gives it the name of RECIPE. What had the name before is
 * removed unless something uses it. Tells PROGRESS (NULL: nobody), a line for each thing that is fetched or
 * done. Takes minutes where packages are fetched, seconds where only the runner changed. The caller's; NULL
 * with ERROR, and then nothing has changed but what is in the cache. */
struct container_image *container_image_build (struct container_client *client,
                                               const struct container_recipe *recipe, FILE *progress,
                                               GError **error);

/* The file in the state directory that a build touches, so that the daemon sees that the image is another. */
#define CONTAINER_IMAGE_STAMP "container-image"
