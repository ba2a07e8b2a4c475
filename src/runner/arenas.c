/* SPDX-License-Identifier: Apache-2.0 */
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "runner/arenas.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* Of CPython's allocator from 3.10 on (Objects/obmalloc.c); of 3.9, every fourth pool begins like that. */
#define POOL_BYTES        16384
#define POOL_HEADER_BYTES 48
#define POOL_STEP         16
#define POOL_MAX          512
#define POOL_PIECES       200000

#define HUGE_BYTES        ((size_t)2 << 20)

/* Of the address space; memory only as it is used. When it is full, another one is begun. */
#define REGION_BYTES ((size_t)256 << 20)

/* Not in the limited API, but in every CPython from 3.4 on, and like this. Weak: an interpreter without them
 * has its memory where it likes. */
struct arena_allocator {
  void *context;
  void *(*allocate) (void *context, size_t size);
  void (*release) (void *context, void *memory, size_t size);
};
extern void PyObject_GetArenaAllocator (struct arena_allocator *allocator) __attribute__ ((weak));
extern void PyObject_SetArenaAllocator (struct arena_allocator *allocator) __attribute__ ((weak));

static struct {
  struct arena_allocator usual;
  uintptr_t next, end;
  bool packing;
} arenas;

static void
give_back (uintptr_t start, uintptr_t end)
{
  if (start < end)
    munmap ((void *)start, end - start);
}

static bool
begin_region (void)
{
  void *memory =
      mmap (NULL, REGION_BYTES + HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  give_back (arenas.next, arenas.end);
  uintptr_t start = (uintptr_t)memory;
  arenas.next = (start + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
  arenas.end = arenas.next + REGION_BYTES;
  give_back (start, arenas.next);
  give_back (arenas.end, start + REGION_BYTES + HUGE_BYTES);
  return true;
}

/* Made writable one by one: memory that could be written counts as data of the process. */
static void *
allocate (void *context, size_t size)
{
  (void)context;
  if (size > REGION_BYTES || (arenas.end - arenas.next < size && !begin_region ()))
    return NULL;
  void *memory = (void *)arenas.next;
  if (mprotect (memory, size, PROT_READ | PROT_WRITE) < 0)
    return NULL;
  arenas.next += size;
  return memory;
}

static void
arenas_release (void *context, void *memory, size_t size)
{
  (void)context;
  munmap (memory, size);
}

void
arenas_pack (void)
{
  if (!PyObject_GetArenaAllocator || !PyObject_SetArenaAllocator || arenas.packing)
    return;
  PyObject_GetArenaAllocator (&arenas.usual);
  PyObject_SetArenaAllocator (&(struct arena_allocator){.allocate = allocate, .release = arenas_release});
  arenas.packing = true;
}

/* Of each size that there are pools of, takes what is free in those that are in use, until there is a fresh
 * one. */
static void
drain_pools (void)
{
  for (size_t size = POOL_STEP; size <= POOL_MAX; size += POOL_STEP)
    for (int i = 0; i < POOL_PIECES; i++) {
      uintptr_t piece = (uintptr_t)PyObject_Malloc (size);
      if (piece % POOL_BYTES == POOL_HEADER_BYTES)
        break;
    }
}

/* The usual one gives memory back as release does, so what was taken here may stay. */
void
arenas_settle (void)
{
  drain_pools ();
  if (!arenas.packing)
    return;
  PyObject_SetArenaAllocator (&arenas.usual);
  give_back (arenas.next, arenas.end);
  arenas.next = arenas.end = 0;
  arenas.packing = false;
}
