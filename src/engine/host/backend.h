/* SPDX-License-Identifier: Apache-2.0 */
/* Where runs of a profile execute: in the host's sandboxes, or in containers. */
#pragma once

enum backend {
  BACKEND_NATIVE,
  BACKEND_CONTAINER,
  BACKEND_AUTO, /* in a container if possible, else native */
};
extern const char *const backend_names[]; /* ends with NULL */
