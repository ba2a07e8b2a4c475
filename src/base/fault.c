/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>

int
fault_set (struct fault *fault, int err, const char *format, ...)
{
  if (fault) {
    va_list args;
    va_start (args, format);
    vsnprintf (fault->step, sizeof fault->step, format, args);
    va_end (args);
    fault->err = err;
  }
  return -err;
}
