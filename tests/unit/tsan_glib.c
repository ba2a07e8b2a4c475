/* SPDX-License-Identifier: Apache-2.0 */
/* GLib's locks, counts of references, pools of threads, and what is made once, for the thread sanitizer. GLib
 * makes them of futexes, not of pthread's mutexes, and is itself not built with the sanitizer, which
 * therefore sees no order between what two threads do under one lock, or before the last reference goes.
 * These functions stand before GLib's own in the test programs, do the same by way of them, and tell the
 * sanitizer. */
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

/* The sanitizer knows what is locked (it reports locks taken in opposite orders, and locks that are cleared
 * while held), and looks at nothing in between BEGIN and END. */
#define LOCK_BEGIN(lock, flags)   __tsan_mutex_pre_lock (lock, flags)
#define LOCK_END(lock, flags)     __tsan_mutex_post_lock (lock, flags, 0)
#define UNLOCK_BEGIN(lock, flags) __tsan_mutex_pre_unlock (lock, flags)
#define UNLOCK_END(lock, flags)   __tsan_mutex_post_unlock (lock, flags)

void
g_mutex_clear (GMutex *mutex)
{
  REAL (g_mutex_clear);
  __tsan_mutex_destroy (mutex, 0);
  real (mutex);
}

void
g_mutex_lock (GMutex *mutex)
{
  REAL (g_mutex_lock);
  LOCK_BEGIN (mutex, 0);
  real (mutex);
  LOCK_END (mutex, 0);
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  REAL (g_mutex_trylock);
  LOCK_BEGIN (mutex, __tsan_mutex_try_lock);
  gboolean locked = real (mutex);
  LOCK_END (mutex, __tsan_mutex_try_lock | (locked ? 0 : __tsan_mutex_try_lock_failed));
  return locked;
}

void
g_mutex_unlock (GMutex *mutex)
{
  REAL (g_mutex_unlock);
  UNLOCK_BEGIN (mutex, 0);
  real (mutex);
  UNLOCK_END (mutex, 0);
}

/* To wait is to unlock and to lock again. */
static void
begin_wait (GMutex *mutex)
{
  UNLOCK_BEGIN (mutex, 0);
  UNLOCK_END (mutex, 0);
}

static void
end_wait (GMutex *mutex)
{
  LOCK_BEGIN (mutex, 0);
  LOCK_END (mutex, 0);
}

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  REAL (g_cond_wait);
  begin_wait (mutex);
  real (cond, mutex);
  end_wait (mutex);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  REAL (g_cond_wait_until);
  begin_wait (mutex);
  gboolean woken = real (cond, mutex, end_time);
  end_wait (mutex);
  return woken;
}

void
g_rw_lock_clear (GRWLock *lock)
{
  REAL (g_rw_lock_clear);
  __tsan_mutex_destroy (lock, 0);
  real (lock);
}

void
g_rw_lock_writer_lock (GRWLock *lock)
{
  REAL (g_rw_lock_writer_lock);
  LOCK_BEGIN (lock, 0);
  real (lock);
  LOCK_END (lock, 0);
}

void
g_rw_lock_writer_unlock (GRWLock *lock)
{
  REAL (g_rw_lock_writer_unlock);
  UNLOCK_BEGIN (lock, 0);
  real (lock);
  UNLOCK_END (lock, 0);
}

void
g_rw_lock_reader_lock (GRWLock *lock)
{
  REAL (g_rw_lock_reader_lock);
  LOCK_BEGIN (lock, __tsan_mutex_read_lock);
  real (lock);
  LOCK_END (lock, __tsan_mutex_read_lock);
}

void
g_rw_lock_reader_unlock (GRWLock *lock)
{
  REAL (g_rw_lock_reader_unlock);
  UNLOCK_BEGIN (lock, __tsan_mutex_read_lock);
  real (lock);
  UNLOCK_END (lock, __tsan_mutex_read_lock);
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

/* Its counterpart, g_once_init_enter, begins with an atomic read in our own code. */
void (g_once_init_leave) (volatile void *location, gsize result)
{
  REAL (g_once_init_leave);
  __tsan_release ((void *)(guintptr)location);
  real (location, result);
}
