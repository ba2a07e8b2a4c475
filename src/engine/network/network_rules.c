/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the network: entries of the list, what they allow, and the key of a secret header. */
#include "engine/network/network_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"

#define KEY_BYTES 8192

static void
clear_host (gpointer data)
{
  g_free (((struct network_host *)data)->name);
}

struct network_rules *
network_rules_new (void)
{
  struct network_rules *rules = g_new0 (struct network_rules, 1);
  g_atomic_ref_count_init (&rules->references);
  rules->hosts = g_array_new (FALSE, FALSE, sizeof (struct network_host));
  g_array_set_clear_func (rules->hosts, clear_host);
  rules->text = g_strdup ("");
  return rules;
}

struct network_rules *
network_rules_ref (struct network_rules *rules)
{
  if (rules)
    g_atomic_ref_count_inc (&rules->references);
  return rules;
}

void
network_secret_free (struct network_secret *secret)
{
  if (!secret)
    return;
  g_free (secret->header);
  g_free (secret->value);
  g_free (secret->file);
  g_free (secret->variable);
  g_free (secret);
}

void
network_rules_unref (struct network_rules *rules)
{
  if (!rules || !g_atomic_ref_count_dec (&rules->references))
    return;
  network_secret_free (rules->secret);
  g_array_unref (rules->hosts);
  g_free (rules->profile);
  g_free (rules->text);
  g_free (rules);
}

/* ---- the list ---- */

/* ADDRESS/BITS or [ADDRESS]/BITS, with or without :PORT. */
static gboolean
parse_block (const char *word, struct network_host *host)
{
  gboolean bracketed = word[0] == '[';
  const char *slash = strchr (word, '/');
  const char *colon = slash ? strchr (slash, ':') : NULL;
  guint64 port = 0;
  if (!slash || (colon && !g_ascii_string_to_unsigned (colon + 1, 10, 1, 65535, &port, NULL)))
    return FALSE;
  gsize length = (gsize)(slash - word);
  if (bracketed && (length < 2 || word[length - 1] != ']'))
    return FALSE;
  g_autofree char *number = g_strndup (word + bracketed, length - 2 * (gsize)bracketed);
  g_autofree char *bits = g_strndup (slash, colon ? (gsize)(colon - slash) : strlen (slash));
  g_autofree char *text = g_strconcat (number, bits, NULL);
  host->is_block = TRUE;
  host->port = (guint16)port;
  return (strchr (number, ':') != NULL) == bracketed && address_block_parse (text, &host->block);
}

/* "*", "*:443", "*.example.org", or a name. People may write names in their own letters. */
static gboolean
parse_name (const char *word, struct network_host *host)
{
  struct host_name name = {.is_address = FALSE};
  guint16 port = 0;
  gboolean any = word[0] == '*' && (word[1] == '\0' || word[1] == ':');
  host->wildcard = any || g_str_has_prefix (word, "*.");
  g_autofree char *rest =
      any ? g_strconcat ("any", word + 1, NULL) : g_strdup (word + (host->wildcard ? 2 : 0));
  g_autofree char *ascii = g_str_is_ascii (rest) ? g_strdup (rest) : g_hostname_to_ascii (rest);
  if (!ascii || !host_port_parse (ascii, strlen (ascii), &name, &port) || (host->wildcard && name.is_address))
    return FALSE;
  host->port = port;
  host->is_block = name.is_address;
  host->block = (struct address_block){name.address, name.address.family == AF_INET ? 32 : 128};
  host->name = any || name.is_address ? NULL : g_strdup (name.text);
  return TRUE;
}

gboolean
network_rules_add (struct network_rules *rules, const char *word, GError **error)
{
  struct network_host host = {.name = NULL};
  if (!(strchr (word, '/') ? parse_block (word, &host) : parse_name (word, &host))) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "\"%s\" is no host: there are example.org, *.example.org, example.org:8443, *, 192.0.2.7, "
                 "[2001:db8::7] and 10.1.0.0/16",
                 word);
    return FALSE;
  }
  g_array_append_val (rules->hosts, host);
  char *text = g_strconcat (rules->text, rules->text[0] ? ", " : "", word, NULL);
  g_free (rules->text);
  rules->text = text;
  return TRUE;
}

enum network
network_rules_needs (const struct network_rules *rules)
{
  if (!rules)
    return NETWORK_NONE;
  gboolean empty = rules->hosts->len == 0 && !rules->secret;
  return rules->mode == NETWORK_ALLOW && empty ? NETWORK_NONE : rules->mode;
}

static gboolean
network_rules_is_below (const char *name, const char *domain)
{
  gsize length = strlen (name), of_domain = strlen (domain);
  return length > of_domain + 1 && name[length - of_domain - 1] == '.' &&
         strcmp (name + length - of_domain, domain) == 0;
}

static gboolean
host_fits (const struct network_host *entry, const struct host_name *host)
{
  if (entry->is_block)
    return host->is_address && address_block_has (&entry->block, &host->address);
  if (!entry->name)
    return TRUE;
  if (host->is_address)
    return FALSE;
  return entry->wildcard ? network_rules_is_below (host->text, entry->name)
                         : strcmp (host->text, entry->name) == 0;
}

static gboolean
port_fits (const struct network_host *entry, guint16 port)
{
  return entry->port ? port == entry->port : port == NETWORK_PORT_HTTP || port == NETWORK_PORT_HTTPS;
}

gboolean
network_rules_allow (const struct network_rules *rules, const struct host_name *host, guint16 port)
{
  for (guint i = 0; i < rules->hosts->len; i++) {
    const struct network_host *entry = &g_array_index (rules->hosts, struct network_host, i);
    if (host_fits (entry, host) && port_fits (entry, port))
      return TRUE;
  }
  return FALSE;
}

/* ---- the secret ---- */

const struct network_secret *
network_rules_secret (const struct network_rules *rules, const struct host_name *host, guint16 port)
{
  const struct network_secret *secret = rules->secret;
  if (!secret || strcmp (secret->host.text, host->text) != 0)
    return NULL;
  /* "http://host/" means the secret's host at its own port, be that one of TLS. */
  return port == secret->port || port == NETWORK_PORT_HTTP ? secret : NULL;
}

void
network_secret_wipe (char *value)
{
  if (value)
    explicit_bzero (value, strlen (value));
  g_free (value);
}

static gboolean
refuse_key (GError **error, const char *file, const char *fault)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the key file %s %s", file, fault);
  return FALSE;
}

static gboolean
network_rules_read_key_file (const char *file, char **ret_key, GError **error)
{
  char text[KEY_BYTES + 1];
  struct stat info;
  /* Not O_NOFOLLOW: secrets are often mounted as links. */
  autoclose int fd = open (file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 || fstat (fd, &info) < 0)
    return error_from_errno (error, errno, "cannot open the key file %s", file);
  if (!S_ISREG (info.st_mode))
    return refuse_key (error, file, "is no regular file");
  if (info.st_mode & 077)
    return refuse_key (error, file, "can be read by others than its owner: chmod 600");
  gssize got = read (fd, text, sizeof text);
  if (got < 0)
    return error_from_errno (error, errno, "cannot read the key file %s", file);
  if (got > KEY_BYTES)
    return refuse_key (error, file, "is too long");
  *ret_key = g_strndup (text, (gsize)got);
  explicit_bzero (text, sizeof text);
  return TRUE;
}

/* What would end the header, or not be one. */
static gboolean
network_rules_is_value (const char *value)
{
  for (const char *at = value; *at; at++)
    if ((guchar)*at < 0x20 || *at == 0x7f)
      return FALSE;
  return value[0] != '\0';
}

char *
network_secret_read (const struct network_secret *secret, GError **error)
{
  char *key = NULL;
  if (secret->file && !network_rules_read_key_file (secret->file, &key, error))
    return NULL;
  if (secret->variable)
    key = g_strdup (g_getenv (secret->variable));
  if (!key) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the daemon has no variable %s with the key",
                 secret->variable);
    return NULL;
  }
  g_strstrip (key);
  if (!network_rules_is_value (key)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the key for %s is empty or not one line of text",
                 secret->host.text);
    network_secret_wipe (key);
    return NULL;
  }
  const char *place = strstr (secret->value, "{}");
  g_autofree char *before = g_strndup (secret->value, (gsize)(place - secret->value));
  char *value = g_strconcat (before, key, place + 2, NULL);
  network_secret_wipe (key);
  return value;
}
