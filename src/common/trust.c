/* SPDX-License-Identifier: Apache-2.0 */
#include "common/trust.h"

#include <glib.h>
#include <unistd.h>

static const char *const files[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Gentoo, NixOS */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* earlier versions of both */
    "/etc/ssl/ca-bundle.pem",                            /* SUSE */
    "/etc/ssl/cert.pem",                                 /* Alpine, Void */
};

static const char *
trust_setting (const char *name)
{
  const char *value = g_getenv (name);
  return value && value[0] ? value : NULL;
}

struct trust
trust_find (void)
{
  struct trust trust = {trust_setting ("SSL_CERT_FILE"), trust_setting ("SSL_CERT_DIR")};
  for (gsize i = 0; i < G_N_ELEMENTS (files) && !trust.file && !trust.directory; i++)
    if (access (files[i], R_OK) == 0)
      trust.file = files[i];
  return trust;
}
