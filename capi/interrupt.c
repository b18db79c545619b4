/* The function of each thread that long calls ask whether they shall end. */
#include <stddef.h>

#include "native.h"

static __thread struct {
  ndf_progress ask; /* NULL: none */
  void *user;
} own;

void ndfile_set_interrupt(ndf_progress ask, uintptr_t user) {
  __atomic_fetch_add(&ndfile_shared->interrupts, (ask != NULL) - (own.ask != NULL), __ATOMIC_RELAXED);
  own.ask = ask;
  own.user = (void *)user;
}

uintptr_t ndfile_interrupt(uintptr_t *user) {
  *user = (uintptr_t)own.user;
  return (uintptr_t)own.ask;
}
