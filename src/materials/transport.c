/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/transport.h"

void
get_clear (struct get *get)
{
  if (get->body)
    g_string_free (get->body, TRUE);
  g_free (get->location);
  get->body = NULL;
  get->location = NULL;
  get->end = GET_NONE;
  get->status = 0;
  get->again_ms = -1;
  get->reason = "";
}
