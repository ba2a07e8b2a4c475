/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, durations and counts as people write them. Numbers are read digit by digit: strtoull takes signs and
 * blanks, wraps "-1" around and depends on the locale. */
#include "common/size.h"

#include <string.h>

#include "adder_types.h"

struct unit {
  const char *name;
  guint64 factor;
};

#define KIB G_GUINT64_CONSTANT (1024)

static const struct unit byte_units[] = {
    {"B", 1},
    {"K", KIB},
    {"KiB", KIB},
    {"kB", 1000},
    {"KB", 1000},
    {"M", KIB *KIB},
    {"MiB", KIB *KIB},
    {"MB", 1000 * 1000},
    {"G", KIB *KIB *KIB},
    {"GiB", KIB *KIB *KIB},
    {"GB", 1000 * 1000 * 1000},
    {"T", KIB *KIB *KIB *KIB},
    {"TiB", KIB *KIB *KIB *KIB},
    {"TB", G_GUINT64_CONSTANT (1000) * 1000 * 1000 * 1000},
    {NULL, 0},
};

static const struct unit duration_units[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"min", 60 * 1000}, {"h", 3600 * 1000}, {"d", 24 * 3600 * 1000},
    {NULL, 0},
};

static const struct unit count_units[] = {{NULL, 0}};

struct quantity {
  const char *what; /* in errors */
  const struct unit *units;
  const char *example;
};

static const struct quantity quantities[] = {
    [UNIT_COUNT] = {"number", count_units, "64"},
    [UNIT_BYTES] = {"size", byte_units, "512M or 1.5GiB"},
    [UNIT_MS] = {"duration", duration_units, "30s or 500ms"},
};

static gboolean
size_refuse (const char *text, const struct quantity *quantity, const char *why, GError **error)
{
  g_autofree char *shown = g_utf8_make_valid (text, (gssize)MIN (strlen (text), 64));
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not a %s: %s, as in %s", shown,
               quantity->what, why, quantity->example);
  return FALSE;
}

/* Reads digits up to the first other character; FALSE on overflow. */
static gboolean
read_digits (const char **text, guint64 *ret_value, guint *ret_count)
{
  guint64 value = 0;
  guint count = 0;
  for (; g_ascii_isdigit (**text); (*text)++, count++)
    if (!g_uint64_checked_mul (&value, value, 10) ||
        !g_uint64_checked_add (&value, value, (guint64)(**text - '0')))
      return FALSE;
  *ret_value = value;
  *ret_count = count;
  return TRUE;
}

static gboolean
parse (const char *text, enum limit_unit kind, guint64 bare_factor, guint64 *ret_value, GError **error)
{
  const struct quantity *quantity = &quantities[kind];
  const char *rest = text;
  guint64 whole, fraction = 0, scale = 1, factor = bare_factor, value;
  guint digits, decimals = 0;

  if (!read_digits (&rest, &whole, &digits))
    return size_refuse (text, quantity, "it is too large", error);
  if (digits == 0)
    return size_refuse (text, quantity, "it must begin with a digit", error);
  if (*rest == '.' && kind != UNIT_COUNT) {
    rest++;
    if (!read_digits (&rest, &fraction, &decimals) || decimals == 0 || decimals > 6)
      return size_refuse (text, quantity, "one to six decimals may follow the point", error);
    for (guint i = 0; i < decimals; i++)
      scale *= 10;
  }
  if (*rest != '\0') {
    const struct unit *unit = quantity->units;
    while (unit->name && strcmp (unit->name, rest) != 0)
      unit++;
    if (!unit->name)
      return size_refuse (text, quantity,
                          kind == UNIT_COUNT ? "only digits may stand in it" : "its unit is unknown", error);
    factor = unit->factor;
  }
  if (!g_uint64_checked_mul (&value, whole, factor) ||
      !g_uint64_checked_add (&value, value,
                             fraction * (factor / scale) + fraction * (factor % scale) / scale))
    return size_refuse (text, quantity, "it is too large", error);
  *ret_value = value;
  return TRUE;
}

gboolean
size_parse (const char *text, guint64 *ret_bytes, GError **error)
{
  return parse (text, UNIT_BYTES, 1, ret_bytes, error);
}

gboolean
duration_parse (const char *text, guint64 bare_ms, guint64 *ret_ms, GError **error)
{
  return parse (text, UNIT_MS, bare_ms, ret_ms, error);
}

gboolean
count_parse (const char *text, guint64 *ret_count, GError **error)
{
  return parse (text, UNIT_COUNT, 1, ret_count, error);
}

gboolean
quantity_parse (const char *text, enum limit_unit unit, guint64 *ret_value, GError **error)
{
  return parse (text, unit, 1, ret_value, error);
}

/* VALUE in FACTORs with one decimal, which is left out when it is zero. */
static char *
format_in (guint64 value, guint64 factor, const char *unit)
{
  guint64 whole = value / factor;
  guint64 tenth = value % factor / (factor / 10 ? factor / 10 : 1);
  if (tenth > 9)
    tenth = 9;
  if (tenth == 0)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " %s", whole, unit);
  return g_strdup_printf ("%" G_GUINT64_FORMAT ".%u %s", whole, (guint)tenth, unit);
}

char *
size_format (guint64 bytes)
{
  static const char *const names[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < KIB)
    return g_strdup_printf (bytes == 1 ? "%u byte" : "%u bytes", (guint)bytes);
  guint64 factor = KIB;
  guint i = 0;
  for (; i + 1 < G_N_ELEMENTS (names) && bytes / factor >= KIB; i++)
    factor *= KIB;
  return format_in (bytes, factor, names[i]);
}

char *
duration_format (guint64 ms)
{
  static const struct unit steps[] = {
      {"d", 24 * 3600 * 1000}, {"h", 3600 * 1000}, {"min", 60 * 1000}, {"s", 1000}};
  for (gsize i = 0; i < G_N_ELEMENTS (steps); i++)
    /* 90 s reads better than 1.5 min, so a larger unit is taken only when it fits whole. */
    if (ms >= steps[i].factor && (steps[i].factor == 1000 || ms % steps[i].factor == 0))
      return format_in (ms, steps[i].factor, steps[i].name);
  return g_strdup_printf ("%" G_GUINT64_FORMAT " ms", ms);
}

/* The largest of UNITS, which go from small to large, that VALUE is a whole number of. */
static const struct unit *
largest_whole (guint64 value, const struct unit *units, gsize count)
{
  const struct unit *best = units;
  for (gsize i = 1; i < count && value > 0; i++)
    if (value % units[i].factor == 0)
      best = &units[i];
  return best;
}

char *
quantity_format (guint64 value, enum limit_unit unit)
{
  static const struct unit counts[] = {{"", 1}};
  static const struct unit bytes[] = {{" bytes", 1},
                                      {" KiB", KIB},
                                      {" MiB", KIB * KIB},
                                      {" GiB", KIB * KIB * KIB},
                                      {" TiB", KIB * KIB * KIB * KIB}};
  static const struct unit times[] = {
      {" ms", 1}, {" s", 1000}, {" min", 60 * 1000}, {" h", 3600 * 1000}, {" d", 24 * 3600 * 1000}};
  const struct unit *in = unit == UNIT_BYTES ? largest_whole (value, bytes, G_N_ELEMENTS (bytes))
                          : unit == UNIT_MS  ? largest_whole (value, times, G_N_ELEMENTS (times))
                                             : counts;
  if (unit == UNIT_BYTES && value == 1)
    return g_strdup ("1 byte");
  return g_strdup_printf ("%" G_GUINT64_FORMAT "%s", value / in->factor, in->name);
}
