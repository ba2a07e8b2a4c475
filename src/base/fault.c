/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fault.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What is kept of the beginning of a text that is too long, and what stands for its middle. */
#define HEAD_BYTES 40
#define GAP        " ... "

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

/* Whether C is in the middle of a character. */
static bool
is_inside (char c)
{
  return ((unsigned char)c & 0xc0u) == 0x80u;
}

int
fault_set_text (struct fault *fault, int err, const char *text)
{
  size_t length = strlen (text), head = HEAD_BYTES;
  if (length < FAULT_STEP_BYTES)
    return fault_set (fault, err, "%s", text);
  const char *tail = text + length - (FAULT_STEP_BYTES - HEAD_BYTES - sizeof GAP);
  while (head > 0 && is_inside (text[head]))
    head--;
  while (is_inside (*tail))
    tail++;
  return fault_set (fault, err, "%.*s%s%s", (int)head, text, GAP, tail);
}
