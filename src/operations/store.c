/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the store as a whole: where records and files are, and whether they are intact. */
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

static const struct field place_fields[] = {
    TEXT_0 ("where", "A path, or a URL without its password."),
    FLAG ("reachable", "Whether it is kept there, and can be written to."),
    TEXT_0 ("problem", "Why not."),
    FIELD_END ("StorePlace"),
};
static const struct field show_fields[] = {
    FLAG ("keeps_records", "Whether records are kept."),
    FLAG ("keeps_files", "Whether files are kept."),
    TEXT ("node", "This machine's name among those that share the store."),
    PART ("records_at", place_fields, "Where records are stored."),
    PART ("files_at", place_fields, "Where files are stored."),
    WHOLE ("records", "How many."),
    WHOLE ("files", "How many."),
    WHOLE ("bytes", "Their total size."),
    WHOLE ("owners", "The owners of these files."),
    MAP ("limits", FIELD_INTEGER, "As in [store] of the configuration."),
    FIELD_END ("StoreInfo"),
};
static const struct field lost_fields[] = {
    TEXT ("file_id", "Its id."),
    TEXT ("name", "Its name."),
    TEXT ("owner", "Its owner."),
    WHOLE ("bytes", "How large it was."),
    TEXT ("why", "What is wrong with its content."),
    FIELD_END ("LostFile"),
};
static const struct field check_fields[] = {
    FLAG ("healthy", "Whether everything is intact or was repaired."),
    FLAG ("deep", "Whether all files were read."),
    WHOLE ("files", "How many there are."),
    WHOLE ("bytes", "Their total size."),
    WHOLE ("stored_bytes", "Size of the contents, by name."),
    WHOLE ("lost_count", "Files whose content is missing or differs."),
    WHOLE ("forgotten", "Lost files that were removed, with `force`."),
    LIST ("lost", lost_fields, "The first of them."),
    WHOLE ("unknown_removed", "Contents that belonged to no file and were removed."),
    WHOLE ("unknown_left", "Contents that were kept, since it may be the wrong database."),
    WHOLE ("foreign", "Unrelated objects in the same place."),
    TEXTS ("unknown", "The first contents that belong to no file."),
    WHOLE ("swept", "Unnamed contents left by a crash."),
    TEXTS ("problems", "Problems of the database."),
    FIELD_END ("StoreCheck"),
};
static const struct field *const show_replies[] = {show_fields, NULL};
static const struct field *const check_replies[] = {check_fields, NULL};

static const struct field check_params[] = {
    ASK_FLAG ("deep", "Also read all files and compare their digests."),
    ASK_FLAG ("force", "Also remove rows of files that may only seem lost, for instance in a directory that "
                       "is not mounted."),
    {0},
};

const struct operation store_operations[] = {
    {
        .name = "store.show",
        .title = "Show where records and files are",
        .text = "And how full they are, and what cannot be reached.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_KEPT,
        .params = no_params,
        .replies = show_replies,
        .run = store_show,
        .http = {"GET", "/v1/store", "showStore", 200},
    },
    {
        .name = "store.check",
        .title = "Check whether all that is kept is whole",
        .text = "Also completes interrupted writes.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_KEPT,
        .params = check_params,
        .replies = check_replies,
        .run = store_look,
        .http = {"POST", "/v1/store/check", "checkStore", 200},
    },
    {0},
};
