/* SPDX-License-Identifier: Apache-2.0 */
/* Ids that are globally unique and sort by the microsecond of their creation: UUID version 7 (RFC 9562,
 * section 5.7). */
#pragma once

#define ID_BYTES 37 /* with the zero byte */

void id_make (char ret_id[ID_BYTES]);
