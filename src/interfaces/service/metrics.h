/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for monitoring: what interfaces count, and all there is as the text that Prometheus reads. */
#pragma once

#include <glib.h>

struct metrics;
struct service;

struct metrics *metrics_new (void);
void metrics_free (struct metrics *metrics);

/* A request over HTTP was answered with STATUS after US microseconds. METHOD and PATH are those of its route,
 * static; NULL where there is none. From any thread. */
void metrics_count_http (struct metrics *metrics, const char *method, const char *path, int status,
                         gint64 us);

/* The same for a request over MCP. METHOD is static: one that there is, or NULL. */
void metrics_count_mcp (struct metrics *metrics, const char *method, gboolean is_error, gint64 us);

/* All that is known of SERVICE, in the text format 0.0.4. No owner, no code, no name that a caller chose is
 * in it. The caller's. */
char *metrics_text (struct service *service);
