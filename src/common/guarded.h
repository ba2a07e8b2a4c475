/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that clang checks when it compiles (-Wthread-safety): a guarded field is used only under its lock, a
 * function that needs a lock is called only with it, and every path releases what it took.
 *
 *     LOCK_CLASS (pools);
 *
 *     struct pools {
 *       MUTEX (pools) lock;
 *       GUARDED_BY (pools) gboolean closed;
 *     };
 *
 *     REQUIRES (pools)
 *     static void
 *     close_all (struct pools *pools)
 *
 * The calls are GLib's. Other compilers see a GMutex and no attributes.
 *
 * Limits. In C, an attribute of a field cannot name another field, so the analysis knows classes of locks,
 * not single locks: it accepts the lock of another object of the class, and no function may hold two of one
 * class. It follows no calls, does not see a field whose address is taken, and takes a lock for held from
 * g_mutex_init or g_mutex_locker_new to the end of the function. docs/threads.md has the order of the
 * classes; the thread sanitizer checks it. */
#pragma once

#include <glib.h>

#ifdef __clang__

/* One of GLib's functions, for one class of locks. */
#define LOCK_CALL(type, function, attribute, ...)                                                            \
  type function (__VA_ARGS__) __asm__(#function) __attribute__ ((overloadable, attribute))

#define LOCK_INLINE(attribute)                                                                               \
  __attribute__ ((overloadable, always_inline, unused, no_thread_safety_analysis, attribute)) static inline

/* An object under construction is not shared yet: g_mutex_init stands for the lock. */
#define LOCK_CLASS(name)                                                                                     \
  struct __attribute__ ((capability ("mutex"))) name##_mutex {                                               \
    GMutex mutex;                                                                                            \
  };                                                                                                         \
  extern struct name##_mutex name##_class;                                                                   \
  LOCK_CALL (void, g_mutex_init, assert_capability (name##_class), struct name##_mutex *);                   \
  LOCK_CALL (void, g_mutex_clear, unused, struct name##_mutex *);                                            \
  LOCK_CALL (void, g_mutex_lock, acquire_capability (name##_class), struct name##_mutex *);                  \
  LOCK_CALL (gboolean, g_mutex_trylock, try_acquire_capability (1, name##_class), struct name##_mutex *);    \
  LOCK_CALL (void, g_mutex_unlock, release_capability (name##_class), struct name##_mutex *);                \
  LOCK_CALL (void, g_cond_wait, requires_capability (name##_class), GCond *, struct name##_mutex *);         \
  LOCK_CALL (gboolean, g_cond_wait_until, requires_capability (name##_class), GCond *,                       \
             struct name##_mutex *, gint64);                                                                 \
  LOCK_INLINE (assert_capability (name##_class))                                                             \
  GMutexLocker *g_mutex_locker_new (struct name##_mutex *lock)                                               \
  {                                                                                                          \
    return g_mutex_locker_new (&lock->mutex);                                                                \
  }                                                                                                          \
  LOCK_INLINE (assert_capability (name##_class)) void name##_unshared (void)                                 \
  {                                                                                                          \
  }                                                                                                          \
  struct name##_mutex

#define RWLOCK_CLASS(name)                                                                                   \
  struct __attribute__ ((capability ("rwlock"))) name##_rwlock {                                             \
    GRWLock lock;                                                                                            \
  };                                                                                                         \
  extern struct name##_rwlock name##_class;                                                                  \
  LOCK_CALL (void, g_rw_lock_init, assert_capability (name##_class), struct name##_rwlock *);                \
  LOCK_CALL (void, g_rw_lock_clear, unused, struct name##_rwlock *);                                         \
  LOCK_CALL (void, g_rw_lock_writer_lock, acquire_capability (name##_class), struct name##_rwlock *);        \
  LOCK_CALL (void, g_rw_lock_writer_unlock, release_capability (name##_class), struct name##_rwlock *);      \
  LOCK_CALL (void, g_rw_lock_reader_lock, acquire_shared_capability (name##_class), struct name##_rwlock *); \
  LOCK_CALL (void, g_rw_lock_reader_unlock, release_shared_capability (name##_class),                        \
             struct name##_rwlock *);                                                                        \
  LOCK_INLINE (assert_capability (name##_class)) void name##_unshared (void)                                 \
  {                                                                                                          \
  }                                                                                                          \
  struct name##_rwlock

#define MUTEX(name)      struct name##_mutex
#define RWLOCK(name)     struct name##_rwlock
#define GUARDED_BY(name) __attribute__ ((guarded_by (name##_class)))
#define REQUIRES(name)   __attribute__ ((requires_capability (name##_class)))
#define ACQUIRES(name)   __attribute__ ((acquire_capability (name##_class)))
#define RELEASES(name)   __attribute__ ((release_capability (name##_class)))
#define NOT_ANALYSED     __attribute__ ((no_thread_safety_analysis))

/* A statement: from here on, no other thread has the object. */
#define UNSHARED(name) name##_unshared ()

#else

#define LOCK_CLASS(name)   struct name##_mutex
#define RWLOCK_CLASS(name) struct name##_rwlock
#define MUTEX(name)        GMutex
#define RWLOCK(name)       GRWLock
#define GUARDED_BY(name)
#define REQUIRES(name)
#define ACQUIRES(name)
#define RELEASES(name)
#define NOT_ANALYSED
#define UNSHARED(name) ((void)0)

#endif
