/* SPDX-License-Identifier: Apache-2.0 */
/* materials.conf: a group for each provider. */
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "adder.h"
#include "common/paths.h"
#include "common/size.h"
#include "common/text.h"
#include "common/url.h"
#include "materials/providers.h"
#include "models/keys.h"
#include "models/private_file.h"

#define FILE_BYTES (1 << 20)

struct group {
  char *url, *title, *key_env, *key_file, *page_limit, *wait, *is_default;
};

static const struct {
  const char *key;
  gsize offset;
} group_keys[] = {
    {"url", offsetof (struct group, url)},
    {"title", offsetof (struct group, title)},
    {"key_env", offsetof (struct group, key_env)},
    {"key_file", offsetof (struct group, key_file)},
    {"page_limit", offsetof (struct group, page_limit)},
    {"wait", offsetof (struct group, wait)},
    {"default", offsetof (struct group, is_default)},
};

static char **
member_of (struct group *group, gsize i)
{
  return (char **)(void *)((char *)group + group_keys[i].offset);
}

static void
group_clear (struct group *group)
{
  for (gsize i = 0; i < G_N_ELEMENTS (group_keys); i++)
    g_free (*member_of (group, i));
}

static gboolean
group_take (struct group *group, const char *key, const char *value, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (group_keys); i++)
    if (strcmp (group_keys[i].key, key) == 0) {
      g_free (*member_of (group, i));
      *member_of (group, i) = g_strstrip (g_strdup (value));
      return TRUE;
    }
  g_autofree char *shown = text_one_line (key, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "there is no key %s: url, title, key_env, key_file, page_limit, wait and default are", shown);
  return FALSE;
}

/* ---- values ---- */

static char *
providers_file_read_key (const struct group *group, GError **error)
{
  gsize length;
  gboolean missing = FALSE;
  const char *value = group->key_env ? g_getenv (group->key_env) : NULL;
  if (value && value[0])
    return keys_clean (value, error);
  if (!group->key_file) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "its key is in the variable %s, which is not set",
                 group->key_env);
    return NULL;
  }
  g_autofree char *text =
      private_file_read (group->key_file, KEY_BYTES_MAX, S_IRWXG | S_IRWXO, &length, &missing, error);
  if (missing)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no file %s for its key",
                 group->key_file);
  return text ? keys_clean (text, error) : NULL;
}

static gboolean
providers_file_read_number (const char *text, const char *key, guint64 most, guint *ret_number,
                            GError **error)
{
  guint64 number;
  if (!text)
    return TRUE;
  if (!g_ascii_string_to_unsigned (text, 10, 1, most, &number, NULL)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is 1 to %" G_GUINT64_FORMAT, key, most);
    return FALSE;
  }
  *ret_number = (guint)number;
  return TRUE;
}

static gboolean
read_switch (const char *text, gboolean *ret_value, GError **error)
{
  if (text && strcmp (text, "true") != 0 && strcmp (text, "false") != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "default is true or false");
    return FALSE;
  }
  *ret_value = g_strcmp0 (text, "true") == 0;
  return TRUE;
}

/* A key goes over the network where nobody can read it, or stays on this machine. */
static gboolean
providers_file_check_secrecy (const struct provider *provider, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (provider->url, G_URI_FLAGS_NONE, NULL);
  if (!provider->key || (uri && url_keeps_secrets (uri)))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "its key would go over http for everybody to read: give it a url with https");
  return FALSE;
}

/* A key that cannot be had is the matter of who asks this provider, and of nobody else. */
static gboolean
providers_file_take_key (struct provider *provider, const struct group *group, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if (!group->key_env && !group->key_file)
    return TRUE;
  provider->key = providers_file_read_key (group, &problem);
  if (!provider->key)
    provider->unfit = g_strdup (problem->message);
  return providers_file_check_secrecy (provider, error);
}

static struct provider *
provider_of (const char *name, const struct group *group, GError **error)
{
  struct provider *provider = provider_new (name, group->title, group->url, "configuration", error);
  if (!provider)
    return NULL;
  gboolean ok =
      providers_file_read_number (group->page_limit, "page_limit", 10000, &provider->page_limit, error) &&
      read_switch (group->is_default, &provider->is_default, error) &&
      (!group->wait || duration_parse (group->wait, 1000, &provider->wait_ms, error)) &&
      providers_file_take_key (provider, group, error);
  if (!ok)
    g_clear_pointer (&provider, provider_free);
  return provider;
}

/* ---- the file ---- */

static struct provider *
providers_file_read_group (GKeyFile *keys, const char *name, GError **error)
{
  struct group group = {0};
  gboolean ok = TRUE;
  g_auto (GStrv) members = g_key_file_get_keys (keys, name, NULL, NULL);
  for (gsize i = 0; ok && members && members[i]; i++) {
    g_autofree char *value = g_key_file_get_string (keys, name, members[i], error);
    ok = value && group_take (&group, members[i], value, error);
  }
  struct provider *provider = ok ? provider_of (name, &group, error) : NULL;
  group_clear (&group);
  return provider;
}

static GPtrArray *
read_groups (GKeyFile *keys, const char *path, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify)provider_free);
  gsize count;
  g_auto (GStrv) groups = g_key_file_get_groups (keys, &count);
  if (count > PROVIDERS_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s has more than %d providers", path,
                 PROVIDERS_MAX);
    return NULL;
  }
  for (gsize i = 0; i < count; i++) {
    struct provider *provider = providers_file_read_group (keys, groups[i], error);
    if (!provider) {
      g_autofree char *shown = text_one_line (groups[i], PROVIDER_NAME_MAX);
      g_prefix_error (error, "%s: [%s]: ", path, shown);
      return NULL;
    }
    g_ptr_array_add (all, provider);
  }
  return g_steal_pointer (&all);
}

GPtrArray *
providers_of_file (GError **error)
{
  g_autofree char *folder = paths_config_dir (), *path = g_build_filename (folder, PROVIDERS_FILE, NULL);
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  gsize length;
  gboolean missing = FALSE;
  g_autoptr (GError) problem = NULL;
  g_autofree char *text =
      private_file_read (path, FILE_BYTES, S_IWGRP | S_IWOTH, &length, &missing, &problem);
  if (missing)
    return g_ptr_array_new_with_free_func ((GDestroyNotify)provider_free);
  if (text && (length == 0 || g_key_file_load_from_data (keys, text, length, G_KEY_FILE_NONE, &problem)))
    return read_groups (keys, path, error);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "cannot read %s: %s", path, problem->message);
  return NULL;
}
