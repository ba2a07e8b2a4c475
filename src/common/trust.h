/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate authorities that this machine trusts. */
#pragma once

struct trust {
  const char *file, *directory; /* static, or of the environment; NULL: none */
};

/* $SSL_CERT_FILE and $SSL_CERT_DIR; where neither is set, the file of this system, or none. The libraries
 * know only where the system has it that they were built on. */
struct trust trust_find (void);
