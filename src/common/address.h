/* SPDX-License-Identifier: Apache-2.0 */
/* Network addresses: whether one is public, blocks of them (10.1.0.0/16), and the names and numbers of
 * hosts. */
#pragma once

#include <glib.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* ---- addresses ---- */

struct address {
  int family; /* AF_INET or AF_INET6 */
  guint8 bytes[16];
};

gboolean address_from_socket (const struct sockaddr *from, struct address *ret_address);
socklen_t address_to_socket (const struct address *address, guint16 port, struct sockaddr_storage *ret_to);

/* 1.2.3.4 or 2001:db8::1, in standard notation only: no octal, no 127.1. */
gboolean address_parse (const char *text, struct address *ret_address);
char *address_format (const struct address *address); /* the caller's */

/* What distinguishes ADDRESS from those of public hosts: "a private address", static; NULL: nothing.
 * Addresses that stand for another are special (mapped, 6to4, NAT64, Teredo). */
const char *address_special (const struct address *address);

/* Whether ADDRESS stands for another one, in any network. */
gboolean address_is_disguised (const struct address *address);

/* ---- blocks ---- */

struct address_block {
  struct address first;
  guint bits;
};

/* ADDRESS or ADDRESS/BITS, without bits set below. */
gboolean address_block_parse (const char *text, struct address_block *ret_block);
gboolean address_block_has (const struct address_block *block, const struct address *address);

/* Why ADDRESS must not be reached for somebody who named the host: it is not a public host's, or is one of
 * this host's own ("a private address"; static). NULL: it may, or one of OPENED (array of struct
 * address_block, or NULL) contains it. Check the address actually connected to, since a name may resolve
 * differently the next time. */
const char *address_obstacle (const struct address *address, const GArray *opened);

/* ---- hosts ---- */

#define HOST_BYTES 254

struct host_name {
  char text[HOST_BYTES]; /* in lower case, without a dot at its end; an address as address_format writes it */
  gboolean is_address;
  struct address address;
};

/* The host in TEXT of LENGTH, in [brackets] if it is an IPv6 address. FALSE: invalid or ambiguous: any number
 * in another notation, and everything but ASCII. */
gboolean host_name_parse (const char *text, gsize length, struct host_name *ret_name);

/* HOST, or HOST:PORT, between TEXT and its end at LENGTH. *RET_PORT is 0 if absent. */
gboolean host_port_parse (const char *text, gsize length, struct host_name *ret_name, guint16 *ret_port);
