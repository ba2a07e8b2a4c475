/* SPDX-License-Identifier: Apache-2.0 */
/* The part of an ELF file that the loader reads first. The files are the host's own; anything malformed is
 * ignored. */
#include "engine/host/elf_dependencies.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define LOADER_CONFIGURATION "/etc/ld.so.conf.d"

/* How deep dependencies may be nested; the loader's own limit is some ten. */
#define DEPTH_MAX 32

struct elf {
  GMappedFile *file;
  const char *bytes;
  gsize size;
  const ElfW (Phdr) * headers;
  guint header_count;
};

/* ---- reading ---- */

/* LENGTH bytes at OFFSET, or NULL. */
static const void *
bytes_at (const struct elf *elf, guint64 offset, guint64 length)
{
  return offset <= elf->size && length <= elf->size - offset ? elf->bytes + offset : NULL;
}

/* The same for COUNT structures of SIZE bytes, in the processor's byte order. */
static const void *
structs_at (const struct elf *elf, guint64 offset, guint64 count, gsize size)
{
  return offset % sizeof (guint64) == 0 && count <= elf->size / size ? bytes_at (elf, offset, count * size)
                                                                     : NULL;
}

/* The text at OFFSET, or NULL if it is unterminated. */
static const char *
text_at (const struct elf *elf, guint64 offset)
{
  const char *text = bytes_at (elf, offset, 1);
  return text && memchr (text, '\0', elf->size - offset) ? text : NULL;
}

static gboolean
elf_open (struct elf *elf, const char *path)
{
  *elf = (struct elf){.file = g_mapped_file_new (path, FALSE, NULL)};
  if (!elf->file)
    return FALSE;
  elf->bytes = g_mapped_file_get_contents (elf->file);
  elf->size = g_mapped_file_get_length (elf->file);
  const ElfW (Ehdr) *header = structs_at (elf, 0, 1, sizeof *header);
  if (!header || memcmp (header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != (sizeof (void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      header->e_phentsize != sizeof (ElfW (Phdr)))
    return FALSE;
  elf->header_count = header->e_phnum;
  elf->headers = structs_at (elf, header->e_phoff, header->e_phnum, sizeof *elf->headers);
  return elf->headers != NULL;
}

static void
elf_close (struct elf *elf)
{
  g_clear_pointer (&elf->file, g_mapped_file_unref);
}

static const ElfW (Phdr) * find_header (const struct elf *elf, guint type)
{
  for (guint i = 0; i < elf->header_count; i++)
    if (elf->headers[i].p_type == type)
      return &elf->headers[i];
  return NULL;
}

/* The file offset of the byte that is loaded at ADDRESS. */
static guint64
offset_of (const struct elf *elf, guint64 address)
{
  for (guint i = 0; i < elf->header_count; i++) {
    const ElfW (Phdr) *header = &elf->headers[i];
    if (header->p_type == PT_LOAD && address >= header->p_vaddr &&
        address - header->p_vaddr < header->p_filesz)
      return address - header->p_vaddr + header->p_offset;
  }
  return G_MAXUINT64;
}

/* The texts under TAG in the dynamic section, from the given one on; NULL after the last. */
static const char *
dynamic_text (const struct elf *elf, gint64 tag, guint *at)
{
  const ElfW (Phdr) *header = find_header (elf, PT_DYNAMIC);
  guint64 count = header ? header->p_filesz / sizeof (ElfW (Dyn)) : 0;
  const ElfW (Dyn) *entries = header ? structs_at (elf, header->p_offset, count, sizeof *entries) : NULL;
  guint64 strings = G_MAXUINT64;
  for (guint64 i = 0; entries && i < count && entries[i].d_tag != DT_NULL; i++)
    if (entries[i].d_tag == DT_STRTAB)
      strings = offset_of (elf, entries[i].d_un.d_ptr);
  for (; entries && strings < elf->size && *at < count && entries[*at].d_tag != DT_NULL; ++*at)
    if (entries[*at].d_tag == tag && entries[*at].d_un.d_val < elf->size)
      return text_at (elf, strings + entries[(*at)++].d_un.d_val);
  return NULL;
}

/* ---- where libraries are ---- */

static void
elf_dependencies_add_directory (struct elf_dependencies *dependencies, const char *path)
{
  if (g_path_is_absolute (path) &&
      !g_ptr_array_find_with_equal_func (dependencies->directories, path, g_str_equal, NULL))
    g_ptr_array_add (dependencies->directories, g_strdup (path));
}

/* Those added by the administrator. */
static void
add_configured (struct elf_dependencies *dependencies)
{
  g_autoptr (GDir) directory = g_dir_open (LOADER_CONFIGURATION, 0, NULL);
  for (const char *name; directory && (name = g_dir_read_name (directory));) {
    g_autofree char *path = g_build_filename (LOADER_CONFIGURATION, name, NULL), *text = NULL;
    if (!g_str_has_suffix (name, ".conf") || !g_file_get_contents (path, &text, NULL, NULL))
      continue;
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
    for (char **line = lines; *line; line++)
      elf_dependencies_add_directory (dependencies, g_strstrip (*line));
  }
}

struct elf_dependencies *
elf_dependencies_new (void)
{
  static const char *const standard[] = {"/usr/lib64", "/usr/lib", "/lib64", "/lib"};
  struct elf_dependencies *dependencies = g_new0 (struct elf_dependencies, 1);
  dependencies->libraries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  dependencies->loaders = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  dependencies->directories = g_ptr_array_new_with_free_func (g_free);
  add_configured (dependencies);
  for (gsize i = 0; i < G_N_ELEMENTS (standard); i++)
    elf_dependencies_add_directory (dependencies, standard[i]);
  return dependencies;
}

void
elf_dependencies_free (struct elf_dependencies *dependencies)
{
  if (!dependencies)
    return;
  g_hash_table_unref (dependencies->libraries);
  g_hash_table_unref (dependencies->loaders);
  g_ptr_array_unref (dependencies->directories);
  g_free (dependencies);
}

/* A file that this kind of program can load, at DIRECTORY/NAME. The caller's, or NULL. */
static char *
try_library (const char *directory, const char *name)
{
  struct elf elf;
  char *path = g_build_filename (directory, name, NULL);
  gboolean fits = elf_open (&elf, path);
  elf_close (&elf);
  if (!fits)
    g_clear_pointer (&path, g_free);
  return path;
}

/* SEARCH is the search path of the file, in ORIGIN, that needs it. */
static char *
find_library (const struct elf_dependencies *dependencies, const char *name, const char *search,
              const char *origin)
{
  g_auto (GStrv) own = g_strsplit (search ? search : "", ":", -1);
  char *path = NULL;
  if (strchr (name, '/'))
    return NULL;
  for (char **directory = own; *directory && !path; directory++) {
    g_auto (GStrv) parts = g_strsplit (*directory, "$ORIGIN", -1);
    g_autofree char *expanded = g_strjoinv (origin, parts);
    if (g_path_is_absolute (expanded))
      path = try_library (expanded, name);
  }
  for (guint i = 0; i < dependencies->directories->len && !path; i++)
    path = try_library (dependencies->directories->pdata[i], name);
  return path;
}

/* ---- adding ---- */

static gboolean
add_libraries (struct elf_dependencies *dependencies, const struct elf *elf, const char *path, int depth)
{
  g_autofree char *origin = g_path_get_dirname (path);
  guint at = 0;
  const char *search = dynamic_text (elf, DT_RUNPATH, &at);
  at = 0;
  if (!search)
    search = dynamic_text (elf, DT_RPATH, &at);
  at = 0;
  for (const char *name; (name = dynamic_text (elf, DT_NEEDED, &at));) {
    struct elf library;
    g_autofree char *found = find_library (dependencies, name, search, origin);
    if (!found || depth == DEPTH_MAX)
      return FALSE;
    if (!g_hash_table_add (dependencies->libraries, g_strdup (found)))
      continue;
    gboolean whole = elf_open (&library, found) && add_libraries (dependencies, &library, found, depth + 1);
    elf_close (&library);
    if (!whole)
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_loader (struct elf_dependencies *dependencies, const struct elf *elf)
{
  const ElfW (Phdr) *header = find_header (elf, PT_INTERP);
  if (!header)
    return TRUE;
  const char *loader = text_at (elf, header->p_offset);
  g_autofree char *real = loader ? realpath (loader, NULL) : NULL;
  if (!real)
    return FALSE;
  /* It searches its own directory first. */
  g_autofree char *directory = g_path_get_dirname (real);
  elf_dependencies_add_directory (dependencies, directory);
  g_hash_table_add (dependencies->loaders, g_strdup (loader));
  return TRUE;
}

static gboolean
is_shell_script (const struct elf *file)
{
  static const char *const beginnings[] = {"#!/bin/sh\n", "#! /bin/sh\n", "#!/usr/bin/sh\n", "#!/bin/sh -"};
  for (gsize i = 0; i < G_N_ELEMENTS (beginnings) && file->bytes; i++)
    if (file->size > strlen (beginnings[i]) && g_str_has_prefix (file->bytes, beginnings[i]))
      return TRUE;
  return FALSE;
}

gboolean
elf_dependencies_add (struct elf_dependencies *dependencies, const char *path)
{
  struct elf elf;
  gboolean is_elf = elf_open (&elf, path);
  gboolean whole = is_elf ? add_loader (dependencies, &elf) && add_libraries (dependencies, &elf, path, 0)
                          : is_shell_script (&elf);
  elf_close (&elf);
  return whole;
}

void
elf_dependencies_add_library (struct elf_dependencies *dependencies, const char *name)
{
  struct elf elf;
  g_autofree char *path = find_library (dependencies, name, NULL, "");
  if (!path || !g_hash_table_add (dependencies->libraries, g_strdup (path)))
    return;
  if (elf_open (&elf, path))
    (void)add_libraries (dependencies, &elf, path, 0);
  elf_close (&elf);
}
