/* Converting, splitting and joining. Usage: convert FOLDER */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "check.h"

static ndf_error err;

enum { ROWS = 12 };

static void make(const char *path, int64_t rows, int32_t first) {
  int32_t values[ROWS];
  for (int32_t i = 0; i < ROWS; i++) values[i] = first + i;
  static const char *const names[2] = {"a", "b"};
  ndf_file f = 0;
  OK(ndf_file_create(path, "bcolz", "{\"who\": \"me\"}", NULL, &f, &err));
  for (int i = 0; i < 2; i++) {
    ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<i4", .shape = &rows, .chunks = (int64_t[]){4}};
    ndf_array a = 0;
    OK(ndf_file_add(f, names[i], &spec, &a, &err));
    OK(ndf_array_write(a, 1, NULL, NULL, NULL, NULL, values, NULL, NULL, &err));
    OK(ndf_array_close(a, &err));
  }
  OK(ndf_file_close(f, &err));
}

/* The array holds n numbers from first on. */
static void check_array(const char *path, const char *name, int64_t n, int32_t first, int line) {
  int32_t got[ROWS * 2] = {0};
  int64_t need = 0, ninfos = 1;
  ndf_load_info info = {.struct_size = sizeof info};
  char buf[4096];
  OK(ndf_load(path, name, buf, ROOM(need, sizeof buf), &info, &ninfos, &err));
  int same = info.ndim == 1 && info.count == n && info.data_len == n * 4;
  if (same) memcpy(got, buf + info.data_offset, (size_t)n * 4);
  for (int32_t i = 0; i < n; i++) same = same && got[i] == first + i;
  if (!same) {
    check_failures++;
    fprintf(stderr, "%s:%d: %s holds something else\n", __FILE__, line, path);
  }
}
#define HOLDS(path, name, n, first) check_array(path, name, n, first, __LINE__)

static int64_t last_done, last_total;

static int32_t on_progress(void *user, int64_t done, int64_t total) {
  last_done = done, last_total = total;
  return user != NULL;
}

static void test_convert(const char *folder, const char *table) {
  const char *ds = in_folder(folder, "table.ds"), *ra = in_folder(folder, "a.ra");
  remove(ds), remove(ra); /* of an earlier run */
  char losses[1000];
  int64_t len = sizeof losses;
  ndf_convert_options options = {.struct_size = sizeof options, .progress = on_progress};
  OK(ndf_convert(table, ds, &options, losses, &len, &err));
  CHECK(strcmp(losses, "[]") == 0 && len == 2);
  CHECK(last_total == 2 * 2 * ROWS * 4 && last_done == last_total);
  HOLDS(ds, "a", ROWS, 0);
  HOLDS(ds, "b", ROWS, 0);
  FAILS(NDF_ERR_EXISTS, ds, ndf_convert(table, ds, NULL, NULL, NULL, &err));

  /* what would be lost is refused before anything is written, and listed */
  options.name = "b";
  len = sizeof losses;
  FAILS(NDF_ERR_LOSS, "attributes", ndf_convert(table, ra, &options, losses, &len, &err));
  CHECK(strstr(losses, "\"what\": \"file attributes\"") != NULL && losses[0] == '[' && len == (int64_t)strlen(losses));
  CHECK(fopen(ra, "rb") == NULL);
  int64_t need = 5;
  losses[0] = 'x';
  FAILS(NDF_ERR_LOSS, "", ndf_convert(table, ra, &options, losses, &need, &err)); /* too small a buffer is no error */
  CHECK(need == len + 1 && losses[0] == 'x');
  options.allow_loss = 1;
  OK(ndf_convert(table, ra, &options, NULL, NULL, &err));
  HOLDS(ra, "", ROWS, 0);

  /* a single array becomes a variable of the name that is given */
  options = (ndf_convert_options){.struct_size = sizeof options, .name = "x", .to = "ds", .from = "rawarray", .overwrite = 1};
  OK(ndf_convert(ra, ds, &options, NULL, NULL, &err));
  HOLDS(ds, "x", ROWS, 0);

  options.progress = on_progress, options.user = &options;
  FAILS(NDF_ERR_CANCELED, "", ndf_convert(ra, ds, &options, NULL, NULL, &err));
  HOLDS(ds, "x", ROWS, 0);
  FAILS(NDF_ERR_NOT_FOUND, "no-such", ndf_convert(in_folder(folder, "no-such"), ds, NULL, NULL, NULL, &err));
  FAILS(NDF_ERR_FORMAT, "unknown", ndf_convert(ra, in_folder(folder, "x.unknown"), NULL, NULL, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "name", ndf_convert(table, in_folder(folder, "y.ra"), NULL, NULL, NULL, &err));
  len = -1;
  FAILS(NDF_ERR_ARGUMENT, "losses_len is -1", ndf_convert(ra, ds, NULL, losses, &len, &err));
  options.commit = 7;
  FAILS(NDF_ERR_ARGUMENT, "ndf_convert_options: unknown value of commit", ndf_convert(ra, ds, &options, NULL, NULL, &err));
}

/* Early zarr becomes Zarr v2 in place. */
static void test_migrate(const char *folder) {
  char fresh[512];
  snprintf(fresh, sizeof fresh, "%s/migrate-XXXXXX", folder); /* zarr0 does not replace the Zarr v2 of an earlier run */
  CHECK(mkdtemp(fresh) != NULL);
  const char *path = in_folder(fresh, "early.zarr");
  int64_t rows = ROWS;
  int32_t values[ROWS];
  for (int32_t i = 0; i < ROWS; i++) values[i] = 5 + i;
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<i4", .shape = &rows, .chunks = (int64_t[]){4}};
  ndf_file f = 0;
  ndf_array a = 0;
  OK(ndf_file_create(path, "zarr0", NULL, NULL, &f, &err));
  OK(ndf_file_add(f, "", &spec, &a, &err));
  OK(ndf_array_write(a, 1, NULL, NULL, NULL, NULL, values, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
  ndf_convert_options options = {.struct_size = sizeof options, .to = "zarr2"};
  OK(ndf_convert(path, path, &options, NULL, NULL, &err));
  char format[16];
  int64_t len = sizeof format;
  OK(ndf_detect(path, format, &len, &err));
  CHECK(strcmp(format, "zarr2") == 0);
  HOLDS(path, "", ROWS, 5);
}

static void test_split(const char *folder, const char *table) {
  const char *one = in_folder(folder, "one.bcolz"), *two = in_folder(folder, "two.bcolz"), *whole = in_folder(folder, "whole.bcolz");
  ndf_part parts[2] = {{.struct_size = sizeof parts[0], .path = one, .nrows = 8}, {.struct_size = sizeof parts[0], .path = two, .nrows = 4}};
  OK(ndf_split(table, parts, 2, NULL, &err));
  HOLDS(one, "a", 8, 0);
  HOLDS(two, "b", 4, 8);
  const char *srcs[2] = {two, one};
  ndf_split_options options = {.struct_size = sizeof options, .format = "bcolz"};
  OK(ndf_concat(srcs, 2, whole, &options, &err));
  options.exclusive = 1;
  int32_t got[ROWS];
  ndf_file f = 0;
  ndf_array a = 0;
  OK(ndf_file_open(whole, NULL, &f, &err));
  OK(ndf_file_array(f, "b", &a, &err));
  OK(ndf_array_read(a, 1, NULL, NULL, NULL, NULL, got, NULL, NULL, &err));
  for (int i = 0; i < ROWS; i++) CHECK(got[i] == (i < 4 ? 8 + i : i - 4));
  char attrs[100];
  int64_t len = sizeof attrs;
  OK(ndf_file_get_attrs(f, attrs, &len, &err));
  CHECK(strcmp(attrs, "{\"who\": \"me\"}") == 0);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));

  FAILS(NDF_ERR_EXISTS, whole, ndf_concat(srcs, 2, whole, &options, &err));
  FAILS(NDF_ERR_ARGUMENT, "joined", ndf_concat(srcs, 2, one, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "path 1 is NULL", ndf_concat((const char *[]){one, NULL}, 2, whole, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "", ndf_concat(srcs, 0, whole, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "", ndf_concat(srcs, -1, whole, NULL, &err));
  parts[0].nrows = 7, parts[1].nrows = 5;
  FAILS(NDF_ERR_SHAPE, "", ndf_split(table, parts, 2, NULL, &err));
  parts[0].nrows = 8;
  FAILS(NDF_ERR_SHAPE, "", ndf_split(table, parts, 2, NULL, &err));
  parts[1].nrows = -4;
  FAILS(NDF_ERR_ARGUMENT, "ndf_part 1", ndf_split(table, parts, 2, NULL, &err));
  parts[1].nrows = 4, parts[1].struct_size = 32;
  FAILS(NDF_ERR_ARGUMENT, "differs", ndf_split(table, parts, 2, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "", ndf_split(table, parts, 0, NULL, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, "a.ra", ndf_split(in_folder(folder, "a.ra"), parts, 1, NULL, &err));
  options.commit = 7;
  FAILS(NDF_ERR_ARGUMENT, "ndf_split_options: unknown value of commit", ndf_split(table, parts, 1, &options, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const char *table = in_folder(argv[1], "table.bcolz");
  make(table, ROWS, 0);
  test_convert(argv[1], table);
  test_migrate(argv[1]);
  test_split(argv[1], table);
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
  CHECK(open == 0);
  return check_result("convert");
}
