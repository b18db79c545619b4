/* What the C files written by hand share with the shims and with Go. */
#ifndef NDFILE_NATIVE_H
#define NDFILE_NATIVE_H

#include <pthread.h>

#include "internal.h"

/* Descriptors from here on are not looked after: a child of a process with that many open files keeps locks until it
 * ends. */
#define NDFILE_LOCK_FILES 65536

/* What lasts beyond forks: the copy of the library that a child loads uses the same memory. */
typedef struct ndfile_process {
  int32_t epoch;      /* forks between this process and the one that loaded the library */
  int32_t threads;    /* of ndf_set_threads; 0: one for each processor */
  int64_t max_header; /* of ndf_set_limits; 0: the default */
  int64_t max_chunk;  /* the same */
  int64_t cache_limit; /* of ndf_set_cache_limit, plus 1; 0: the default */
  int32_t interrupts; /* threads with a function of ndf_set_interrupt, or more where some have ended */
  pthread_key_t key;  /* by which threads that end give back what they have of the Go runtime in use */
  int32_t _Atomic has_key;
  int64_t _Atomic forks;                           /* of this process, begun until now */
  uint64_t _Atomic lock_files[NDFILE_LOCK_FILES / 64]; /* bits: which descriptors are lock files */
} ndfile_process;

/* Notes that a descriptor is, or is no longer, one of a lock file. */
extern void ndfile_lock_file(int32_t fd, int32_t open);
extern int64_t ndfile_forks(void);

extern ndfile_process *ndfile_shared; /* never NULL */

/* The table that every call goes through; NULL in a forked child until its first call, which has ndfile_reload fill
 * it. ndfile_reload gives NULL and a reason when that cannot be. */
extern const void *_Atomic ndfile_table;
extern const void *ndfile_reload(ndf_error *err);

/* The function of a thread that long calls ask whether they shall end; 0 for none (interrupt.c). */
extern void ndfile_set_interrupt(ndf_progress ask, uintptr_t user);
extern uintptr_t ndfile_interrupt(uintptr_t *user);

/* Whether fewer than so many bytes of addresses are left, and if so, why that is (addresses.c). */
extern int ndfile_addresses_short(uint64_t needed, char *why, size_t room);

/* Texts that last as long as the process (shim.c), const but for Go's types. */
extern char *ndfile_version(void);
extern char *ndfile_status_name(int32_t status);
extern char *ndfile_status_text(int32_t status);
extern char ndfile_build_text[128];

/* For tests, not in the header: how often the stack bounds of a thread had to be found out. */
extern int64_t ndf_private_stack_misses(void);

/* Calls a function of the user. */
static inline int32_t ndfile_call_progress(uintptr_t progress, uintptr_t user, int64_t done, int64_t total) {
  return ((ndf_progress)progress)((void *)user, done, total);
}

/* Calls a function of the user. */
static inline int32_t ndfile_call_report(ndf_report report, uintptr_t user, const ndf_problem *problem) {
  return report((void *)user, problem);
}

/* Arrow: memory that consumers free (arrow.c). What can fail gives 0 or NULL when there is no memory; what was made
 * until then is released with the whole. */

/* Makes out an array whose buffers and children are to be filled, and gives its child i, which begins released. */
extern int ndfile_arrow_array(struct ArrowArray *out, int64_t length, int64_t n_buffers, int64_t n_children);
extern struct ArrowArray *ndfile_arrow_child(struct ArrowArray *a, int64_t i);
/* Makes buffer i of so many bytes, which are not set. */
extern void *ndfile_arrow_buffer(struct ArrowArray *a, int64_t i, int64_t size);
/* The same for a schema, which takes the texts, allocated by malloc. */
extern int ndfile_arrow_field(struct ArrowSchema *out, char *format, char *name, int64_t flags, int64_t n_children);
extern struct ArrowSchema *ndfile_arrow_field_child(struct ArrowSchema *s, int64_t i);
/* Makes out a stream of the Go side's handle. */
extern int ndfile_arrow_stream(struct ArrowArrayStream *out, uint64_t handle);

/* What a stream asks the Go side (arrow.go). */
extern int32_t ndfile_arrow_schema(uint64_t handle, struct ArrowSchema *out, ndf_error *err);
extern int32_t ndfile_arrow_next(uint64_t handle, struct ArrowArray *out, ndf_error *err);
extern void ndfile_arrow_close(uint64_t handle);

/* Private, though it leaves the library: gives the table of the copy that it is called in, and makes that copy use
 * what the library that has loaded it shares. */
NDF_API const void *ndf_private_calls_1(ndfile_process *shared);

#endif
