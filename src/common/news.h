/* SPDX-License-Identifier: Apache-2.0 */
/* What changed, for those who want to know: told by who changed it, to readers of the same owner. Costs
 * nothing where nobody reads. */
#pragma once

#include <glib.h>

enum news_kind {
  NEWS_SESSION,      /* it is busy, idle, or has ended: its id */
  NEWS_SESSION_LIST, /* there is one more, or one less: its id */
  NEWS_FILE,         /* one was kept, or is gone: its id */
  NEWS_TOOLS,        /* tools were switched on or off; no id, and everybody's */
};

struct news;

/* With one reference. */
struct news *news_new (void);
struct news *news_ref (struct news *news);
/* NULL is allowed. */
void news_unref (struct news *news);

/* OWNER NULL: everybody's. ID may be NULL. May be called with locks held: readers do not wait. */
void news_tell (struct news *news, enum news_kind kind, const char *owner, const char *id);

/* Called in the thread of who tells, whose locks it knows nothing of: it must not wait, ask for anything, or
 * call news_read and news_stop. */
typedef void (*news_reader) (gpointer data, enum news_kind kind, const char *owner, const char *id);

/* READER is told of what changes of OWNER (NULL: of all), until news_stop with what is returned. */
guint64 news_read (struct news *news, const char *owner, news_reader reader, gpointer data);
/* When it returns, READER is not at work and is not called any more. */
void news_stop (struct news *news, guint64 number);
