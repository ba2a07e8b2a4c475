/* SPDX-License-Identifier: Apache-2.0 */
/* Log messages: written by any layer, shown by the program. Without a sink they go nowhere, so the library
 * says nothing in a program that embeds it. A message names things (environments, pids, ids); code, output
 * and secrets are not logged. */
#pragma once

#include <glib.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Called from any thread, one call at a time. MESSAGE is one line without its end, valid UTF-8 without
 * control characters, and valid until the call returns. */
typedef void (*log_sink) (enum log_level level, const char *message, void *data);

/* Shows messages up to LEVEL with SINK; NULL: nowhere. */
void log_set_sink (log_sink sink, enum log_level level, void *data);

void log_message (enum log_level level, const char *format, ...) G_GNUC_PRINTF (2, 3);

#define log_error(...)   log_message (LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_message (LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_message (LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_message (LOG_LEVEL_DEBUG, __VA_ARGS__)

/* A warning about AREA, unless MESSAGE is what this logged last: a client that retries again and again is one
 * line of the log. */
void log_warning_once (const char *area, const char *message);

/* ---- the program's own sink: standard error ---- */

/* LEVEL: "error", "warning", "info", "debug". FORMAT: "text", "json" (one object a line), or "auto" (text).
 * When standard error is the journal, text lines begin with its <N> and have no time. */
void log_to_stderr (const char *level, const char *format);
/* From now on shows messages of LEVEL and more severe ones. From any thread. */
void log_set_level (const char *level);

/* One line of a log as log_to_stderr writes it, with its end. PREFIXED: for the journal. For tests. The
 * caller's. */
char *log_line (enum log_level level, const char *message, gboolean json, gboolean prefixed, gint64 time_us);
