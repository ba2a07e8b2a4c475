/* SPDX-License-Identifier: Apache-2.0 */
/* The domain ADDER_ERROR for modules, which have copies of what they use of other layers. GLib takes an
 * error's extra data (error.c) from one registration in a process: the program's own, made before a module is
 * loaded. */
#include "adder_types.h"

GQuark
adder_error_quark (void)
{
  return g_quark_from_static_string ("AdderError"); /* as G_DEFINE_EXTENDED_ERROR names it */
}
