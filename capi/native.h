/* What the C files written by hand share with the shims and with Go. */
#ifndef NDFILE_NATIVE_H
#define NDFILE_NATIVE_H

#include <pthread.h>

#include "internal.h"

/* What lasts beyond forks: the copy of the library that a child loads uses the same memory. */
typedef struct ndfile_process {
  int32_t epoch;      /* forks between this process and the one that loaded the library */
  int32_t threads;    /* of ndf_set_threads; 0: one for each processor */
  int64_t max_header; /* of ndf_set_limits; 0: the default */
  pthread_key_t key;  /* by which threads that end give back what they have of the Go runtime in use */
  int32_t _Atomic has_key;
} ndfile_process;

extern ndfile_process *ndfile_shared; /* never NULL */

/* The table that every call goes through; NULL in a forked child until its first call, which has ndfile_reload fill
 * it. ndfile_reload gives NULL and a reason when that cannot be. */
extern const void *_Atomic ndfile_table;
extern const void *ndfile_reload(ndf_error *err);

/* How often the stack bounds of a thread had to be found out. */
extern int64_t _Atomic ndfile_stack_misses;

/* Calls a function of the user. */
static inline int32_t ndfile_call_progress(uintptr_t progress, uintptr_t user, int64_t done, int64_t total) {
  return ((ndf_progress)progress)((void *)user, done, total);
}

/* Private, though it leaves the library: gives the table of the copy that it is called in, and makes that copy use
 * what the library that has loaded it shares. */
NDF_API const void *ndf_private_calls_1(ndfile_process *shared);

#endif
