/* SPDX-License-Identifier: Apache-2.0 */
/* Roles: guest < user < admin. A profile and a tool each name the lowest role that may use them; [roles] of
 * adder.conf can narrow that down to lists of names for guest and user. All three checks below must pass, and
 * the first failure is the error: ADDER_ERROR_REFUSED, which names the thing, the role and the role
 * required. */
#pragma once

#include <glib.h>

#include "common/config.h"

enum role { ROLE_GUEST, ROLE_USER, ROLE_ADMIN };

const char *role_name (enum role role);

/* ADDER_ERROR_INVALID lists the roles. */
gboolean role_parse (const char *text, enum role *ret_role, GError **error);

/* The role of a caller that names none: [roles] default. */
enum role role_default (const struct config *config);

/* Whether ROLE may use the profile NAME, which requires at least NEEDED. */
gboolean role_may_use_profile (const struct config *config, enum role role, const char *name,
                               enum role needed, GError **error);

/* The caller of a tool. */
struct role_caller {
  enum role role;
  gboolean read_only; /* a read-only agent: it gets no tool that executes anything */
};

/* Whether CALLER may call the tool NAME, which requires at least NEEDED; EXECUTES: it runs code or commands.
 * Without ERROR it is cheap enough for every row of a list of tools. */
gboolean role_may_use_tool (const struct config *config, const struct role_caller *caller, const char *name,
                            enum role needed, gboolean executes, GError **error);
