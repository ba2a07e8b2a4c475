/* SPDX-License-Identifier: Apache-2.0 */
/* Where runs of a profile are: in sandboxes of the host's, or in containers. */
#pragma once

enum backend {
  BACKEND_NATIVE,
  BACKEND_CONTAINER,
  BACKEND_AUTO, /* in a container where that can be, else native */
};
extern const char *const backend_names[]; /* ends with NULL */
