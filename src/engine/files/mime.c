/* SPDX-License-Identifier: Apache-2.0 */
/* A small table of media types: what data analysis makes. */
#include "engine/files/mime.h"

#include <string.h>

static const struct {
  const char *ending;
  const char *type;
} endings[] = {
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"bz2", "application/x-bzip2"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"db", "application/vnd.sqlite3"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"feather", "application/vnd.apache.arrow.file"},
    {"geojson", "application/geo+json"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"h5", "application/x-hdf5"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ipynb", "application/x-ipynb+json"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"jsonl", "application/jsonl"},
    {"log", "text/plain"},
    {"md", "text/markdown"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"npy", "application/x-npy"},
    {"npz", "application/zip"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"parquet", "application/vnd.apache.parquet"},
    {"pdf", "application/pdf"},
    {"pickle", "application/octet-stream"},
    {"pkl", "application/octet-stream"},
    {"png", "image/png"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"py", "text/x-python"},
    {"sqlite", "application/vnd.sqlite3"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tex", "application/x-tex"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"toml", "application/toml"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"xz", "application/x-xz"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};

static const struct {
  gsize offset, length;
  const char *bytes;
  const char *type;
} magics[] = {
    {0, 8, "\x89PNG\r\n\x1a\n", "image/png"},
    {0, 3, "\xff\xd8\xff", "image/jpeg"},
    {0, 4, "GIF8", "image/gif"},
    {8, 4, "WEBP", "image/webp"},
    {0, 5, "%PDF-", "application/pdf"},
    {0, 4, "PK\x03\x04", "application/zip"},
    {0, 2, "\x1f\x8b", "application/gzip"},
    {0, 4, "PAR1", "application/vnd.apache.parquet"},
    {0, 6, "ARROW1", "application/vnd.apache.arrow.file"},
    {0, 6, "\x93NUMPY", "application/x-npy"},
    {0, 16, "SQLite format 3\0", "application/vnd.sqlite3"},
    {0, 4, "\x89HDF", "application/x-hdf5"},
};

static const char *
by_ending (const char *name)
{
  const char *slash = strrchr (name, '/');
  const char *dot = strrchr (slash ? slash : name, '.');
  if (!dot)
    return NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_ascii_strcasecmp (endings[i].ending, dot + 1) == 0)
      return endings[i].type;
  return NULL;
}

static const char *
by_magic (const guint8 *head, gsize length)
{
  for (gsize i = 0; i < G_N_ELEMENTS (magics); i++)
    if (magics[i].offset + magics[i].length <= length &&
        memcmp (head + magics[i].offset, magics[i].bytes, magics[i].length) == 0)
      return magics[i].type;
  return NULL;
}

/* Valid UTF-8 but for a character that the end of HEAD tears apart. */
static gboolean
mime_is_text (const guint8 *head, gsize length)
{
  const char *end;
  if (memchr (head, 0, length))
    return FALSE;
  return g_utf8_validate_len ((const char *)head, length, &end) ||
         (length == MIME_HEAD_BYTES && (const char *)head + length - end < 4);
}

const char *
mime_guess (const char *name, const guint8 *head, gsize length)
{
  const char *type = by_ending (name);
  if (!type)
    type = by_magic (head, length);
  if (!type)
    type = mime_is_text (head, length) ? "text/plain" : "application/octet-stream";
  return type;
}
