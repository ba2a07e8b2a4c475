/* SPDX-License-Identifier: Apache-2.0 */
/* `adder telegram`: a bot that answers in chats of Telegram. */
#include "apps/telegram/cli_telegram.h"

#include <string.h>
#include <sys/stat.h>

#include "adder.h"
#include "apps/telegram/telegram.h"
#include "common/config.h"
#include "common/log.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/signal_handler.h"
#include "models/keys.h"
#include "models/private_file.h"

#define VARIABLE "ADDER_TELEGRAM_TOKEN"

/* What should be the token, the caller's; NULL with ERROR. */
static char *
cli_telegram_read_token (const struct config *config, GError **error)
{
  gsize length;
  gboolean missing = FALSE;
  const char *value = g_getenv (VARIABLE);
  if (value && value[0])
    return g_strstrip (g_strdup (value));
  if (!config->telegram_token_file) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "there is no token: @BotFather gives one; put it into the variable " VARIABLE
                 ", or into a file of mode "
                 "0600 that [telegram] token_file in adder.conf names");
    return NULL;
  }
  g_autofree char *text = private_file_read (config->telegram_token_file, KEY_BYTES_MAX, S_IRWXG | S_IRWXO,
                                             &length, &missing, error);
  if (missing)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
                 "there is no file %s, which [telegram] token_file names", config->telegram_token_file);
  char *token = text ? g_strstrip (g_strdup (text)) : NULL;
  if (text)
    explicit_bzero (text, strlen (text));
  return token;
}

static gboolean
cli_telegram_serve (const struct config *config, int cancel_fd, GError **error)
{
  char *token = cli_telegram_read_token (config, error);
  if (!token)
    return FALSE;
  /* What this starts, such as a daemon, has no business with it. */
  g_unsetenv (VARIABLE);
  const struct telegram_settings settings = {config, token, cancel_fd};
  gboolean ok = telegram_serve (&settings, error);
  explicit_bzero (token, strlen (token));
  g_free (token);
  return ok;
}

int
cli_telegram (int argc, char **argv)
{
  const GOptionEntry entries[] = {{0}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct signal_handler *signals = signal_handler_start ();
  struct config *config = config_load (NULL, &problem);
  if (!config)
    return cli_fail (problem);
  log_to_stderr (config->log_level, config->log_format);
  gboolean ok = cli_telegram_serve (config, signal_handler_fd (signals), &problem);
  config_free (config);
  return ok ? 0 : cli_fail (problem);
}
