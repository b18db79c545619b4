/* Addresses for the Go runtime where the process may have few (RLIMIT_AS: ulimit -v, batch systems).
 *
 * The runtime reserves 0.6 GiB of addresses when it starts, and more for its heap, and ends the process when it does
 * not get them. It maps little of that. So where addresses are short a reservation takes none of them: the runtime is
 * given a range that nobody else is given by the kernel, far from where mappings begin, and what it maps in there,
 * piece by piece, counts alone (see docs/adr). The linker sends the runtime's calls here (--wrap in build.sh).
 *
 * A process that has not even what is left then is told so before the runtime starts: in one line, and ends as it
 * would have ended. Programs that load the library at run time can look before, as the bindings do: see
 * NDF_ADDRESS_MIB. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "native.h"

/* Weak: programs that are not linked by build.sh, such as the Go tests, have no wrapping and never come here. */
extern void *__real_mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset) __attribute__((weak));
extern void *__wrap_mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset);
extern int __real_pthread_attr_init(pthread_attr_t *attr) __attribute__((weak));
extern int __wrap_pthread_attr_init(pthread_attr_t *attr);

#define MIB ((uint64_t)1 << 20)

/* With less than this the runtime's reservations take none. */
#define PLENTY (4096 * MIB)

/* What the runtime takes then: a map of its heap of 32 MiB, 4 MiB of heap, and threads. The library's own file comes
 * on top: see NDF_ADDRESS_MIB. */
#define RUNTIME (88 * MIB)

/* The stack of a thread of the runtime where addresses are short. */
#define STACK (2 * MIB)

/* Ranges of addresses: the kernel gives out the ones near the end of the 47 bits, or with an unlimited stack those from
 * a third on. A copy of the library in one process takes one range. */
#define FIRST_RANGE ((uintptr_t)0x200000000000)
#define RANGE ((uintptr_t)1 << 36)
#define RANGES 64

static int scarce; /* reservations are pretended */
static uintptr_t _Atomic next_address;
static uintptr_t range_end;

/* The limit, and the bytes of addresses that are left of it; both UINT64_MAX without one. */
static uint64_t addresses_left(uint64_t *limit) {
  struct rlimit r;
  *limit = UINT64_MAX;
  if (getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  *limit = r.rlim_cur;
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f != NULL) {
    if (fscanf(f, "%lu", &pages) != 1) pages = 0;
    fclose(f);
  }
  uint64_t used = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
  return used < *limit ? *limit - used : 0;
}

#if defined(__x86_64__) && defined(__linux__)
/* Finds a range without mappings. */
static int find_range(void) {
  FILE *f = fopen("/proc/self/maps", "r");
  if (f == NULL) return 0;
  unsigned char taken[RANGES] = {0};
  char line[512];
  while (fgets(line, sizeof line, f) != NULL) {
    uint64_t lo, hi;
    if (sscanf(line, "%lx-%lx ", &lo, &hi) != 2 || hi <= FIRST_RANGE) continue;
    for (int i = 0; i < RANGES; i++) {
      uintptr_t start = FIRST_RANGE + (uintptr_t)i * RANGE;
      taken[i] |= lo < start + RANGE && hi > start;
    }
  }
  fclose(f);
  for (int i = 0; i < RANGES; i++) {
    uintptr_t start = FIRST_RANGE + (uintptr_t)i * RANGE;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (taken[i]) continue;
    /* A page that stays marks the range as taken. */
    void *mark = __real_mmap((void *)start, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mark == MAP_FAILED) return 0;
    if (mark != (void *)start) {
      munmap(mark, page);
      continue;
    }
    range_end = start + RANGE;
    next_address = start + (uintptr_t)64 * MIB;
    return 1;
  }
  return 0;
}
#else
static int find_range(void) { return 0; }
#endif

/* Runs before the runtime's own constructor, which has no priority. */
__attribute__((constructor(101))) static void look_at_limits(void) {
  uint64_t limit, left = addresses_left(&limit);
  if (__real_mmap == NULL || left >= PLENTY) return;
  scarce = find_range();
  char why[200];
  if (!ndfile_addresses_short(scarce ? RUNTIME : 1024 * MIB, why, sizeof why)) {
    /* An allocator of its own for each thread would take 64 MiB of addresses. */
    if (scarce) mallopt(M_ARENA_MAX, 1);
    return;
  }
  fprintf(stderr, "libndfile: %s\n", why);
  _exit(2); /* as Go would */
}

int ndfile_addresses_short(uint64_t needed, char *why, size_t room) {
  uint64_t limit, left = addresses_left(&limit);
  if (left >= needed) return 0;
  snprintf(why, room, "too little address space: RLIMIT_AS (ulimit -v) is %llu KiB, of which %llu KiB are left; %llu KiB are needed to load the library",
           (unsigned long long)(limit >> 10), (unsigned long long)(left >> 10), (unsigned long long)(needed >> 10));
  return 1;
}

/* Takes n bytes of the range; at is where they shall be, or 0. */
static void *pretend(uintptr_t at, size_t n) {
  n = (n + 0xffff) & ~(size_t)0xffff;
  uintptr_t from = atomic_load(&next_address);
  do {
    if ((at != 0 && at != from) || n > range_end - from) {
      errno = ENOMEM;
      return MAP_FAILED;
    }
  } while (!atomic_compare_exchange_weak(&next_address, &from, from + n));
  return (void *)from;
}

void *__wrap_mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset) {
  if (scarce && prot == PROT_NONE && fd < 0 && (flags & MAP_FIXED) == 0) return pretend((uintptr_t)addr, n);
  return __real_mmap(addr, n, prot, flags, fd, offset);
}

/* The runtime asks for the attributes of its threads here. */
int __wrap_pthread_attr_init(pthread_attr_t *attr) {
  int status = __real_pthread_attr_init(attr);
  if (status == 0 && scarce) pthread_attr_setstacksize(attr, STACK);
  return status;
}
