/* SPDX-License-Identifier: Apache-2.0 */
/* A request as its caller builds it: what request_api.c and operations/run_body.c share. */
#pragma once

#include "library/library.h"

/* A stored file that must be found before the run. */
struct stored_file {
  char *id, *name; /* NAME NULL: its own */
  enum input_place place;
};

struct adder_request {
  /* What is asked for: members of REQUEST_ASKED, limits with their bits in limits_set, variables, files and
   * descriptors. Errors of setters that cannot fail are in its `invalid`, which the run's result reports. */
  struct run_request asked;
  /* Words that also depend on a profile, a session or the configuration. */
  char *isolation, *tables, *approval, *python;
  GStrv profiles;    /* patterns of the profiles that it may use; NULL: any */
  GPtrArray *stored; /* struct stored_file */
};
