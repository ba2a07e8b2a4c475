/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the daemon and a sandbox as JSON (src/runner/README.md): the request that is sent, and
 * what comes back, which is hostile input: parsed strictly, every field checked, unknown fields dropped. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* A well-formed result message. */
struct message_result {
  int exit_code;          /* 0 to 255 */
  json_t *value;          /* a MIME bundle, or NULL */
  json_t *error;          /* with exactly the fields of a result's error, or NULL */
  gboolean out_of_memory; /* the error is a MemoryError, or a system call's ENOMEM */
  json_t *denials;        /* an array of {kind, detail}, each kind known, each detail one line */
  guint32 limits_met;     /* 1 << enum limit */
  json_t *violations; /* an array of {rule, line, column, text, hint}, or NULL: the guard let the code run */
  guint64 variables;  /* of a cell: how many variables the session holds; else 0 */
  GStrv threads;      /* of a cell: names of threads still running, each one line; else NULL */
  GStrv tables;       /* names of files in /tmp/output with tables that the code showed; or NULL */
};
void message_result_clear (struct message_result *result);

/* Reads LENGTH bytes of TEXT. The runner keeps representations and tracebacks within VALUE_BYTES; longer
 * ones, from another writer, are cut or left out. The warnings in it are added to WARNINGS. FALSE when
 * anything is malformed. */
gboolean message_read_result (const char *text, gsize length, guint64 value_bytes,
                              struct message_result *ret_result, GPtrArray *warnings);

/* An upper bound on the values in TEXT, whether it is JSON or not. Each costs some 50 bytes once parsed,
 * however short it is in the text. */
gsize message_count_values (const char *text, gsize length);

/* A display: a MIME bundle, an object of strings, or of any values under names that end in "json". */
struct message_display {
  json_t *bundle;    /* without the members below */
  char *id;          /* or NULL */
  gboolean update;   /* it replaces the display with its id */
  gboolean has_more; /* the text had more than the bundle */
};
void message_display_clear (struct message_display *display);

/* FALSE when it is malformed. */
gboolean message_read_display (const char *text, gsize length, struct message_display *ret_display);

/* Takes the charts as data out of DISPLAYS, an array of bundles, and returns them as an array, the caller's.
 */
json_t *message_take_charts (json_t *displays);

/* What a sandbox says of code in a conversation (WIRE_ATTEMPT): {"digest", "near"}, a text and numbers,
 * within their bounds. The caller's; NULL when malformed. */
json_t *message_read_attempt (const char *text, gsize length);

struct run_request;

/* The text of WIRE_REQUEST. The caller's. */
char *message_write_request (const struct run_request *request, gsize *ret_length);

/* The bytes of WIRE_COMMAND, for a shell. The caller's. */
char *message_write_command (const struct run_request *request, gsize *ret_length);

/* The texts of WIRE_OPEN, of WIRE_CELL for the cell NUMBER, and of WIRE_ASK: WHAT, with the members of
 * DETAILS (may be NULL). */
char *message_write_open (const struct run_request *request, gsize *ret_length);
char *message_write_cell (const struct run_request *request, guint64 number, gsize *ret_length);
char *message_write_question (const char *what, const json_t *details, gsize *ret_length);

/* ---- for those that read a part of a message ---- */

/* An object of bounded size, the caller's; NULL: TEXT is none. */
json_t *message_parse (const char *text, gsize length);

/* Whether VALUE is one of TYPES (enum field_type); 3.0 is no integer, and a list is one of counts. */
gboolean message_has_type (const json_t *value, guint types);

/* Counts of things: not negative. */
gboolean message_is_count (const json_t *value);

/* The beginning of STRING, at most MOST bytes of whole characters. The caller's. */
json_t *message_cut (json_t *string, guint64 most);

/* TEXT as one safe line of at most MOST bytes; NULL when it is no string. The caller's. */
json_t *message_line (json_t *text, guint64 most);
