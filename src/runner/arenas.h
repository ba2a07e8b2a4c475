/* SPDX-License-Identifier: Apache-2.0 */
/* Where the interpreter's small objects lie. Its allocator takes memory by the megabyte, wherever the kernel
 * has a place: between the libraries that are loaded meanwhile, so that hardly any of it could be a huge
 * page. Side by side it can. */
#pragma once

/* From here on new memory for objects lies side by side, as far as the interpreter lets us choose. */
void arenas_pack (void);

/* Takes for good what is free between objects, so that those of a child lie together and not each in a page
 * that has to be copied for it. From here on the interpreter takes memory as it did before. */
void arenas_settle (void);
