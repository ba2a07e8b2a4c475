/* SPDX-License-Identifier: Apache-2.0 */
/* [network]: what code can reach (docs/network.md). */
#include <stddef.h>
#include <string.h>

#include "adder_types.h"
#include "policy/profile_groups.h"

#define PORT_HTTP  NETWORK_PORT_HTTP
#define PORT_HTTPS NETWORK_PORT_HTTPS

/* The key's place in a header's value. */
#define PLACE "{}"

#define TOKEN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

static gboolean
check_entry (const char *word, GError **error)
{
  struct network_rules *rules = network_rules_new ();
  gboolean good = network_rules_add (rules, word, error);
  network_rules_unref (rules);
  return good;
}

/* http://host, https://host, each with or without :port. */
static gboolean
parse_secret_host (const char *value, struct network_secret *secret)
{
  secret->tls = g_str_has_prefix (value, "https://");
  if (!secret->tls && !g_str_has_prefix (value, "http://"))
    return FALSE;
  const char *host = strstr (value, "://") + 3;
  gsize length = strlen (host);
  if (length > 0 && host[length - 1] == '/')
    length--;
  if (!host_port_parse (host, length, &secret->host, &secret->port))
    return FALSE;
  if (secret->port == 0)
    secret->port = secret->tls ? PORT_HTTPS : PORT_HTTP;
  return TRUE;
}

static gboolean
check_secret_host (const char *value, GError **error)
{
  struct network_secret secret;
  if (parse_secret_host (value, &secret))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "\"%s\" is no host with a scheme, as https://api.example.org", value);
  return FALSE;
}

/* "Authorization: Bearer {}" */
static gboolean
check_secret_header (const char *value, GError **error)
{
  gsize name = strspn (value, TOKEN);
  const char *place = strstr (value, PLACE);
  /* The proxy settles these itself. */
  static const char *const framing[] = {"host", "connection", "content-length", "transfer-encoding",
                                        "te",   "trailer",    "upgrade",        "expect",
                                        NULL};
  g_autofree char *lower = g_ascii_strdown (value, (gssize)name);
  if (name > 0 && value[name] == ':' && place && !strstr (place + 2, PLACE) &&
      !g_strv_contains (framing, lower))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "\"%s\" is no header with one {} where the key goes, as Authorization: Bearer {}", value);
  return FALSE;
}

static gboolean
check_secret_file (const char *value, GError **error)
{
  if (g_path_is_absolute (value))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not an absolute path", value);
  return FALSE;
}

const struct profile_key profile_network_keys[] = {
    {"mode", PROFILE_CHOICE, PROFILE_AT (network.mode), .choices = network_names,
     .text = "`none`, the default: nothing. `allow`: the hosts of `allow`, through a proxy. `full`: the "
             "host's network, with everything that it reaches; for work that a person approved."},
    {"allow", PROFILE_LIST, PROFILE_AT (network.allow), .check = check_entry,
     .values = "`api.example.org`, `*.example.org`, `example.org:8443`, `192.0.2.7`, `10.1.0.0/16`, `*`",
     .text =
         "The hosts that code can reach with `mode = allow`; without a port, ports 80 and 443. `*.` means "
         "any name below, `*` any host, an empty list none. Private addresses are always refused, except "
         "for the configuration's `[network] private_networks`."},
    {"secret_host", PROFILE_TEXT, PROFILE_AT (network.secret_host), .check = check_secret_host,
     .values = "`https://api.example.org`",
     .text = "The host to whose requests the proxy adds `secret_header`, so that code never has the key. "
             "Code requests `http://api.example.org/...`; the proxy uses TLS if this begins with `https`."},
    {"secret_header", PROFILE_TEXT, PROFILE_AT (network.secret_header), .check = check_secret_header,
     .values = "`Authorization: Bearer {}`",
     .text = "The header, with `{}` for the key; by default `Authorization: Bearer {}`."},
    {"secret_file", PROFILE_TEXT, PROFILE_AT (network.secret_file), .check = check_secret_file,
     .values = "an absolute path", .text = "The file with the key; only its owner may be able to read it."},
    {"secret_variable", PROFILE_TEXT, PROFILE_AT (network.secret_variable), .values = "a name",
     .text = "Instead of `secret_file`: the daemon's environment variable with the key."},
    {NULL},
};

gboolean
profile_network_check (const struct profile *profile, const char **ret_key, GError **error)
{
  const struct profile_network *network = &profile->network;
  const struct {
    const char *key;
    gboolean wrong;
    const char *what;
  } rules[] = {
      {"allow", network->allow && network->mode != NETWORK_ALLOW, "the list counts with mode = allow alone"},
      {"secret_host", network->secret_host && network->mode != NETWORK_ALLOW,
       "the proxy that adds the header is there with mode = allow alone"},
      {"secret_host", network->secret_host && !network->secret_file && !network->secret_variable,
       "the key is to be named as well: secret_file or secret_variable"},
      {"secret_variable", network->secret_file && network->secret_variable,
       "the key comes from secret_file or from secret_variable, not from both"},
      {"secret_file", !network->secret_host && network->secret_file,
       "there is no secret_host that it is for"},
      {"secret_variable", !network->secret_host && network->secret_variable,
       "there is no secret_host that it is for"},
      {"secret_header", !network->secret_host && network->secret_header,
       "there is no secret_host that it is for"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].wrong) {
      *ret_key = rules[i].key;
      g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, rules[i].what);
      return FALSE;
    }
  return TRUE;
}

static struct network_secret *
make_secret (const struct profile_network *network)
{
  struct network_secret *secret = g_new0 (struct network_secret, 1);
  const char *header = network->secret_header ? network->secret_header : "Authorization: Bearer {}";
  gsize name = strcspn (header, ":");
  g_autofree char *value = g_strdup (header + name + 1);
  (void)parse_secret_host (network->secret_host, secret);
  secret->header = g_strndup (header, name);
  secret->value = g_strdup (g_strstrip (value));
  secret->file = g_strdup (network->secret_file);
  secret->variable = g_strdup (network->secret_variable);
  return secret;
}

struct network_rules *
profile_network_rules (const struct profile *profile)
{
  const struct profile_network *network = &profile->network;
  if (network->mode == NETWORK_NONE)
    return NULL;
  struct network_rules *rules = network_rules_new ();
  rules->mode = (enum network)network->mode;
  rules->profile = g_strdup (profile->name);
  /* They were checked when the profile was read. */
  for (gsize i = 0; network->allow && network->allow[i]; i++)
    (void)network_rules_add (rules, network->allow[i], NULL);
  if (network->secret_host)
    rules->secret = make_secret (network);
  return rules;
}
