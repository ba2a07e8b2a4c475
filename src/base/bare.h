/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that do without the C library: system calls, which return a negative errno, and a first
 * instruction. Such a program begins at bare_begin(), which must not return. */
#pragma once

#if defined(__x86_64__)
static inline long
bare_call (long number, long a, long b, long c, long d, long e)
{
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                   : "rcx", "r11", "memory");
  return result;
}
#define BARE_START "xorl %ebp, %ebp\n  andq $-16, %rsp\n  call bare_begin\n  hlt\n"

#elif defined(__aarch64__)
static inline long
bare_call (long number, long a, long b, long c, long d, long e)
{
  register long eighth __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  __asm__ volatile("svc #0"
                   : "+r"(first)
                   : "r"(eighth), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
                   : "memory");
  return first;
}
#define BARE_START "mov x29, #0\n  mov x30, #0\n  bl bare_begin\n  brk #0\n"

#else
#error "system calls are known for x86-64 and aarch64"
#endif

static inline long
bare_address (const void *pointer)
{
  return (long)(__UINTPTR_TYPE__)pointer;
}
