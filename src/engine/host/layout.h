/* SPDX-License-Identifier: Apache-2.0 */
/* The file tree, the environment and the program of a zygote: the plan (sandbox/plan.h) for an environment.
 * Of the host it exposes only what an interpreter needs; everything static is in tables. */
#pragma once

#include <glib.h>

#include "engine/host/environment.h"
#include "engine/host/host.h"
#include "sandbox/plan.h"

struct layout {
  struct plan plan;
  GArray *steps;        /* struct plan_step */
  GPtrArray *variables; /* NAME=VALUE */
  GPtrArray *program;
  GPtrArray *strings; /* everything allocated for it */
};

/* Where the runner's folder is in a sandbox. */
#define LAYOUT_RUNNER "/adder/runner"

/* The zygote of shells, in the runner's folder. */
#define LAYOUT_SHELL "adder-shell"

/* Builds the layout of ENVIRONMENT on HOST for sandboxes of ISOLATION and NETWORK; BARE: without preloaded
 * modules. Without namespaces there is no tree: paths are the host's, and the runner gets the plan's bind
 * mounts as readable paths. The caller frees it. */
struct layout *layout_new (const struct host *host, const struct environment *environment,
                           enum isolation isolation, enum network network, gboolean bare);
void layout_free (struct layout *layout);
