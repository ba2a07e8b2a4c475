/* SPDX-License-Identifier: Apache-2.0 */
/* Readers in a list, under one lock that is also held while they are told. */
#include "common/news.h"

#include <string.h>

struct reader {
  guint64 number;
  char *owner;
  news_reader read;
  gpointer data;
};

struct news {
  gatomicrefcount references;
  gint count; /* of readers; atomic, so that without any nobody takes the lock */
  GMutex lock;
  GPtrArray *readers;
  guint64 numbers;
};

static void
reader_free (gpointer data)
{
  struct reader *reader = data;
  g_free (reader->owner);
  g_free (reader);
}

struct news *
news_new (void)
{
  struct news *news = g_new0 (struct news, 1);
  g_atomic_ref_count_init (&news->references);
  g_mutex_init (&news->lock);
  news->readers = g_ptr_array_new_with_free_func (reader_free);
  return news;
}

struct news *
news_ref (struct news *news)
{
  g_atomic_ref_count_inc (&news->references);
  return news;
}

void
news_unref (struct news *news)
{
  if (!news || !g_atomic_ref_count_dec (&news->references))
    return;
  g_ptr_array_unref (news->readers);
  g_mutex_clear (&news->lock);
  g_free (news);
}

void
news_tell (struct news *news, enum news_kind kind, const char *owner, const char *id)
{
  if (g_atomic_int_get (&news->count) == 0)
    return;
  g_mutex_lock (&news->lock);
  for (guint i = 0; i < news->readers->len; i++) {
    const struct reader *reader = news->readers->pdata[i];
    if (!owner || !reader->owner || strcmp (owner, reader->owner) == 0)
      reader->read (reader->data, kind, owner, id);
  }
  g_mutex_unlock (&news->lock);
}

guint64
news_read (struct news *news, const char *owner, news_reader read, gpointer data)
{
  struct reader *reader = g_new0 (struct reader, 1);
  reader->owner = g_strdup (owner);
  reader->read = read;
  reader->data = data;
  g_mutex_lock (&news->lock);
  reader->number = ++news->numbers;
  g_ptr_array_add (news->readers, reader);
  g_atomic_int_inc (&news->count);
  guint64 number = reader->number;
  g_mutex_unlock (&news->lock);
  return number;
}

void
news_stop (struct news *news, guint64 number)
{
  g_mutex_lock (&news->lock);
  for (guint i = 0; i < news->readers->len; i++)
    if (((struct reader *)news->readers->pdata[i])->number == number) {
      g_ptr_array_remove_index_fast (news->readers, i);
      g_atomic_int_add (&news->count, -1);
      break;
    }
  g_mutex_unlock (&news->lock);
}
