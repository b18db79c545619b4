/* Two builds of libndfile in one process, call by call: what a change costs. Usage:
 *
 *   sidebyside OLD.so NEW.so FOLDER [PAIRS [OPERATION [old|new]]]
 *
 * Each operation is done in batches of about a millisecond, one of the old library and one of the new in turn. The
 * figures are CPU time of the process: the median of new/old over all pairs, and the least of new by the least of old.
 * With old or new at the end, PAIRS calls of one side are made and nothing is timed, for strace -c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ndfile.h"

#define FUNCTIONS(X) X(load) X(save) X(file_open) X(file_create) X(file_add) X(file_array) X(file_close) X(array_read) X(array_write)

typedef struct library {
#define X(name) __typeof__(&ndf_##name) name;
  FUNCTIONS(X)
#undef X
  const char *folder;
} library;

static ndf_error err;

static void must(int32_t status) {
  if (status == NDF_OK) return;
  fprintf(stderr, "%s\n", err.message);
  exit(1);
}

static library load_library(const char *path, const char *folder) {
  library l = {.folder = folder};
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fprintf(stderr, "%s\n", dlerror()), exit(1);
#define X(name) \
  if (!(*(void **)&l.name = dlsym(handle, "ndf_" #name))) fprintf(stderr, "%s\n", dlerror()), exit(1);
  FUNCTIONS(X)
#undef X
  return l;
}

enum { MANY = 10, ELEMENTS = 200000, CHUNK = 20000 };
static double data[ELEMENTS], back[ELEMENTS + 1024];

static const char *in(const library *l, const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", l->folder, name);
  return path;
}

static void save(const library *l, const char *name, int64_t n, int64_t elements) {
  static char names[MANY][4];
  ndf_item items[MANY];
  memset(items, 0, sizeof items);
  for (int64_t i = 0; i < n; i++) {
    snprintf(names[i], sizeof names[i], "v%d", (int)i);
    items[i] = (ndf_item){.struct_size = sizeof *items, .ndim = 1, .name = names[i], .dtype = "<f8", .shape = &elements, .data = data};
  }
  must(l->save(in(l, name), "ds", items, n, NULL, NULL, &err));
}

static void load(const library *l, const char *name) {
  ndf_load_info infos[MANY];
  memset(infos, 0, sizeof infos);
  infos->struct_size = sizeof *infos;
  int64_t len = sizeof back, n = MANY;
  must(l->load(in(l, name), NULL, back, &len, infos, &n, &err));
}

static void save_one(const library *l) { save(l, "one.ds", 1, 100); }
static void load_one(const library *l) { load(l, "one.ds"); }
static void save_many(const library *l) { save(l, "many.ds", MANY, 100); }
static void load_many(const library *l) { load(l, "many.ds"); }

static void write_array(const library *l, const char *name, const char *format, int64_t elements, int64_t chunk) {
  ndf_file f;
  ndf_array a;
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<f8", .shape = &elements, .chunks = &chunk};
  must(l->file_create(in(l, name), format, NULL, NULL, &f, &err));
  must(l->file_add(f, "", &spec, &a, &err));
  must(l->array_write(a, 1, NULL, NULL, NULL, NULL, data, NULL, NULL, &err));
  must(l->file_close(f, &err));
}

static void read_array(const library *l, const char *name, int64_t start, int64_t count) {
  ndf_file f;
  ndf_array a;
  must(l->file_open(in(l, name), NULL, &f, &err));
  must(l->file_array(f, "", &a, &err));
  must(l->array_read(a, 1, &start, &count, NULL, NULL, back, NULL, NULL, &err));
  must(l->file_close(f, &err));
}

#define ARRAYS(format)                                                                                             \
  static void write_small_##format(const library *l) { write_array(l, "small." #format, #format, 1000, 250); }     \
  static void write_##format(const library *l) { write_array(l, "large." #format, #format, ELEMENTS, CHUNK); }     \
  static void read_##format(const library *l) { read_array(l, "large." #format, 0, ELEMENTS); }                    \
  static void slice_##format(const library *l) { read_array(l, "large." #format, 70000, 100); }
ARRAYS(zarr0)
ARRAYS(bcolz)
ARRAYS(zarr2)
ARRAYS(zarr3)

static const struct {
  const char *name;
  void (*run)(const library *l);
} operations[] = {
    {"ds save", save_one}, {"ds load", load_one}, {"ds save 10", save_many}, {"ds load 10", load_many},
#define ROWS(format)                                                                                \
  {#format " write", write_##format}, {#format " write small", write_small_##format},               \
      {#format " read", read_##format}, {#format " open, slice", slice_##format},
    ROWS(zarr0) ROWS(bcolz) ROWS(zarr2) ROWS(zarr3)};

static int64_t cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t batch(void (*run)(const library *), const library *l, int n) {
  int64_t begin = cpu();
  for (int i = 0; i < n; i++) run(l);
  return cpu() - begin;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc < 4) return fprintf(stderr, "usage: sidebyside OLD.so NEW.so FOLDER [PAIRS [OPERATION [old|new]]]\n"), 2;
  char folders[2][2048];
  library sides[2];
  for (int k = 0; k < 2; k++) {
    snprintf(folders[k], sizeof folders[k], "%s/%s", argv[3], k ? "new" : "old");
    sides[k] = load_library(argv[1 + k], folders[k]);
  }
  int pairs = argc > 4 ? atoi(argv[4]) : 200;
  for (int i = 0; i < ELEMENTS; i++) data[i] = i * 0.25 + i % 17;
  for (size_t op = 0; op < sizeof operations / sizeof *operations; op++) /* each reads what one before it has written */
    for (int k = 0; k < 2; k++) operations[op].run(&sides[k]);
  double *ratios = malloc(sizeof *ratios * (size_t)pairs);
  for (size_t op = 0; op < sizeof operations / sizeof *operations; op++) {
    if (argc > 5 && strcmp(operations[op].name, argv[5]) != 0) continue;
    void (*run)(const library *) = operations[op].run;
    if (argc > 6) {
      batch(run, &sides[strcmp(argv[6], "new") == 0], pairs);
      continue;
    }
    batch(run, &sides[0], 20), batch(run, &sides[1], 20); /* what the first calls allocate */
    int64_t each = batch(run, &sides[0], 20) / 20 + 1;
    int n = (int)(1000000 / each) + 1;
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    for (int p = 0; p < pairs; p++) {
      int64_t t[2];
      for (int k = 0; k < 2; k++) {
        int side = (p + k) % 2;
        t[side] = batch(run, &sides[side], n);
        if (t[side] < least[side]) least[side] = t[side];
      }
      ratios[p] = (double)t[1] / (double)t[0];
    }
    qsort(ratios, (size_t)pairs, sizeof *ratios, ascending);
    printf("%-20s old %8.2f us  new/old: median %.3f, least %.3f\n", operations[op].name, (double)least[0] / n / 1e3, ratios[pairs / 2],
           (double)least[1] / (double)least[0]);
    fflush(stdout);
  }
  free(ratios);
  return 0;
}
