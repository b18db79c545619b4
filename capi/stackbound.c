/* The bounds of each thread's stack, asked once.
 *
 * The Go runtime wants to know them on every call that comes from another stack than the last one did: from a
 * coroutine, or a task of Julia. On the main thread glibc answers by reading /proc/self/maps, which takes a thousand
 * times as long as the call. The linker sends the runtime's question here (--wrap in build.sh). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "native.h"

/* Weak: programs that are not linked by build.sh, such as the Go tests, have no wrapping and never come here. */
extern int __real_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr) __attribute__((weak));
extern int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);

static int64_t _Atomic stack_misses;

int64_t ndf_private_stack_misses(void) { return atomic_load_explicit(&stack_misses, memory_order_relaxed); }

static __thread struct {
  void *low; /* NULL: not asked yet */
  size_t size;
} bounds;

int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr) {
  if (!pthread_equal(thread, pthread_self())) return __real_pthread_getattr_np(thread, attr);
  if (bounds.low != NULL) {
    int status = pthread_attr_init(attr);
    return status != 0 ? status : pthread_attr_setstack(attr, bounds.low, bounds.size);
  }
  atomic_fetch_add_explicit(&stack_misses, 1, memory_order_relaxed);
  int status = __real_pthread_getattr_np(thread, attr);
  if (status == 0 && pthread_attr_getstack(attr, &bounds.low, &bounds.size) != 0) bounds.low = NULL;
  return status;
}
