/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys of adder.conf, for the files that read, show and document it. */
#pragma once

#include <stddef.h>

#include "common/config.h"
#include "common/size.h"

enum config_type {
  CONFIG_TEXT,
  CONFIG_URL, /* its password is not shown */
  CONFIG_PATH,
  CONFIG_CHOICE,
  CONFIG_BOOLEAN,
  CONFIG_COUNT,
  CONFIG_DURATION,
  CONFIG_SIZE
};

struct config_row {
  const char *group, *key;
  enum config_type type;
  size_t offset;
  gboolean live;            /* config_reload changes it */
  const char *standard;     /* NULL: what computed() says, or nothing */
  char *(*computed) (void); /* a default that depends on the host */
  const char *computed_as;  /* what the documentation says of it */
  guint64 minimum, maximum; /* of counts, durations and sizes */
  const char *const *choices;
  const char *text;
};

/* Two runs with the usual limit should fit, however small the host: few come near it. Bytes. */
#define CONFIG_MEMORY_MIN (G_GUINT64_CONSTANT (2) << 30)

extern const struct config_row config_table[];
extern const gsize config_rows;

#define CONFIG_FIELD(config, row, type) ((type *)(void *)((char *)(config) + (row)->offset))

/* Whether it is a string of the configuration's, NULL when nothing is said. */
gboolean config_is_text (const struct config_row *row);
/* Of counts, durations and sizes. */
enum limit_unit config_unit (const struct config_row *row);
