/* SPDX-License-Identifier: Apache-2.0 */
/* Displays of a run. They come by the socket and output by pipes, and events keep the order in which the code
 * made them: its main thread flushes what it printed, sends a display and waits for WIRE_SEEN, so that what
 * is in the pipes when a display comes was printed before it. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/disable_layers.h"
#include "common/json.h"
#include "engine/run/run_private.h"
#include "runner/wire.h"

/* In all displays of a run together: some 50 MB once they are parsed. */
#define VALUES_MAX 1000000

/* Replaces the display that it updates, or appends it. */
static void
keep_display (struct adder_run *run, const struct message_display *display)
{
  gpointer place =
      display->id && run->display_ids ? g_hash_table_lookup (run->display_ids, display->id) : NULL;
  if (display->update && place) {
    json_array_set (run->displays, GPOINTER_TO_UINT (place) - 1, display->bundle);
    return;
  }
  json_array_append (run->displays, display->bundle);
  if (!display->id)
    return;
  if (!run->display_ids)
    run->display_ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_replace (run->display_ids, g_strdup (display->id),
                        GUINT_TO_POINTER ((guint)json_array_size (run->displays)));
}

/* DISPLAY's text, of LENGTH bytes, is run->display. */
static void
tell_display (struct adder_run *run, struct message_display *display, gsize length, AdderEvent *event)
{
  keep_display (run, display);
  run->display_id = g_steal_pointer (&display->id);
  if (display->has_more) {
    g_free (run->display);
    run->display = json_to_text (display->bundle);
    length = strlen (run->display);
  }
  *event = (AdderEvent){.kind = ADDER_EVENT_DISPLAY,
                        .data = run->display,
                        .length = length,
                        .display_id = run->display_id,
                        .update = display->update};
  json_decref (run->shown);
  run->shown = g_steal_pointer (&display->bundle);
  message_display_clear (display);
}

void
run_take_display (struct adder_run *run, char *text, gsize length)
{
  run->display_count++;
  run->display_bytes += length;
  run->values += message_count_values (text, length);
  g_free (run->display);
  run->display = text;
  g_clear_pointer (&run->display_id, g_free);
  if ((run->display_count > WIRE_FRAMES_MAX || run->display_bytes > WIRE_RESULT_MAX ||
       run->values > VALUES_MAX) &&
      !layer_is_disabled (LAYER_FRAMES)) {
    run_stop (run, STOP_DISPLAYS);
    return;
  }
  if (!message_read_display (text, length, &run->held)) {
    run_stop (run, STOP_PROTOCOL);
    return;
  }
  run->held_length = length;
  run->holds = TRUE;
  run_measure_streams (run);
}

/* Code that does not read, so that its socket is full, gets the last number when it does. */
void
run_send_seen (struct adder_run *run)
{
  const struct {
    struct frame_header header;
    uint32_t count;
  } seen = {{.kind = WIRE_SEEN, .length = sizeof (uint32_t)}, run->display_count};
  /* So few bytes are sent whole or not at all. */
  run->owes_seen = channel_is_sending (&run->sandbox->channel) ||
                   (send (run->sandbox->socket_fd, &seen, sizeof seen, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
                    errno == EAGAIN);
}

static gboolean
run_display_tell_progress (struct adder_run *run, AdderEvent *event)
{
  if (!run->progressed)
    return FALSE;
  run->progressed = FALSE;
  *event = (AdderEvent){.kind = ADDER_EVENT_PROGRESS, .done = run->progress.done, .of = run->progress.of};
  return TRUE;
}

gboolean
run_tell_held (struct adder_run *run, AdderEvent *event)
{
  if (!run->holds)
    return run_display_tell_progress (run, event);
  if (run_drain (run, event))
    return TRUE;
  run->holds = FALSE;
  tell_display (run, &run->held, run->held_length, event);
  run_send_seen (run);
  return TRUE;
}
