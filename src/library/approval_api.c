/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals in include/adder.h: those who decide. */
#include "common/json.h"
#include "library/library.h"

/* Takes VALUE; NULL stays NULL. */
static char *
text_of (json_t *value)
{
  char *text = value ? json_to_text (value) : NULL;
  json_decref (value);
  return text;
}

char *
adder_approval_list (AdderEngine *engine, const char *owner, G_GNUC_UNUSED GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  return text_of (approvals_list (engine->approvals, owner));
}

char *
adder_approval_show (AdderEngine *engine, const char *owner, const char *approval_id, GError **error)
{
  g_return_val_if_fail (engine != NULL && approval_id != NULL, NULL);
  return text_of (approvals_show (engine->approvals, owner, approval_id, error));
}

char *
adder_approval_approve (AdderEngine *engine, const char *owner, const char *conversation,
                        const char *approval_id, gboolean always, GError **error)
{
  g_return_val_if_fail (engine != NULL && approval_id != NULL, NULL);
  const struct approver by = {owner, conversation};
  return text_of (approvals_approve (engine->approvals, &by, approval_id, always, error));
}

char *
adder_approval_deny (AdderEngine *engine, const char *owner, const char *conversation,
                     const char *approval_id, const char *reason, GError **error)
{
  g_return_val_if_fail (engine != NULL && approval_id != NULL, NULL);
  const struct approver by = {owner, conversation};
  return text_of (approvals_deny (engine->approvals, &by, approval_id, reason, error));
}

char *
adder_approval_wait (AdderEngine *engine, const char *owner, const char *approval_id, int watch_fd,
                     guint64 wait_ms, GError **error)
{
  g_return_val_if_fail (engine != NULL && approval_id != NULL, NULL);
  return text_of (approvals_wait (engine->approvals, owner, approval_id, watch_fd, wait_ms, error));
}
