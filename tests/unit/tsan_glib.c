/* SPDX-License-Identifier: Apache-2.0 */
/* GLib's locks, counts of references and pools of threads for the thread sanitizer. GLib makes them of
 * futexes, not of pthread's mutexes, and is itself not built with the sanitizer, which therefore sees no
 * order between what two threads do under one lock, or before the last reference goes. These functions stand
 * before GLib's own in the test programs, do the same by way of them, and tell the sanitizer. */
#include <dlfcn.h>
#include <glib.h>
#include <sanitizer/tsan_interface.h>

/* For modules too, which are loaded later (src/common/module.h). */
#pragma GCC visibility push(default)

/* The static is only ever touched atomically: threads meet here for the first time as well. */
#define REAL(name)                                                                                           \
  static __typeof__ (name) *found;                                                                           \
  __typeof__ (name) *real = __atomic_load_n (&found, __ATOMIC_RELAXED);                                      \
  if (!real)                                                                                                 \
  __atomic_store_n (&found, real = (__typeof__ (name) *)dlsym (RTLD_NEXT, #name), __ATOMIC_RELAXED)

void
g_mutex_lock (GMutex *mutex)
{
  REAL (g_mutex_lock);
  real (mutex);
  __tsan_acquire (mutex);
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  REAL (g_mutex_trylock);
  gboolean locked = real (mutex);
  if (locked)
    __tsan_acquire (mutex);
  return locked;
}

void
g_mutex_unlock (GMutex *mutex)
{
  REAL (g_mutex_unlock);
  __tsan_release (mutex);
  real (mutex);
}

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  REAL (g_cond_wait);
  __tsan_release (mutex);
  real (cond, mutex);
  __tsan_acquire (mutex);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  REAL (g_cond_wait_until);
  __tsan_release (mutex);
  gboolean woken = real (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return woken;
}

void
g_rw_lock_writer_lock (GRWLock *lock)
{
  REAL (g_rw_lock_writer_lock);
  real (lock);
  __tsan_acquire (lock);
}

void
g_rw_lock_writer_unlock (GRWLock *lock)
{
  REAL (g_rw_lock_writer_unlock);
  __tsan_release (lock);
  real (lock);
}

void
g_rw_lock_reader_lock (GRWLock *lock)
{
  REAL (g_rw_lock_reader_lock);
  real (lock);
  __tsan_acquire (lock);
}

void
g_rw_lock_reader_unlock (GRWLock *lock)
{
  REAL (g_rw_lock_reader_unlock);
  __tsan_release (lock);
  real (lock);
}

gboolean (g_atomic_ref_count_dec) (gatomicrefcount *count)
{
  REAL (g_atomic_ref_count_dec);
  __tsan_release (count);
  gboolean last = real (count);
  if (last)
    __tsan_acquire (count);
  return last;
}

static __thread GDestroyNotify clear_last;

static void
acquire_and_clear (gpointer memory)
{
  __tsan_acquire (memory);
  if (clear_last)
    clear_last (memory);
}

void (g_atomic_rc_box_release_full) (gpointer memory, GDestroyNotify clear)
{
  REAL (g_atomic_rc_box_release_full);
  GDestroyNotify before = clear_last;
  clear_last = clear;
  __tsan_release (memory);
  real (memory, acquire_and_clear);
  clear_last = before;
}

/* What is pushed to a pool of threads was written before; and what they did is done when the pool is gone. */
struct pool_work {
  GFunc work;
  gpointer data;
  GThreadPool *pool; /* its address alone: GLib frees it when it likes */
};

static void
acquire_and_work (gpointer item, gpointer data)
{
  const struct pool_work *pool = data;
  __tsan_acquire (item);
  pool->work (item, pool->data);
  __tsan_release (pool->pool);
}

GThreadPool *
g_thread_pool_new (GFunc func, gpointer user_data, gint max_threads, gboolean exclusive, GError **error)
{
  REAL (g_thread_pool_new);
  struct pool_work *pool = g_new (struct pool_work, 1); /* for ever: tests make few */
  *pool = (struct pool_work){func, user_data, NULL};
  return pool->pool = real (acquire_and_work, pool, max_threads, exclusive, error);
}

gboolean
g_thread_pool_push (GThreadPool *pool, gpointer data, GError **error)
{
  REAL (g_thread_pool_push);
  __tsan_release (data);
  return real (pool, data, error);
}

void
g_thread_pool_free (GThreadPool *pool, gboolean immediate, gboolean wait_)
{
  REAL (g_thread_pool_free);
  real (pool, immediate, wait_);
  __tsan_acquire (pool);
}
