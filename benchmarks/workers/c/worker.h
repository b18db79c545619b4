/* What the parts of the worker share: the task, and what a contender can do with it. */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_NDIM = 8, SMALL = 64 << 10 };

/* A type of elements. Integers are 0, 1, 2 and so on, floats are ones. */
typedef struct element {
  const char *name, *dtype; /* as in a request, and as NumPy's typestring */
  int64_t size;             /* in bytes */
  void (*fill)(void *values, int64_t n);
  double (*sum)(const void *values, int64_t n); /* values may be unaligned */
} element;

/* What a request asks for. All variables are alike. */
extern struct task {
  const element *element;
  int ndim;
  int64_t shape[MAX_NDIM];
  int64_t elements, bytes; /* of one variable */
  int64_t variables, files;
  char **names, **paths;
  const char *folder;
  void *values; /* of each variable; only for writing */
  int64_t room; /* set by prepare_read: bytes of memory that reading a file takes */
} task;

/* A contender. What it cannot do is NULL. When a function cannot go on it returns what skipped or failed return.
 * The prepare_* functions are not timed. */
typedef struct contender {
  const char *name, *extension;
  bool (*prepare_write)(void);
  bool (*write)(const char *path);
  bool (*write_all)(void); /* instead of write: all files in one call */
  bool (*prepare_read)(void);
  bool (*read)(const char *path, void *room);
  bool (*read_all)(void *room);                          /* instead of read */
  const void *(*variable)(const void *room, int64_t k); /* where variable k of the last file is; NULL: not as it was written */
  bool (*map_sum)(const char *path, double *sum);        /* mapped, adding all elements to sum */
} contender;

extern const contender syscalls[2], ndfile[5], netcdf[2];

/* Loads libnetcdf, if there is one to be used, and gives its versions as " NAME=VERSION ...". */
const char *netcdf_start(void);

/* Saves what the task asks for as the library does. */
bool ndfile_sample(const char *path);

/* Memory until the end of the task, zeroed, without page faults to come. */
void *memory(int64_t size);

/* The answer to the request; both return false. */
bool skipped(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
