/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/telegram/telegram.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>

#include "adder.h"
#include "apps/telegram/dialog.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "common/paths.h"
#include "common/text.h"
#include "common/url.h"

#define TOOLSET       "assistant"
#define NUMBERS_MAX   500            /* users, and chats: so many conversations there are at most, twice */
#define STRANGERS_MAX 1000           /* that are told of in the log */
#define UPDATES_MAX   100            /* of one answer, which is what Telegram gives at most */
#define PAUSE_US      G_USEC_PER_SEC /* between two questions that brought nothing */
#define AGAIN_MS      1000
#define AGAIN_MAX_MS  60000

struct telegram {
  const struct telegram_settings *settings;
  struct bot_api_settings where, where_of_dialogs;
  int over_fd; /* can be read when dialogs are to end: after a signal, and where polling ends by itself */
  struct dialog_world world;
  struct bot_api *api;
  GArray *users, *chats; /* gint64 */
  GHashTable *dialogs;   /* gint64: struct dialog */
  GHashTable *strangers; /* gint64 */
  struct inbox *inbox;
  char *name, *pictures, *state;
};

gboolean
telegram_read_numbers (const char *text, const char *key, GArray **ret_numbers, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (text ? text : "", " ,\t", -1);
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (char **word = words; *word; word++) {
    gint64 number;
    if (**word == '\0')
      continue;
    if (!g_ascii_string_to_signed (*word, 10, G_MININT64, G_MAXINT64, &number, NULL)) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "[telegram] %s: %s is no number of Telegram's",
                   key, *word);
      return FALSE;
    }
    g_array_append_val (numbers, number);
  }
  if (numbers->len > NUMBERS_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "[telegram] %s: more than %d", key, NUMBERS_MAX);
    return FALSE;
  }
  *ret_numbers = g_steal_pointer (&numbers);
  return TRUE;
}

/* ---- who may ---- */

static gboolean
telegram_has (const GArray *numbers, gint64 number)
{
  for (guint i = 0; i < numbers->len; i++)
    if (g_array_index (numbers, gint64, i) == number)
      return TRUE;
  return FALSE;
}

/* A person on the list in a chat with the bot alone; anybody in a chat on the list, since others read along
 * there. */
static gboolean
telegram_is_allowed (const struct telegram *telegram, const json_t *message, const json_t *from)
{
  const json_t *chat = json_object_get (message, "chat");
  gint64 user = json_integer_value (json_object_get (from, "id"));
  gint64 number = json_integer_value (json_object_get (chat, "id"));
  gboolean alone = strcmp (json_member_text (chat, "type"), "private") == 0 && number == user;
  return (alone && telegram_has (telegram->users, user)) || telegram_has (telegram->chats, number);
}

/* The message that UPDATE brings, or that has the button; and who sent or pressed it. */
static const json_t *
telegram_message_of (const json_t *update, const json_t **ret_from)
{
  const json_t *query = json_object_get (update, "callback_query"),
               *message = json_object_get (query ? query : update, "message");
  *ret_from = json_object_get (query ? query : message, "from");
  return message;
}

static gint64
chat_of (const json_t *message)
{
  return json_integer_value (json_object_get (json_object_get (message, "chat"), "id"));
}

/* Each is told of once, so that nobody can fill the log. */
static void
note_stranger (struct telegram *telegram, gint64 user, gint64 chat)
{
  if (g_hash_table_size (telegram->strangers) < STRANGERS_MAX &&
      g_hash_table_add (telegram->strangers, g_memdup2 (&user, sizeof user)))
    log_info ("telegram: user %" G_GINT64_FORMAT " in chat %" G_GINT64_FORMAT
              " is not on the list, and gets no answer",
              user, chat);
}

static gboolean
telegram_is_wanted (gpointer data, const json_t *update)
{
  struct telegram *telegram = data;
  const json_t *from, *message = telegram_message_of (update, &from);
  if (!json_is_object (message) || !json_is_object (from))
    return FALSE;
  if (telegram_is_allowed (telegram, message, from))
    return TRUE;
  note_stranger (telegram, json_integer_value (json_object_get (from, "id")), chat_of (message));
  return FALSE;
}

/* ---- updates ---- */

static struct dialog *
dialog_of (struct telegram *telegram, gint64 chat)
{
  g_autoptr (GError) problem = NULL;
  struct dialog *dialog = g_hash_table_lookup (telegram->dialogs, &chat);
  if (dialog)
    return dialog;
  dialog = dialog_new (&telegram->world, chat, &problem);
  if (dialog)
    g_hash_table_insert (telegram->dialogs, g_memdup2 (&chat, sizeof chat), dialog);
  else
    log_error ("telegram: chat %" G_GINT64_FORMAT " cannot be served: %s", chat, problem->message);
  return dialog;
}

/* What a chat that cannot be served was sent stays in the inbox, for the next start. */
static void
route (struct telegram *telegram, const json_t *updates)
{
  gsize index;
  json_t *update;
  json_array_foreach ((json_t *)(guintptr)updates, index, update)
  {
    const json_t *from, *message = telegram_message_of (update, &from);
    struct dialog *dialog = dialog_of (telegram, chat_of (message));
    if (!dialog)
      continue;
    if (dialog_is_stop (message, telegram->name) && !json_object_get (update, "callback_query"))
      dialog_stop (dialog);
    dialog_take (dialog, update);
  }
}

/* What an earlier process left. Its user may have been taken from the list since. */
static void
take_up (struct telegram *telegram)
{
  g_autoptr (json_t) left = inbox_left (telegram->inbox), wanted = json_array ();
  gsize index;
  json_t *update;
  json_array_foreach (left, index, update)
  {
    if (telegram_is_wanted (telegram, update))
      json_array_append (wanted, update);
    else
      inbox_end (telegram->inbox, inbox_id (update));
  }
  route (telegram, wanted);
}

/* ---- polling ---- */

static gboolean
telegram_is_over (const struct telegram *telegram, gint64 wait_ms)
{
  struct pollfd ready = {.fd = telegram->settings->cancel_fd, .events = POLLIN};
  return poll (&ready, 1, (int)wait_ms) > 0;
}

/* Whether another try may end otherwise. Each kind of trouble is logged when it begins. */
static gboolean
telegram_may_go_on (const GError *problem, int *last)
{
  gboolean known = problem->domain == BOT_API_ERROR;
  if (known && problem->code != *last)
    log_warning ("telegram: %s", problem->message);
  *last = problem->code;
  return known && problem->code != BOT_API_TOKEN && problem->code != BOT_API_NOWHERE;
}

/* One that cannot be read is found by asking for one at a time, and left out. */
static void
step_over (struct telegram *telegram, struct bot_api_wanted *wanted, gint64 id)
{
  if (wanted->limit == 1) {
    inbox_skip (telegram->inbox, id);
    log_warning ("telegram: update %" G_GINT64_FORMAT " cannot be read, and is left out", id);
  }
  wanted->limit = 1;
}

/* What came is taken. *RET_PAUSE_MS: before the next question. */
static gboolean
telegram_take_answer (struct telegram *telegram, const json_t *updates, gint64 asked_us, gint64 *ret_pause_ms,
                      GError **error)
{
  gint64 before = inbox_offset (telegram->inbox);
  g_autoptr (json_t) fresh = inbox_take (telegram->inbox, updates, telegram_is_wanted, telegram, error);
  if (!fresh)
    return FALSE;
  route (telegram, fresh);
  /* A server that does not wait, or repeats itself, is not asked without a pause. */
  gboolean idle = inbox_offset (telegram->inbox) == before && g_get_monotonic_time () - asked_us < PAUSE_US;
  *ret_pause_ms = idle ? PAUSE_US / 1000 : 0;
  return TRUE;
}

static gboolean
poll_on (struct telegram *telegram, GError **error)
{
  struct bot_api_wanted wanted = {.limit = UPDATES_MAX,
                                  .wait_s = (guint)(telegram->settings->config->telegram_poll_ms / 1000)};
  gint64 pause_ms = 0;
  int last = -1;
  while (!telegram_is_over (telegram, inbox_count (telegram->inbox) >= INBOX_MAX ? AGAIN_MS : pause_ms)) {
    g_autoptr (GError) problem = NULL;
    gint64 again_ms, unreadable, asked_us = g_get_monotonic_time ();
    if (inbox_count (telegram->inbox) >= INBOX_MAX)
      continue;
    wanted.offset = inbox_offset (telegram->inbox);
    g_autoptr (json_t) updates = bot_api_poll (telegram->api, &wanted, &again_ms, &unreadable, &problem);
    if (updates) {
      if (!telegram_take_answer (telegram, updates, asked_us, &pause_ms, error))
        return FALSE;
      wanted.limit = UPDATES_MAX;
      last = -1;
    } else if (g_error_matches (problem, BOT_API_ERROR, BOT_API_CANCELLED)) {
      return TRUE;
    } else if (unreadable > 0) {
      step_over (telegram, &wanted, unreadable);
      pause_ms = AGAIN_MS;
    } else if (!telegram_may_go_on (problem, &last)) {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    } else
      pause_ms = again_ms > 0 ? again_ms : MIN (MAX (pause_ms * 2, AGAIN_MS), AGAIN_MAX_MS);
  }
  return TRUE;
}

/* ---- begin and end ---- */

static gboolean
check_api (const struct config *config, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (config->telegram_api, G_URI_FLAGS_NONE, NULL);
  if (uri && url_keeps_secrets (uri))
    return TRUE;
  g_set_error (
      error, ADDER_ERROR, ADDER_ERROR_INVALID,
      "[telegram] api: the token would go there for everybody on the way to read: name an address with "
      "https, or one of this machine");
  return FALSE;
}

static gboolean
read_config (struct telegram *telegram, GError **error)
{
  const struct config *config = telegram->settings->config;
  if (!telegram_read_numbers (config->telegram_users, "users", &telegram->users, error) ||
      !telegram_read_numbers (config->telegram_chats, "chats", &telegram->chats, error))
    return FALSE;
  if (telegram->users->len + telegram->chats->len > 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "nobody would be answered: name users or chats under [telegram] in adder.conf");
  return FALSE;
}

static gboolean
open_places (struct telegram *telegram, GError **error)
{
  g_autofree char *folder = paths_state_dir (error);
  /* One file for each bot: its number is no secret. */
  g_autofree char *number =
      g_strndup (telegram->settings->token, strspn (telegram->settings->token, "0123456789"));
  g_autofree char *name = g_strdup_printf ("telegram-%s.json", number);
  if (!folder)
    return FALSE;
  telegram->state = g_build_filename (folder, name, NULL);
  telegram->pictures = g_build_filename (folder, "telegram-pictures", NULL);
  return (telegram->inbox = inbox_open (telegram->state, error)) != NULL;
}

/* Says who the bot is; its token is looked at before all else. A server that cannot be reached yet is waited
 * for. */
static gboolean
telegram_greet (struct telegram *telegram, GError **error)
{
  g_autoptr (json_t) me = bot_api_call (telegram->api, "getMe", json_object (), error);
  if (!me)
    return FALSE;
  telegram->name = text_one_line (json_member_text (me, "username"), 64);
  log_info ("telegram: this is @%s, for %u users and %u chats", telegram->name, telegram->users->len,
            telegram->chats->len);
  bot_api_try (telegram->api, "setMyCommands", json_pack ("{s:o}", "commands", dialog_commands ()));
  return TRUE;
}

static void
make_world (struct telegram *telegram)
{
  const struct config *config = telegram->settings->config;
  telegram->world = (struct dialog_world){
      .config = config,
      .api = &telegram->where_of_dialogs,
      .toolset = toolset_find (TOOLSET, NULL),
      .model = config->telegram_model,
      .name = telegram->name,
      .pictures = telegram->pictures,
      .inbox = telegram->inbox,
  };
}

/* All are told before anything of theirs is cut off: one that was cut off without knowing would take its
 * message for answered. */
static void
end_dialogs (struct telegram *telegram)
{
  GHashTableIter all;
  gpointer dialog;
  g_hash_table_iter_init (&all, telegram->dialogs);
  while (g_hash_table_iter_next (&all, NULL, &dialog))
    dialog_close (dialog);
  eventfd_write (telegram->over_fd, 1);
  g_hash_table_unref (telegram->dialogs);
}

gboolean
telegram_serve (const struct telegram_settings *settings, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct telegram telegram = {.settings = settings};
  telegram.over_fd = eventfd (0, EFD_CLOEXEC);
  telegram.where = (struct bot_api_settings){
      .url = settings->config->telegram_api, .token = settings->token, .cancel_fd = settings->cancel_fd};
  telegram.where_of_dialogs = telegram.where;
  telegram.where_of_dialogs.cancel_fd = telegram.over_fd;
  telegram.where_of_dialogs.is_patient = TRUE;
  telegram.dialogs = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)dialog_free);
  telegram.strangers = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  gboolean ok = (telegram.over_fd >= 0 || error_from_errno (&problem, errno, "cannot make a descriptor")) &&
                bot_api_check_token (settings->token, &problem) && check_api (settings->config, &problem) &&
                read_config (&telegram, &problem) && open_places (&telegram, &problem) &&
                (telegram.api = bot_api_new (&telegram.where, &problem)) &&
                telegram_greet (&telegram, &problem);
  if (ok) {
    make_world (&telegram);
    take_up (&telegram);
    ok = poll_on (&telegram, &problem);
  }
  end_dialogs (&telegram);
  g_hash_table_unref (telegram.strangers);
  inbox_close (telegram.inbox);
  bot_api_free (telegram.api);
  fd_close (&telegram.over_fd);
  g_clear_pointer (&telegram.users, g_array_unref);
  g_clear_pointer (&telegram.chats, g_array_unref);
  g_free (telegram.name);
  g_free (telegram.pictures);
  g_free (telegram.state);
  /* To be told to end is no failure, wherever it was just then. */
  if (ok || g_error_matches (problem, BOT_API_ERROR, BOT_API_CANCELLED))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}
