/* SPDX-License-Identifier: Apache-2.0 */
/* A request as its caller builds it: what request_api.c and operations/run_body.c share. */
#pragma once

#include "library/library.h"

/* A file of the store that is to be found before the run. */
struct stored_file {
  char *id, *name; /* NAME NULL: its own */
  enum input_place place;
};

struct adder_request {
  /* What is asked for: members of REQUEST_ASKED, limits
   * with their bits in limits_set, variables, files and descriptors. What its setters that cannot fail had to
   * say is its `invalid`, which the run's result says.
   */
  struct run_request asked;
  /* Words that a profile, a session or the configuration has a say in. */
  char *isolation, *tables, *approval, *python;
  GStrv profiles;    /* patterns of those that it may use; NULL: any */
  GPtrArray *stored; /* struct stored_file */
};
