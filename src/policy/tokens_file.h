/* SPDX-License-Identifier: Apache-2.0 */
/* The file of tokens: names, their rights, and digests of the secrets; never a secret. It is replaced whole
 * under a lock, so that a reader finds the old file or the new one. */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <sys/stat.h>

#include "common/config.h"
#include "policy/roles.h"

/* Lets secret scanners recognize one. */
#define TOKEN_PREFIX       "adder_"
#define TOKEN_SECRET_BYTES 32 /* random ones: 256 bits */
#define TOKEN_NAME_MAX     64
#define TOKENS_MAX         100000
#define TOKENS_FILE_BYTES  (64 << 20)

/* Where it is: in a cluster, some are in a table (tokens_table.h). */
enum token_origin { TOKEN_IS_NEW, TOKEN_OF_FILE, TOKEN_OF_TABLE };

struct token {
  char *name;                    /* a letter, then letters, digits, "_", "-" and "." */
  char *digest;                  /* SHA-256 of the secret, in hexadecimal digits */
  gint64 created_ms, expires_ms; /* since 1970; 0: it does not expire */
  enum role role;
  char *
      account; /* "uid:1000": it acts as that account of this machine, as a browser's does; NULL: as itself */
  char *toolset;         /* or NULL */
  GStrv profiles, roots; /* or NULL */
  gboolean read_only, may_decide, acts_for_users;
  guint64 rate, concurrent; /* 0: the configuration's */
  enum token_origin origin;
};
void token_free (struct token *token);
typedef struct token token_auto; /* for g_autoptr */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (token_auto, token_free)

/* As `adder token show --json` has it, without the digest. The caller's. */
json_t *token_to_json (const struct token *token);
gboolean token_has_expired (const struct token *token);

gboolean token_check_name (const char *name, GError **error);

/* The owner of what its holder makes: "token:NAME", or its account. The caller's. */
char *token_owner (const struct token *token);

/* The digest of SECRET in the file. The caller's. */
char *token_digest (const char *secret);
/* A new secret. The caller's, who shows it once. */
char *token_new_secret (GError **error);

/* When a token ends, from TEXT: "90d" from now on, a day or a moment, in the future. */
gboolean token_parse_expiry (const char *text, gint64 *ret_ms, GError **error);

/* The file's path: as configured, else in the state directory. The caller's. */
char *tokens_file (const struct config *config, GError **error);

/* The tokens of the file PATH (struct token, the array's), sorted by name; none without a file. *RET_STATUS
 * (may be NULL) is of the very file that was read, st_ino 0 for none. ADDER_ERROR_INVALID says what is wrong
 * with it, and what to do about it. */
GPtrArray *tokens_file_read (const char *path, struct stat *ret_status, GError **error);

/* The same for TEXT, the content of such a file. */
GPtrArray *tokens_parse (const char *text, gsize length, GError **error);

/* One token as its object in the file, and back; the caller's. WHAT it is, for NULL with ERROR. */
json_t *token_to_row (const struct token *token);
struct token *token_from_row (const json_t *row, const char *what, GError **error);

/* By name, as the lists are. */
void tokens_sort (GPtrArray *tokens);

/* Calls CHANGE to change the tokens of PATH (it may add to and remove from TOKENS), and writes them, under a
 * lock. FALSE when CHANGE says so, or writing failed: then the file is unchanged. */
gboolean tokens_file_change (const char *path,
                             gboolean (*change) (GPtrArray *tokens, gpointer data, GError **error),
                             gpointer data, GError **error);

/* The token called NAME, TOKENS'; NULL with ADDER_ERROR_NOT_FOUND: there is none. */
struct token *tokens_find_name (const GPtrArray *tokens, const char *name, GError **error);
