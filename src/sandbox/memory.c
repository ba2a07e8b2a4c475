/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/syscalls.h"

#define PAGE_BYTES      ((size_t)4096)
#define HUGE_BYTES      ((size_t)2 << 20)
#define HUGE_PAGES      (HUGE_BYTES / PAGE_BYTES)
#define COLLAPSE_FILLED (HUGE_PAGES / 4) /* below this a huge page would mostly be new memory */

/* A run of pandas makes some 1500 ranges; what does not fit is faulted in when it is touched. */
#define RANGES_MAX 8192

/* Bits of /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define PAGEMAP_PRESENT   (1ULL << 63)
#define PAGEMAP_FILE      (1ULL << 61)
#define PAGEMAP_EXCLUSIVE (1ULL << 56)

struct memory_pages {
  size_t written_count, read_count;
  struct memory_range written[RANGES_MAX], read[RANGES_MAX];
};

struct mapping {
  uintptr_t start, end;
  bool readable, writable, private, anonymous;
};

/* Reads the next line of a /proc/PID/maps that says something we can use. */
static bool
next_mapping (FILE *maps, struct mapping *ret_mapping)
{
  char line[512];
  while (fgets (line, sizeof line, maps)) {
    unsigned long start, end, inode;
    char flags[5];
    /* A longer line has its rest dropped: names do not matter but for the kernel's own, which are short. */
    if (!strchr (line, '\n')) {
      int c;
      while ((c = fgetc (maps)) != EOF && c != '\n')
        ;
    }
    if (sscanf (line, "%lx-%lx %4s %*s %*s %lu", &start, &end, flags, &inode) != 4)
      continue;
    if (strstr (line, "[v")) /* vdso, vvar, vsyscall */
      continue;
    *ret_mapping = (struct mapping){
        .start = start,
        .end = end,
        .readable = flags[0] == 'r',
        .writable = flags[1] == 'w',
        .private = flags[3] == 'p',
        .anonymous = inode == 0,
    };
    return true;
  }
  return false;
}

/* Reads COUNT entries of the page map from START on. Returns how many it could. */
static size_t
read_pagemap (int pagemap, uintptr_t start, uint64_t *entries, size_t count)
{
  ssize_t got =
      pread (pagemap, entries, count * sizeof *entries, (off_t)(start / PAGE_BYTES * sizeof *entries));
  return got < 0 ? 0 : (size_t)got / sizeof *entries;
}

static size_t
count_present (int pagemap, uintptr_t start)
{
  uint64_t entries[HUGE_PAGES];
  size_t have = read_pagemap (pagemap, start, entries, HUGE_PAGES), present = 0;
  for (size_t i = 0; i < have; i++)
    present += (entries[i] & PAGEMAP_PRESENT) != 0;
  return present;
}

/* The number behind KEY in a file of /proc/self that counts in kB, in bytes. */
static uint64_t
read_kilobytes (const char *path, const char *key)
{
  FILE *file = fopen (path, "re");
  char line[256];
  unsigned long long value = 0;
  while (file && fgets (line, sizeof line, file))
    if (strncmp (line, key, strlen (key)) == 0 && sscanf (line + strlen (key), "%llu", &value) == 1)
      break;
  if (file)
    fclose (file);
  return value * 1024;
}

uint64_t
memory_collapse (void)
{
  FILE *maps = fopen ("/proc/self/maps", "re");
  autoclose int pagemap = open ("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  struct mapping at;
  if (sysconf (_SC_PAGESIZE) == (long)PAGE_BYTES)
    while (maps && pagemap >= 0 && next_mapping (maps, &at)) {
      if (!at.writable || !at.private || !at.anonymous)
        continue;
      uintptr_t start = (at.start + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
      for (; start + HUGE_BYTES <= at.end; start += HUGE_BYTES)
        if (count_present (pagemap, start) >= COLLAPSE_FILLED)
          /* One at a time: memory that is too fragmented here may do elsewhere. Before 6.1 this is EINVAL. */
          madvise ((void *)start, HUGE_BYTES, MADV_COLLAPSE);
    }
  if (maps)
    fclose (maps);
  return read_kilobytes ("/proc/self/smaps_rollup", "AnonHugePages:");
}

struct memory_pages *
memory_pages_new (void)
{
  void *memory =
      mmap (NULL, sizeof (struct memory_pages), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void
add_page (struct memory_range *ranges, size_t *count, uintptr_t page)
{
  if (*count > 0 && ranges[*count - 1].start + ranges[*count - 1].bytes == page)
    ranges[*count - 1].bytes += PAGE_BYTES;
  else if (*count < RANGES_MAX)
    ranges[(*count)++] = (struct memory_range){.start = page, .bytes = PAGE_BYTES};
}

static size_t
count_pages (const struct memory_range *ranges, size_t count)
{
  size_t bytes = 0;
  for (size_t i = 0; i < count; i++)
    bytes += ranges[i].bytes;
  return bytes / PAGE_BYTES;
}

void
memory_learn (struct memory_pages *pages)
{
  FILE *maps = fopen ("/proc/self/maps", "re");
  autoclose int pagemap = open ("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  struct mapping at;
  pages->written_count = pages->read_count = 0;
  while (maps && pagemap >= 0 && sysconf (_SC_PAGESIZE) == (long)PAGE_BYTES && next_mapping (maps, &at)) {
    if (!at.readable || !at.private)
      continue;
    uint64_t entries[HUGE_PAGES];
    for (uintptr_t start = at.start; start < at.end; start += HUGE_BYTES) {
      size_t left = (at.end - start) / PAGE_BYTES;
      size_t have = read_pagemap (pagemap, start, entries, left < HUGE_PAGES ? left : HUGE_PAGES);
      for (size_t i = 0; i < have; i++) {
        uintptr_t page = start + i * PAGE_BYTES;
        if (!(entries[i] & PAGEMAP_PRESENT))
          continue;
        if (entries[i] & PAGEMAP_FILE)
          add_page (pages->read, &pages->read_count, page);
        else if (at.writable && (entries[i] & PAGEMAP_EXCLUSIVE))
          /* Anonymous and ours alone: copied since the fork, for what was there before is shared with the
           * parent. */
          add_page (pages->written, &pages->written_count, page);
      }
    }
  }
  if (maps)
    fclose (maps);
}

size_t
memory_pages_count (const struct memory_pages *pages)
{
  return count_pages (pages->written, pages->written_count) + count_pages (pages->read, pages->read_count);
}

static void
touch (const struct memory_range *ranges, size_t count, int advice)
{
  for (size_t i = 0; i < count; i++)
    /* ENOMEM for what was unmapped meanwhile, EINVAL before Linux 5.14: then the run faults it in by itself.
     */
    if (madvise ((void *)ranges[i].start, ranges[i].bytes, advice) < 0 && errno == EINVAL)
      return;
}

void
memory_touch (const struct memory_pages *pages)
{
  if (!pages)
    return;
  touch (pages->written, pages->written_count, MADV_POPULATE_WRITE);
  touch (pages->read, pages->read_count, MADV_POPULATE_READ);
}

uint64_t
memory_data_bytes (void)
{
  return read_kilobytes ("/proc/self/status", "VmData:");
}
