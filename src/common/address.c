/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, blocks, and names of hosts. */
#include "common/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <string.h>

/* A name, with the dots between its labels (RFC 1035). */
#define LABEL_BYTES 63

/* ---- addresses ---- */

gboolean
address_from_socket (const struct sockaddr *from, struct address *ret_address)
{
  *ret_address = (struct address){.family = from->sa_family};
  if (from->sa_family == AF_INET)
    memcpy (ret_address->bytes, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
  else if (from->sa_family == AF_INET6)
    memcpy (ret_address->bytes, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 16);
  else
    return FALSE;
  return TRUE;
}

socklen_t
address_to_socket (const struct address *address, guint16 port, struct sockaddr_storage *ret_to)
{
  memset (ret_to, 0, sizeof *ret_to);
  if (address->family == AF_INET) {
    struct sockaddr_in *to = (struct sockaddr_in *)(void *)ret_to;
    to->sin_family = AF_INET;
    to->sin_port = htons (port);
    memcpy (&to->sin_addr, address->bytes, 4);
    return sizeof *to;
  }
  struct sockaddr_in6 *to = (struct sockaddr_in6 *)(void *)ret_to;
  to->sin6_family = AF_INET6;
  to->sin6_port = htons (port);
  memcpy (&to->sin6_addr, address->bytes, 16);
  return sizeof *to;
}

gboolean
address_parse (const char *text, struct address *ret_address)
{
  struct address address = {.family = strchr (text, ':') ? AF_INET6 : AF_INET};
  if (inet_pton (address.family, text, address.bytes) != 1)
    return FALSE;
  *ret_address = address;
  return TRUE;
}

char *
address_format (const struct address *address)
{
  char text[INET6_ADDRSTRLEN];
  return g_strdup (inet_ntop (address->family, address->bytes, text, sizeof text));
}

/* ---- blocks ---- */

static guint
address_bits (const struct address *address)
{
  return address->family == AF_INET ? 32 : 128;
}

static guint
bit_of (const struct address *address, guint bit)
{
  return address->bytes[bit / 8] >> (7 - bit % 8) & 1u;
}

gboolean
address_block_has (const struct address_block *block, const struct address *address)
{
  if (block->first.family != address->family ||
      memcmp (block->first.bytes, address->bytes, block->bits / 8) != 0)
    return FALSE;
  for (guint bit = block->bits & ~7u; bit < block->bits; bit++)
    if (bit_of (&block->first, bit) != bit_of (address, bit))
      return FALSE;
  return TRUE;
}

gboolean
address_block_parse (const char *text, struct address_block *ret_block)
{
  const char *slash = strchr (text, '/');
  g_autofree char *number = g_strndup (text, slash ? (gsize)(slash - text) : strlen (text));
  struct address_block block;
  guint64 bits;
  if (!address_parse (number, &block.first))
    return FALSE;
  block.bits = address_bits (&block.first);
  if (slash) {
    if (!g_ascii_string_to_unsigned (slash + 1, 10, 0, block.bits, &bits, NULL))
      return FALSE;
    block.bits = (guint)bits;
  }
  for (guint bit = block.bits; bit < address_bits (&block.first); bit++)
    if (bit_of (&block.first, bit))
      return FALSE;
  *ret_block = block;
  return TRUE;
}

/* ---- what is special ---- */

/* The registries of special addresses (RFC 6890, IANA), and the metadata addresses of clouds. The first match
 * counts. */
static const struct {
  const char *block;
  const char *what;
  gboolean disguised;
} special[] = {
    {"169.254.169.254", "the address of a cloud's metadata service", FALSE},
    {"168.63.129.16", "the address of a cloud's metadata service", FALSE},
    {"100.100.100.200", "the address of a cloud's metadata service", FALSE},
    {"0.0.0.0/8", "an address of this host", FALSE},
    {"10.0.0.0/8", "a private address", FALSE},
    {"100.64.0.0/10", "an address of a carrier's network", FALSE},
    {"127.0.0.0/8", "a loopback address", FALSE},
    {"169.254.0.0/16", "a link-local address", FALSE},
    {"172.16.0.0/12", "a private address", FALSE},
    {"192.0.0.0/24", "a reserved address", FALSE},
    {"192.0.2.0/24", "an address for examples", FALSE},
    {"192.88.99.0/24", "an address of a relay", FALSE},
    {"192.168.0.0/16", "a private address", FALSE},
    {"198.18.0.0/15", "an address for measurements", FALSE},
    {"198.51.100.0/24", "an address for examples", FALSE},
    {"203.0.113.0/24", "an address for examples", FALSE},
    {"224.0.0.0/4", "a multicast address", FALSE},
    {"240.0.0.0/4", "a reserved address", FALSE},
    {"::", "an address of this host", FALSE},
    {"::1", "a loopback address", FALSE},
    {"::ffff:0:0/96", "an address that stands for another", TRUE},
    {"::/96", "an address that stands for another", TRUE},
    {"64:ff9b::/96", "an address that stands for another", TRUE},
    {"64:ff9b:1::/48", "an address that stands for another", TRUE},
    {"2002::/16", "an address that stands for another", TRUE},
    {"2001::/32", "an address that stands for another", TRUE},
    {"fd00:ec2::254", "the address of a cloud's metadata service", FALSE},
    {"fc00::/7", "a private address", FALSE},
    {"fe80::/10", "a link-local address", FALSE},
    {"fec0::/10", "a private address", FALSE},
    {"ff00::/8", "a multicast address", FALSE},
    {"2001::/23", "a reserved address", FALSE},
    {"2001:db8::/32", "an address for examples", FALSE},
    {"3fff::/20", "an address for examples", FALSE},
};

/* All blocks assigned to public hosts so far. */
#define PUBLIC_IPV6 "2000::/3"

static struct address_block
block_of (const char *text)
{
  struct address_block block;
  if (!address_block_parse (text, &block))
    g_error ("the block %s is wrong", text);
  return block;
}

const char *
address_special (const struct address *address)
{
  for (gsize i = 0; i < G_N_ELEMENTS (special); i++) {
    const struct address_block block = block_of (special[i].block);
    if (address_block_has (&block, address))
      return special[i].what;
  }
  const struct address_block public = block_of (PUBLIC_IPV6);
  return address->family == AF_INET || address_block_has (&public, address) ? NULL : "a reserved address";
}

gboolean
address_is_disguised (const struct address *address)
{
  for (gsize i = 0; i < G_N_ELEMENTS (special); i++) {
    const struct address_block block = block_of (special[i].block);
    if (address_block_has (&block, address))
      return special[i].disguised;
  }
  return FALSE;
}

/* ---- reaching addresses named by others ---- */

/* Whether ADDRESS is one of this host's own: services there may be private. */
static gboolean
address_is_own (const struct address *address)
{
  struct ifaddrs *list;
  struct address own;
  gboolean found = FALSE;
  if (getifaddrs (&list) < 0)
    return TRUE; /* unknown */
  for (const struct ifaddrs *at = list; at && !found; at = at->ifa_next)
    found = at->ifa_addr && address_from_socket (at->ifa_addr, &own) && own.family == address->family &&
            memcmp (own.bytes, address->bytes, sizeof own.bytes) == 0;
  freeifaddrs (list);
  return found;
}

const char *
address_obstacle (const struct address *address, const GArray *opened)
{
  const char *what = address_special (address);
  if (!what && address_is_own (address))
    what = "an address of this host";
  for (guint i = 0; what && opened && !address_is_disguised (address) && i < opened->len; i++)
    if (address_block_has (&g_array_index (opened, struct address_block, i), address))
      return NULL;
  return what;
}

/* ---- hosts ---- */

static gboolean
is_label (const char *label, gsize length)
{
  if (length == 0 || length > LABEL_BYTES || label[0] == '-' || label[length - 1] == '-')
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_islower (label[i]) && !g_ascii_isdigit (label[i]) && label[i] != '-' && label[i] != '_')
      return FALSE;
  return TRUE;
}

/* Numbers that resolvers take for an address: 2130706433, 0x7f.1, 0177.0.0.1. */
static gboolean
looks_like_number (const char *label)
{
  if (strspn (label, "0123456789") == strlen (label))
    return TRUE;
  return label[0] == '0' && label[1] == 'x' && strspn (label + 2, "0123456789abcdef") == strlen (label + 2);
}

static gboolean
address_is_name (const char *name)
{
  const char *label = name;
  for (;;) {
    gsize length = strcspn (label, ".");
    if (!is_label (label, length))
      return FALSE;
    if (label[length] == '\0')
      return !looks_like_number (label);
    label += length + 1;
  }
}

static gboolean
set_address (struct host_name *name, const char *text)
{
  if (!address_parse (text, &name->address))
    return FALSE;
  g_autofree char *canonical = address_format (&name->address);
  name->is_address = TRUE;
  g_strlcpy (name->text, canonical, sizeof name->text);
  return TRUE;
}

gboolean
host_name_parse (const char *text, gsize length, struct host_name *ret_name)
{
  struct host_name name = {.is_address = FALSE};
  gboolean bracketed = length >= 2 && text[0] == '[' && text[length - 1] == ']';
  if (length == 0 || length >= sizeof name.text || memchr (text, 0, length))
    return FALSE;
  g_autofree char *inner =
      bracketed ? g_strndup (text + 1, length - 2) : g_ascii_strdown (text, (gssize)length);
  if (bracketed) {
    if (!strchr (inner, ':') || !set_address (&name, inner))
      return FALSE;
  } else if (strchr (inner, ':') || !set_address (&name, inner)) {
    /* "example.org." is example.org, whatever the search domain. */
    if (length > 1 && inner[length - 1] == '.')
      inner[length - 1] = '\0';
    if (!address_is_name (inner))
      return FALSE;
    g_strlcpy (name.text, inner, sizeof name.text);
  }
  *ret_name = name;
  return TRUE;
}

gboolean
host_port_parse (const char *text, gsize length, struct host_name *ret_name, guint16 *ret_port)
{
  const char *end = text + length, *colon = end;
  while (colon > text && g_ascii_isdigit (colon[-1]))
    colon--;
  guint64 port = 0;
  gsize host = length;
  if (colon > text && colon[-1] == ':' &&
      !(memchr (text, ':', (gsize)(colon - 1 - text)) && text[0] != '[')) {
    g_autofree char *number = g_strndup (colon, (gsize)(end - colon));
    if (!g_ascii_string_to_unsigned (number, 10, 1, 65535, &port, NULL) || number[0] == '0')
      return FALSE;
    host = (gsize)(colon - 1 - text);
  }
  if (!host_name_parse (text, host, ret_name))
    return FALSE;
  *ret_port = (guint16)port;
  return TRUE;
}
