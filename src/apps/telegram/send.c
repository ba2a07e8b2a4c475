/* SPDX-License-Identifier: Apache-2.0 */
/* Limits are those of the Bot API: https://core.telegram.org/bots/api#sendphoto */
#include "apps/telegram/send.h"

#include <string.h>

#include "common/json.h"
#include "common/log.h"

#define PHOTO_BYTES (10 << 20)
#define PHOTO_SIDES 10000 /* width and height together */
#define PHOTO_RATIO 20
#define ALBUM_MAX   10

static char nothing[] = "(nothing to show)";

static void
send_complain (const struct chat_line *line, const GError *problem)
{
  if (g_error_matches (problem, BOT_API_ERROR, BOT_API_CANCELLED)) {
    if (line->was_cut)
      *line->was_cut = TRUE;
  } else
    log_warning ("telegram: chat %" G_GINT64_FORMAT ": %s", line->chat, problem->message);
}

static gint64
send_id_of (const json_t *message)
{
  return json_integer_value (json_object_get (message, "message_id"));
}

/* ---- words ---- */

static json_t *
parameters_of (const struct chat_line *line, const char *text, gboolean is_html, const json_t *keyboard)
{
  json_t *parameters = json_pack ("{s:I, s:s, s:{s:b}}", "chat_id", (json_int_t)line->chat, "text", text,
                                  "link_preview_options", "is_disabled", 1);
  if (is_html)
    json_object_set_new (parameters, "parse_mode", json_string ("HTML"));
  if (keyboard)
    json_object_set (parameters, "reply_markup", (json_t *)(guintptr)keyboard);
  return parameters;
}

/* What Telegram cannot read as markup goes as it is. */
static gint64
send_page (const struct chat_line *line, const struct page *page, const json_t *keyboard)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) message =
      bot_api_call (line->api, "sendMessage", parameters_of (line, page->html, TRUE, keyboard), &problem);
  if (g_error_matches (problem, BOT_API_ERROR, BOT_API_ENTITIES)) {
    g_clear_error (&problem);
    message =
        bot_api_call (line->api, "sendMessage", parameters_of (line, page->plain, FALSE, keyboard), &problem);
  }
  if (problem)
    send_complain (line, problem);
  return send_id_of (message);
}

static gboolean
send_as_file (const struct chat_line *line, const GPtrArray *all)
{
  g_autoptr (GError) problem = NULL;
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < all->len; i++)
    g_string_append (text, ((const struct page *)all->pdata[i])->plain);
  g_autoptr (GBytes) bytes = g_string_free_to_bytes (text);
  gboolean sent = send_document (line, "reply.txt", "text/plain", bytes, &problem);
  if (!sent)
    send_complain (line, problem);
  return sent;
}

gint64
send_pages (const struct chat_line *line, struct pages *pages, const json_t *keyboard)
{
  const GPtrArray *all = pages_end (pages);
  gint64 id = 0;
  if (all->len == 0)
    return send_page (line, &(const struct page){nothing, nothing}, keyboard);
  guint count = all->len > PAGES_MAX ? 1 : all->len;
  /* A file with all of it comes before the buttons below it. */
  if (keyboard && all->len > PAGES_MAX && !send_as_file (line, all))
    return 0;
  for (guint i = 0; i < count; i++) {
    id = send_page (line, all->pdata[i], i + 1 == count ? keyboard : NULL);
    if (keyboard && id == 0)
      return 0;
  }
  if (!keyboard && all->len > PAGES_MAX)
    send_as_file (line, all);
  return id;
}

gint64
send_text (const struct chat_line *line, const char *text)
{
  struct pages *pages = pages_new ();
  pages_add_text (pages, text);
  gint64 id = send_pages (line, pages, NULL);
  pages_free (pages);
  return id;
}

void
send_edit (const struct chat_line *line, gint64 id, const char *text)
{
  struct pages *pages = pages_new ();
  pages_add_text (pages, text);
  const GPtrArray *all = pages_end (pages);
  if (all->len > 0) {
    json_t *parameters = parameters_of (line, ((const struct page *)all->pdata[0])->plain, FALSE, NULL);
    json_object_set_new (parameters, "message_id", json_integer (id));
    bot_api_try (line->api, "editMessageText", parameters);
  }
  pages_free (pages);
}

void
send_typing (const struct chat_line *line)
{
  bot_api_try (line->api, "sendChatAction",
               json_pack ("{s:I, s:s}", "chat_id", (json_int_t)line->chat, "action", "typing"));
}

/* ---- files ---- */

gboolean
send_document (const struct chat_line *line, const char *name, const char *mime, GBytes *bytes,
               GError **error)
{
  const struct bot_api_file file = {"document", name, mime, bytes};
  g_autoptr (json_t) message = bot_api_send_files (
      line->api, "sendDocument", json_pack ("{s:I}", "chat_id", (json_int_t)line->chat), &file, 1, error);
  return message != NULL;
}

/* ---- pictures ---- */

static guint32
send_number_at (const guint8 *at)
{
  return (guint32)at[0] << 24 | (guint32)at[1] << 16 | (guint32)at[2] << 8 | at[3];
}

/* Whether Telegram takes it as a photo. What is no PNG is left to Telegram to decide. */
static gboolean
is_photo (GBytes *bytes)
{
  gsize length;
  const guint8 *data = g_bytes_get_data (bytes, &length);
  if (length > PHOTO_BYTES)
    return FALSE;
  if (length < 24 || memcmp (data + 12, "IHDR", 4) != 0)
    return TRUE;
  guint64 width = send_number_at (data + 16), height = send_number_at (data + 20);
  return width > 0 && height > 0 && width + height <= PHOTO_SIDES && width <= height * PHOTO_RATIO &&
         height <= width * PHOTO_RATIO;
}

static void
send_pictures_as_documents (const struct chat_line *line, const struct bot_api_file *files, gsize count)
{
  for (gsize i = 0; i < count; i++) {
    g_autoptr (GError) problem = NULL;
    if (!send_document (line, files[i].name, files[i].mime, files[i].bytes, &problem))
      send_complain (line, problem);
  }
}

/* Photos, one or an album. */
static gboolean
send_photos (const struct chat_line *line, struct bot_api_file *files, gsize count, GError **error)
{
  json_t *parameters = json_pack ("{s:I}", "chat_id", (json_int_t)line->chat), *media = json_array ();
  char fields[ALBUM_MAX][16];
  for (gsize i = 0; i < count; i++) {
    g_snprintf (fields[i], sizeof fields[i], "photo%zu", i);
    g_autofree char *attached = g_strconcat ("attach://", fields[i], NULL);
    json_array_append_new (media, json_pack ("{s:s, s:s}", "type", "photo", "media", attached));
    files[i].field = count == 1 ? "photo" : fields[i];
  }
  if (count > 1)
    json_object_set (parameters, "media", media);
  json_decref (media);
  g_autoptr (json_t) sent = bot_api_send_files (line->api, count == 1 ? "sendPhoto" : "sendMediaGroup",
                                                parameters, files, count, error);
  for (gsize i = 0; i < count; i++)
    files[i].field = NULL; /* it was named here */
  return sent != NULL;
}

static void
send_album (const struct chat_line *line, struct bot_api_file *files, gsize count)
{
  g_autoptr (GError) problem = NULL;
  if (count == 0 || send_photos (line, files, count, &problem))
    return;
  send_complain (line, problem);
  if (g_error_matches (problem, BOT_API_ERROR, BOT_API_REFUSED))
    send_pictures_as_documents (line, files, count);
}

static GBytes *
read_picture (const struct chat_line *line, const char *path)
{
  g_autoptr (GError) problem = NULL;
  char *data;
  gsize length;
  if (g_file_get_contents (path, &data, &length, &problem))
    return g_bytes_new_take (data, length);
  log_warning ("telegram: chat %" G_GINT64_FORMAT ": a picture cannot be read: %s", line->chat,
               problem->message);
  return NULL;
}

void
send_pictures (const struct chat_line *line, const json_t *paths)
{
  struct bot_api_file album[ALBUM_MAX];
  g_autoptr (GPtrArray) held = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  gsize index, count = 0;
  json_t *path;
  json_array_foreach ((json_t *)(guintptr)paths, index, path)
  {
    const char *name = strrchr (json_string_value (path), '/');
    GBytes *bytes = read_picture (line, json_string_value (path));
    const struct bot_api_file file = {
        "photo", name ? name + 1 : "picture.png",
        g_str_has_suffix (json_string_value (path), ".png") ? "image/png" : "image/jpeg", bytes};
    if (!bytes)
      continue;
    g_ptr_array_add (held, bytes);
    if (is_photo (bytes))
      album[count++] = file;
    else
      send_pictures_as_documents (line, &file, 1);
    if (count == ALBUM_MAX) {
      send_album (line, album, count);
      count = 0;
    }
  }
  send_album (line, album, count);
}
