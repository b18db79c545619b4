/* The C side of the benchmarks: does what the driver asks for on stdin, as benchmarks/worker.go describes it. */
#define _GNU_SOURCE
#include "worker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ndfile.h"

struct task task;
static char answer[4096];

/* ==== Elements ======================================================================== */

#define ELEMENT(NAME, TYPE, WIDE, VALUE)                                          \
  static void fill_##NAME(void *values, int64_t n) {                              \
    TYPE *p = values;                                                             \
    for (int64_t i = 0; i < n; i++) p[i] = (TYPE)(VALUE);                         \
  }                                                                               \
  static double sum_##NAME(const void *values, int64_t n) {                       \
    typedef TYPE __attribute__((aligned(1))) unaligned;                           \
    const unaligned *p = values;                                                  \
    WIDE s0 = 0, s1 = 0, s2 = 0, s3 = 0;                                          \
    int64_t i = 0;                                                                \
    for (; i + 4 <= n; i += 4) {                                                  \
      s0 += p[i], s1 += p[i + 1], s2 += p[i + 2], s3 += p[i + 3];                 \
    }                                                                             \
    for (; i < n; i++) s0 += p[i];                                                \
    return (double)(s0 + s1 + s2 + s3);                                           \
  }

ELEMENT(int32, int32_t, int64_t, i)
ELEMENT(uint32, uint32_t, int64_t, i)
ELEMENT(int64, int64_t, int64_t, i)
ELEMENT(float32, float, double, 1)
ELEMENT(float64, double, double, 1)

static const element elements[] = {
    {"int32", "<i4", 4, fill_int32, sum_int32},
    {"uint32", "<u4", 4, fill_uint32, sum_uint32},
    {"int64", "<i8", 8, fill_int64, sum_int64},
    {"float32", "<f4", 4, fill_float32, sum_float32},
    {"float64", "<f8", 8, fill_float64, sum_float64},
};

static double expected_sum(void) {
  int64_t n = task.elements;
  return (double)task.variables * (double)(task.element->name[0] == 'f' ? n : n * (n - 1) / 2);
}

/* ==== Answers and memory ============================================================== */

static bool answered(const char *kind, const char *format, va_list args) {
  int n = snprintf(answer, sizeof answer, "%s ", kind);
  vsnprintf(answer + n, sizeof answer - (size_t)n, format, args);
  for (char *c = answer; *c != 0; c++) {
    if (*c == '\n') *c = ' ';
  }
  return false;
}

bool skipped(const char *format, ...) {
  va_list args;
  va_start(args, format);
  answered("skip", format, args);
  va_end(args);
  return false;
}

bool failed(const char *format, ...) {
  va_list args;
  va_start(args, format);
  answered("error", format, args);
  va_end(args);
  return false;
}

static void *map_memory(int64_t size, int flags) {
  void *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (p == MAP_FAILED) {
    perror("worker: mmap");
    exit(1);
  }
  return p;
}

static struct {
  void *start;
  size_t size;
} blocks[16];
static int nblocks;

void *memory(int64_t size) {
  if (size == 0) size = 1;
  if (nblocks == sizeof blocks / sizeof *blocks) abort();
  blocks[nblocks].size = (size_t)size;
  return blocks[nblocks++].start = map_memory(size, MAP_POPULATE);
}

static void release_memory(void) {
  while (nblocks > 0) {
    nblocks--;
    munmap(blocks[nblocks].start, blocks[nblocks].size);
  }
}

/* n texts of less than size bytes, empty yet. */
static char **texts(int64_t n, size_t size) {
  char **list = memory(n * (int64_t)sizeof *list), *text = memory(n * (int64_t)size);
  for (int64_t i = 0; i < n; i++) list[i] = text + (size_t)i * size;
  return list;
}

/* ==== Operations ====================================================================== */

static int64_t started[2], spent[2];

static int64_t read_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void start(void) {
  started[0] = read_clock(CLOCK_MONOTONIC);
  started[1] = read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static void stop(void) {
  spent[1] = read_clock(CLOCK_PROCESS_CPUTIME_ID) - started[1];
  spent[0] = read_clock(CLOCK_MONOTONIC) - started[0];
}

static bool add_variables(const contender *c, const void *room, double *sum) {
  for (int64_t k = 0; k < task.variables; k++) {
    const void *values = c->variable(room, k);
    if (values == NULL) return failed("variable %d has not the dtype and size that were written", (int)k);
    *sum += task.element->sum(values, task.elements);
  }
  return true;
}

static bool right(double sum) {
  return sum == expected_sum() || failed("the elements have the sum %.17g, expected %.17g", sum, expected_sum());
}

static bool run_write(const contender *c) {
  task.values = memory(task.bytes);
  task.element->fill(task.values, task.elements);
  if (!c->prepare_write()) return false;
  bool ok = true;
  start();
  if (c->write_all != NULL) {
    ok = c->write_all();
  } else {
    for (int64_t i = 0; i < task.files && ok; i++) ok = c->write(task.paths[i]);
  }
  stop();
  return ok;
}

static bool run_read(const contender *c) {
  if (!c->prepare_read()) return false;
  void *room = memory(task.room);
  bool ok = true;
  start();
  if (c->read_all != NULL) {
    ok = c->read_all(room);
  } else {
    for (int64_t i = 0; i < task.files && ok; i++) ok = c->read(task.paths[i], room);
  }
  stop();
  double sum = 0;
  return ok && add_variables(c, room, &sum) && right(sum);
}

static bool run_read_sum(const contender *c) {
  if (c->read == NULL) return skipped("%s reads all files into one piece of memory", c->name);
  if (!c->prepare_read()) return false;
  double sum = 0;
  bool ok = true;
  start();
  for (int64_t i = 0; i < task.files && ok; i++) {
    void *room = map_memory(task.room, 0);
    sum = 0;
    ok = c->read(task.paths[i], room) && add_variables(c, room, &sum);
    munmap(room, (size_t)task.room);
  }
  stop();
  return ok && right(sum);
}

static bool run_map_sum(const contender *c) {
  if (c->map_sum == NULL) return skipped("%s does not map", c->name);
  if (!c->prepare_read()) return false;
  double sum = 0;
  bool ok = true;
  start();
  for (int64_t i = 0; i < task.files && ok; i++) {
    sum = 0;
    ok = c->map_sum(task.paths[i], &sum);
  }
  stop();
  return ok && right(sum);
}

static const struct {
  const char *name;
  bool (*run)(const contender *);
} operations[] = {
    {"write", run_write},
    {"read", run_read},
    {"read-reused", run_read}, /* which reads into reused memory anyway */
    {"read-sum", run_read_sum},
    {"map-sum", run_map_sum},
};

/* ==== Requests ======================================================================== */

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Reads DTYPE:SHAPE[*VARIABLES][/CHUNK]. */
static bool parse_case(char *text) {
  char *p = strchr(text, ':');
  if (p == NULL) return failed("a case begins with a dtype and a colon");
  *p++ = 0;
  for (size_t i = 0; i < LENGTH(elements); i++) {
    if (strcmp(elements[i].name, text) == 0) task.element = &elements[i];
  }
  if (task.element == NULL) return skipped("no elements of type %s here", text);
  task.elements = task.variables = 1;
  do {
    if (task.ndim == MAX_NDIM) return skipped("more than %d axes", MAX_NDIM);
    int64_t extent = task.shape[task.ndim++] = strtoll(p, &p, 10);
    if (extent <= 0 || __builtin_mul_overflow(task.elements, extent, &task.elements)) return failed("bad extent");
  } while (*p++ == 'x');
  if (*--p == '*') task.variables = strtoll(p + 1, &p, 10);
  if (*p == '/') return skipped("no chunked formats here");
  if (*p != 0 || task.variables <= 0) return failed("bad end of case: %s", p);
  if (__builtin_mul_overflow(task.elements, task.element->size, &task.bytes)) return failed("too many elements");
  return true;
}

static void name_all(const char *extension) {
  task.names = texts(task.variables, 24);
  for (int64_t k = 0; k < task.variables; k++) sprintf(task.names[k], "v%05lld", (long long)k);
  if (task.variables == 1) task.names[0] = "x";
  size_t size = strlen(task.folder) + 32;
  task.paths = texts(task.files, size);
  for (int64_t i = 0; i < task.files; i++) snprintf(task.paths[i], size, "%s/%06lld%s", task.folder, (long long)i, extension);
}

static const contender *find_contender(const char *name) {
  static const struct {
    const contender *list;
    size_t n;
  } groups[] = {{syscalls, LENGTH(syscalls)}, {ndfile, LENGTH(ndfile)}, {netcdf, LENGTH(netcdf)}};
  for (size_t g = 0; g < LENGTH(groups); g++) {
    for (size_t i = 0; i < groups[g].n; i++) {
      if (strcmp(groups[g].list[i].name, name) == 0) return &groups[g].list[i];
    }
  }
  return NULL;
}

/* Does CONTENDER OPERATION CASE FOLDER COUNT. */
static bool serve(char *request) {
  char *fields[5], *rest = request;
  for (int i = 0; i < 5; i++) fields[i] = strsep(&rest, " ");
  if (fields[4] == NULL || rest != NULL) return failed("expected 5 fields");
  const contender *c = find_contender(fields[0]);
  if (c == NULL) return skipped("no contender %s here", fields[0]);
  task = (struct task){.folder = fields[3], .files = strtoll(fields[4], NULL, 10)};
  if (task.files <= 0) return failed("bad count: %s", fields[4]);
  for (size_t i = 0; i < LENGTH(operations); i++) {
    if (strcmp(operations[i].name, fields[1]) != 0) continue;
    if (!parse_case(fields[2])) return false;
    name_all(c->extension);
    return operations[i].run(c);
  }
  return skipped("no operation %s here", fields[1]);
}

int main(void) {
  printf("ready ndfile=%s%s\n", ndf_version(), netcdf_start());
  fflush(stdout);
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, stdin) > 0) {
    line[strcspn(line, "\n")] = 0;
    if (serve(line)) snprintf(answer, sizeof answer, "ok %lld %lld", (long long)spent[0], (long long)spent[1]);
    release_memory();
    puts(answer);
    fflush(stdout);
  }
  free(line);
  return 0;
}
