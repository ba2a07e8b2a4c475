/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a zygote and its children. Forking costs by page-table pages, so the zygote's heap is collapsed
 * into huge pages; what is left of the cost of a run are page faults, so the pages that a run will touch are
 * learnt once, in children that rehearse one each, and touched in bulk while later children are parked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes for good whatever malloc has free below the end of the heap. Else each child would be given such
 * pieces, which lie all over the heap, every one in a page that has to be copied for it. */
void memory_drain_heap (void);

/* Collapses the well-filled parts of all large anonymous mappings into huge pages, as far as the kernel lets
 * us (Linux 6.1). Returns how many bytes of this process are in huge pages now. */
uint64_t memory_collapse (void);

/* Lives in memory shared between a process and its children. */
struct memory_pages;

/* An empty list, or NULL when memory is short. It is never freed: a zygote has one. */
struct memory_pages *memory_pages_new (void);

/* Looks at what the calling process touched since it was forked: private copies it wrote, files it read.
 * Nothing, where the kernel does not tell. */
void memory_learn (struct memory_pages *pages);

/* Of pages that are written, those that at least two of the processes wrote which learnt; and pages of files.
 */
size_t memory_pages_count (const struct memory_pages *pages);

/* Touches what each process wrote and read that learnt, which any run will; ALL: what is counted above. What
 * is not mapped any more is left out, and of what was written all that is beyond three quarters of the least
 * limit of memory (limits.h). NULL is allowed. */
void memory_touch (const struct memory_pages *pages, bool all);

/* VmData of the calling process, or 0 without /proc. */
uint64_t memory_data_bytes (void);
