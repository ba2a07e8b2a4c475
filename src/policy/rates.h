/* SPDX-License-Identifier: Apache-2.0 */
/* How often something may happen, and how often at once, for each key (an owner, an address): a bucket that
 * refills evenly. A bounded number of keys is kept. */
#pragma once

#include <glib.h>

struct rates;

#define RATES_MINUTE_US ((gint64)60 * G_USEC_PER_SEC)
#define RATES_HOUR_US   (60 * RATES_MINUTE_US)

/* For at most MOST keys, and how often in PERIOD_US. */
struct rates *rates_new (guint most, gint64 period_us);
/* NULL is allowed. */
void rates_free (struct rates *rates);

enum rates_answer {
  RATES_YES,
  RATES_TOO_OFTEN,
  RATES_TOO_MANY, /* at once; also when more keys are busy than can be kept */
};

/* One more of KEY, which may have OFTEN in a period, a sixth of that at once (at least one); with AT_ONCE
 * over 0, at most so many active ones, and each admitted one must leave. *RET_WAIT_S: seconds until a retry
 * may succeed. NOW_US: g_get_monotonic_time (). From any thread. */
enum rates_answer rates_enter (struct rates *rates, const char *key, guint64 often, guint64 at_once,
                               gint64 now_us, guint *ret_wait_s);
void rates_leave (struct rates *rates, const char *key);

/* Whether one more of KEY would be admitted by its rate; nothing is counted. */
gboolean rates_has_left (struct rates *rates, const char *key, gint64 now_us, guint *ret_wait_s);

/* The number of keys kept. For tests. */
guint rates_kept (struct rates *rates);
