/* The checks of the C tests: a failed one says where and lets the rest run; main returns check_result(). */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndfile.h"

static int check_failures;

/* The address of a length that says how much room there is, for the parameters that are in and out. */
#define ROOM(length, room) ((length) = (room), &(length))

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      check_failures++;                                                              \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);      \
    }                                                                                \
  } while (0)

/* The call, whose last argument is &err, succeeds. */
#define OK(call)                                                                     \
  do {                                                                               \
    int32_t status_ = (call);                                                        \
    if (status_ != NDF_OK || err.code != NDF_OK) {                                   \
      check_failures++;                                                              \
      fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call, ndf_status_name(status_), err.message); \
    }                                                                                \
  } while (0)

/* The call, whose last argument is &err, fails with the status, and its message holds the text. */
#define FAILS(status, text, call)                                                    \
  do {                                                                               \
    int32_t status_ = (call);                                                        \
    if (status_ != (status) || err.code != (status) || strstr(err.message, (text)) == NULL) { \
      check_failures++;                                                              \
      fprintf(stderr, "%s:%d: %s: %s instead of %s: \"%s\" should have \"%s\"\n", __FILE__, __LINE__, #call, \
              ndf_status_name(status_), #status, err.message, (text));               \
    }                                                                                \
  } while (0)

static inline int check_result(const char *name) {
  if (check_failures > 0) {
    fprintf(stderr, "%s: %d checks failed\n", name, check_failures);
    return 1;
  }
  printf("%s: ok\n", name);
  return 0;
}

/* folder/name, in memory that stays. */
static inline const char *in_folder(const char *folder, const char *name) {
  char *path = malloc(strlen(folder) + strlen(name) + 2);
  if (path == NULL) abort();
  sprintf(path, "%s/%s", folder, name);
  return path;
}

#endif
