/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the store as a whole: where records and files are, and whether they are whole. */
#include "engine/host/interrupt.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"
#include "store/check.h"

static json_t *
store_show (const struct operation_call *call, G_GNUC_UNUSED GError **error)
{
  return store_describe (call->caller->engine->store);
}

static json_t *
store_look (const struct operation_call *call, GError **error)
{
  const struct check_options options = {
      .deep = operation_flag (call, "deep"),
      .force = operation_flag (call, "force"),
  };
  struct interrupt interrupt;
  if (!interrupt_init (&interrupt, call->caller->watch_fd, error))
    return NULL;
  json_t *found = store_check (call->caller->engine->store, &options, &interrupt, error);
  interrupt_clear (&interrupt);
  return found;
}

/* docs/files.md says what is in the answers. */
static const struct field any_fields[] = {{0}};
static const struct field *const replies[] = {any_fields, NULL};

static const struct field show_params[] = {{0}};
static const struct field check_params[] = {
    ASK_FLAG ("deep", "Also reads all files and compares their digests."),
    ASK_FLAG ("force", "Also removes what may only look lost, such as rows of files in a directory that is "
                       "not mounted."),
    {0},
};

const struct operation store_operations[] = {
    {
        .name = "store.show",
        .title = "Show where records and files are",
        .text = "And how full they are, and what cannot be reached. docs/files.md describes the answer.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_KEPT,
        .params = show_params,
        .replies = replies,
        .run = store_show,
    },
    {
        .name = "store.check",
        .title = "Check whether all that is kept is whole",
        .text = "Also completes interrupted writes. docs/files.md describes the answer.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_KEPT,
        .params = check_params,
        .replies = replies,
        .run = store_look,
    },
    {0},
};
