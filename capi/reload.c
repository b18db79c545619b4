/* A life after fork().
 *
 * A child of fork() has one thread; the Go runtime that it inherits has lost the others and hangs sooner or later. So
 * the child never calls it. Its first call loads a second copy of this library, whose runtime is fresh, and all calls
 * go to that copy from then on. The C side stays the one that the program is linked with: it holds the settings and
 * the count of forks, from which handles tell that they are older.
 *
 * The copy is made of the file that this code was loaded from. Its path can name another build by then, so a
 * descriptor is kept from the start; since programs close descriptors that they do not know, it is checked before use. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native.h"

/* Names the memory that a copy is loaded from. */
#define COPY "ndfile-copy"

/* A handle has 8 bits for the epoch. */
#define LAST_EPOCH 255

static ndfile_process own;
ndfile_process *ndfile_shared = &own;

/* The file of this library. */
static struct {
  const void *base; /* where its first page lies in memory */
  char path[PATH_MAX];
  int fd;
} self = {.fd = -1};

static pthread_mutex_t reloading = PTHREAD_MUTEX_INITIALIZER;
static char failure[256]; /* why reloading failed in this process; guarded by reloading */

/* Whether fd is the file that this code was loaded from: its first page tells one build from another. */
static int is_self(int fd) {
  char page[4096];
  return pread(fd, page, sizeof page, 0) == (ssize_t)sizeof page && memcmp(page, self.base, sizeof page) == 0;
}

/* Makes the kept descriptor a good one. */
static int hold_self(void) {
  if (self.fd >= 0 && is_self(self.fd)) return 1;
  /* What the number stands for now is not ours to close. */
  self.fd = open(self.path, O_RDONLY | O_CLOEXEC);
  if (self.fd >= 0 && !is_self(self.fd)) {
    close(self.fd);
    self.fd = -1;
    errno = ESTALE;
  }
  return self.fd >= 0;
}

/* A child inherits open lock files, and with them the locks: a writer that is killed would not free them while a child
 * of it sleeps. So the child closes its copies at once. That unlocks nothing: a lock ends with the last copy. */
void ndfile_lock_file(int32_t fd, int32_t open) {
  if (fd < 0 || fd >= NDFILE_LOCK_FILES) return;
  uint64_t bit = (uint64_t)1 << (fd % 64);
  if (open)
    atomic_fetch_or(&ndfile_shared->lock_files[fd / 64], bit);
  else
    atomic_fetch_and(&ndfile_shared->lock_files[fd / 64], ~bit);
}

int64_t ndfile_forks(void) { return atomic_load(&ndfile_shared->forks); }

static void close_lock_files(void) {
  for (int i = 0; i < NDFILE_LOCK_FILES / 64; i++) {
    uint64_t bits = atomic_exchange(&own.lock_files[i], 0);
    for (int fd = 64 * i; bits != 0; fd++, bits >>= 1)
      if (bits & 1) close(fd);
  }
}

/* fork() must not meet a loader at work: it would be at work for ever in the child. */
static void before_fork(void) {
  pthread_mutex_lock(&reloading);
  atomic_fetch_add(&own.forks, 1);
}

static void after_fork_in_parent(void) { pthread_mutex_unlock(&reloading); }

static void after_fork_in_child(void) {
  close_lock_files();
  if (atomic_exchange(&own.has_key, 0)) pthread_key_delete(own.key);
  pthread_mutex_init(&reloading, NULL);
  failure[0] = 0;
  if (own.epoch <= LAST_EPOCH) own.epoch++;
  atomic_store_explicit(&ndfile_table, NULL, memory_order_relaxed);
}

extern int __real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) __attribute__((weak));
extern int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));

/* The Go runtime has threads that end call it, by a destructor of theirs. A child's first thread must not: that runtime
 * is dead. So the linker has the runtime's key made here (--wrap in build.sh), and a child deletes it. */
int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  int status = __real_pthread_key_create(key, destructor);
  if (status == 0) {
    ndfile_shared->key = *key;
    atomic_store(&ndfile_shared->has_key, 1);
  }
  return status;
}

/* Whether this is a copy that a forked child has loaded. */
static int is_copy(void) {
  static const char fds[] = "/proc/self/fd/", target[] = "/memfd:" COPY;
  char link[sizeof target];
  return strncmp(self.path, fds, sizeof fds - 1) == 0 && readlink(self.path, link, sizeof link) == sizeof link &&
         strncmp(link, target, sizeof target - 1) == 0;
}

__attribute__((constructor)) static void prepare(void) {
  Dl_info info;
  if (dladdr(&own, &info) == 0 || strlen(info.dli_fname) >= sizeof self.path) return;
  self.base = info.dli_fbase;
  strcpy(self.path, info.dli_fname);
  if (is_copy()) return; /* the library that has loaded it looks after forks */
  hold_self();
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* Notes why reloading failed. */
static const void *fail(const char *what, const char *why) {
  snprintf(failure, sizeof failure, "%s: %s", what, why);
  return NULL;
}

/* Copies the library into memory. */
static int copy_self(void) {
  int fd = (int)syscall(SYS_memfd_create, COPY, 1U /* MFD_CLOEXEC: glibc has neither name before 2.27 */);
  if (fd < 0) return -1;
  off_t at = 0;
  ssize_t n;
  do n = sendfile(fd, self.fd, &at, 1 << 30);
  while (n > 0 || (n < 0 && errno == EINTR));
  if (n == 0) return fd;
  int code = errno;
  close(fd);
  errno = code;
  return -1;
}

/* Loads a copy and gives its table. */
static const void *load_copy(void) {
  if (own.epoch > LAST_EPOCH) return fail("too many forks", "255 within each other are supported");
  char why[200];
  if (ndfile_addresses_short((uint64_t)NDF_ADDRESS_MIB << 20, why, sizeof why)) return fail("a second copy of the library", why);
  if (!hold_self()) return fail("the library's own file", strerror(errno));
  int fd = copy_self();
  if (fd < 0) return fail("a copy of the library in memory", strerror(errno));
  /* The loader takes files of one name for the same: each generation spells it with one slash more. */
  char path[sizeof "/proc/self/fd/" + LAST_EPOCH + 12], slashes[LAST_EPOCH + 1];
  memset(slashes, '/', sizeof slashes);
  snprintf(path, sizeof path, "/proc/self/fd/%.*s%d", own.epoch - 1, slashes, fd);
  void *copy = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(fd);
  if (copy == NULL) return fail("a second copy of the library", dlerror());
  const void *(*calls)(ndfile_process *);
  *(void **)&calls = dlsym(copy, "ndf_private_calls_1");
  return calls == NULL ? fail("a second copy of the library", dlerror()) : calls(&own);
}

const void *ndfile_reload(ndf_error *err) {
  pthread_mutex_lock(&reloading);
  const void *table = atomic_load_explicit(&ndfile_table, memory_order_acquire);
  if (table == NULL && failure[0] == 0) {
    table = load_copy();
    atomic_store_explicit(&ndfile_table, table, memory_order_release);
  }
  if (table == NULL && err != NULL) {
    err->code = NDF_ERR_FORKED;
    err->os_error = 0;
    err->offset = -1;
    snprintf(err->message, sizeof err->message, "this process was forked and cannot load the library again: %s", failure);
  }
  pthread_mutex_unlock(&reloading);
  return table;
}
