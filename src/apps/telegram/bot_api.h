/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of Telegram's Bot API, one at a time: JSON or a form with a file out, JSON in. The token is in
 * every URL, and in no message of ours. https://core.telegram.org/bots/api */
#pragma once

#include <glib.h>
#include <jansson.h>

enum bot_api_error {
  BOT_API_UNREACHABLE, /* no answer; it may be otherwise in a moment */
  BOT_API_FAILED,      /* the server's own fault */
  BOT_API_BUSY,        /* one is to wait */
  BOT_API_BROKEN,      /* an answer that is none */
  BOT_API_TOKEN,       /* refused: it was revoked, or never was one */
  BOT_API_NOWHERE,     /* there is no such bot, or no such method */
  BOT_API_CONFLICT,    /* somebody else polls, or a webhook is set */
  BOT_API_FORBIDDEN,   /* the chat is closed to the bot */
  BOT_API_ENTITIES,    /* the text's markup cannot be read */
  BOT_API_REFUSED,     /* anything else */
  BOT_API_CANCELLED,
};
#define BOT_API_ERROR (bot_api_error_quark ())
GQuark bot_api_error_quark (void);

struct bot_api_settings {
  const char *url;     /* without a slash at its end */
  const char *token;   /* "123:abc" */
  int cancel_fd;       /* what is under way ends when it can be read; -1: nothing does */
  gboolean is_patient; /* also with a token that is refused: whoever polls meets the same, and ends all */
};

struct bot_api;
/* For one thread. What SETTINGS point to must outlive it. NULL with ERROR. */
struct bot_api *bot_api_new (const struct bot_api_settings *settings, GError **error);
/* NULL is allowed. */
void bot_api_free (struct bot_api *api);

/* Whether TOKEN looks like one; ADDER_ERROR_INVALID, which does not show it. */
gboolean bot_api_check_token (const char *token, GError **error);

/* METHOD with PARAMETERS, which are taken: its result, the caller's. Asks again after 429 and where there is
 * no answer, for a day, and a few times where the server failed. Errors are in our own words, since the
 * server's may quote a message or the token. */
json_t *bot_api_call (struct bot_api *api, const char *method, json_t *parameters, GError **error);

/* The same once and within five seconds, for what does not matter. */
void bot_api_try (struct bot_api *api, const char *method, json_t *parameters);

struct bot_api_wanted {
  gint64 offset; /* the first update that is wanted; those before it are confirmed. 0: whatever there is */
  guint limit;   /* 1 to 100 */
  guint wait_s;  /* how long the server waits for one */
};
/* getUpdates; asks once. *RET_AGAIN_MS: how long it is to be waited before the next question; 0: as the
 * caller thinks fit. *RET_UNREADABLE, with BOT_API_BROKEN: the number of the first update in what cannot be
 * read; 0: there is none. */
json_t *bot_api_poll (struct bot_api *api, const struct bot_api_wanted *wanted, gint64 *ret_again_ms,
                      gint64 *ret_unreadable, GError **error);

struct bot_api_file {
  const char *field; /* "photo", or what a media list names as attach:// */
  const char *name, *mime;
  GBytes *bytes;
};
/* The same as a form with COUNT files. */
json_t *bot_api_send_files (struct bot_api *api, const char *method, json_t *parameters,
                            const struct bot_api_file *files, gsize count, GError **error);

/* Fetches the file of getFile's FILE_PATH into FD. At most MOST bytes. */
gboolean bot_api_download (struct bot_api *api, const char *file_path, guint64 most, int fd, GError **error);
