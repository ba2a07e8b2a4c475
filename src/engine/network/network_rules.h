/* SPDX-License-Identifier: Apache-2.0 */
/* What the network is to one run, or to one session: the profile's group [network], which policy/ reads.
 * Never changed once a request has it. */
#pragma once

#include <glib.h>

#include "common/address.h"
#include "sandbox/network.h"

/* The ports of a host that is named without one. */
#define NETWORK_PORT_HTTP  80
#define NETWORK_PORT_HTTPS 443

/* One entry of the list: api.example.org, *.example.org, *, 192.0.2.7, 10.1.0.0/16, [2001:db8::]/32; each
 * with or without :PORT. */
struct network_host {
  char *name;        /* of a name, without "*." */
  gboolean wildcard; /* any name below NAME; without a NAME, any at all */
  gboolean is_block;
  struct address_block block;
  guint16 port; /* 0: those of HTTP and HTTPS */
};

/* A header that the proxy puts on plain requests to one host, so that code need not know the key in it. */
struct network_secret {
  struct host_name host;
  guint16 port;
  gboolean tls;         /* the proxy speaks TLS to it, whatever code speaks to the proxy */
  char *header, *value; /* "Authorization", "Bearer {}": {} is where the key goes */
  char *file;           /* that holds the key; or */
  char *variable;       /* the daemon's environment variable that does */
};

struct network_rules {
  gatomicrefcount references;
  enum network mode;
  char *profile;                 /* whose rules they are */
  GArray *hosts;                 /* struct network_host */
  char *text;                    /* the list, for people */
  struct network_secret *secret; /* or NULL */
};

struct network_rules *network_rules_new (void);
struct network_rules *network_rules_ref (struct network_rules *rules); /* NULL is allowed, here and below */
void network_rules_unref (struct network_rules *rules);
void network_secret_free (struct network_secret *secret);

/* Adds an entry: ADDER_ERROR_INVALID says why WORD is none. */
gboolean network_rules_add (struct network_rules *rules, const char *word, GError **error);

/* The network that a sandbox needs for RULES: an empty list allows nothing, and needs none. */
enum network network_rules_needs (const struct network_rules *rules);

/* Whether code may ask for PORT of HOST. */
gboolean network_rules_allow (const struct network_rules *rules, const struct host_name *host, guint16 port);

/* The secret for plain requests to HOST and PORT, or NULL. */
const struct network_secret *network_rules_secret (const struct network_rules *rules,
                                                   const struct host_name *host, guint16 port);

/* The whole value of the header of SECRET, with the key read anew. The caller's (network_secret_wipe). NULL
 * with ERROR when the key is not there, or others can read it. */
char *network_secret_read (const struct network_secret *secret, GError **error);
void network_secret_wipe (char *value);
