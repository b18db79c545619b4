/* Growing, shrinking, flushing. Usage: resize FOLDER */
#include "check.h"

static ndf_error err;

static const ndf_open_options update = {.struct_size = sizeof update, .mode = NDF_MODE_UPDATE};

/* A new file of one array of int32, 4 elements of a chunk along each axis. */
static ndf_file create(const char *path, const char *format, int32_t ndim, const int64_t *shape, ndf_array *a) {
  static const int64_t chunks[2] = {4, 4};
  int32_t fill = -7;
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = ndim, .dtype = "<i4", .shape = shape, .chunks = chunks, .fill = &fill};
  ndf_file f = 0;
  OK(ndf_file_create(path, format, NULL, NULL, &f, &err));
  OK(ndf_file_add(f, "", &spec, a, &err));
  return f;
}

static ndf_file open_file(const char *path, const ndf_open_options *options, ndf_array *a) {
  ndf_file f = 0;
  OK(ndf_file_open(path, options, &f, &err));
  OK(ndf_file_array(f, "", a, &err));
  return f;
}

static void close_both(ndf_array a, ndf_file f) {
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

/* The array has this shape and these elements. */
static void check_elements(ndf_array a, int32_t ndim, const int64_t *shape, const int32_t *want, int line) {
  ndf_array_info info = {.struct_size = sizeof info};
  int32_t got[64];
  OK(ndf_array_get_info(a, &info, &err));
  int same = info.ndim == ndim && info.count <= 64 && memcmp(info.shape, shape, (size_t)ndim * 8) == 0;
  if (same) {
    OK(ndf_array_read(a, ndim, NULL, NULL, NULL, NULL, got, NULL, NULL, &err));
    same = memcmp(got, want, (size_t)info.count * 4) == 0;
  }
  if (!same) {
    check_failures++;
    fprintf(stderr, "%s:%d: other elements\n", __FILE__, line);
  }
}
#define ELEMENTS(a, ndim, shape, ...) check_elements(a, ndim, (int64_t[])shape, (int32_t[])__VA_ARGS__, __LINE__)
#define SHAPE(...) {__VA_ARGS__}

static void test_rows(const char *path) {
  ndf_array a, b;
  ndf_file f = create(path, "bcolz", 1, &(int64_t){2}, &a), g;
  ndf_file_info info = {.struct_size = sizeof info};
  OK(ndf_file_get_info(f, &info, &err));
  CHECK(info.kind == NDF_KIND_ARRAY && info.nrows == -1 && info.narrays == 1);
  OK(ndf_array_write(a, 1, NULL, NULL, NULL, NULL, (int32_t[]){0, 1}, NULL, NULL, &err));
  /* from memory in strides, of a smaller type, of the other byte order */
  int32_t apart[6] = {2, 99, 3, 99, 4, 99};
  OK(ndf_array_append(a, 0, 1, &(int64_t){3}, NULL, apart, &(int64_t){8}, &err));
  OK(ndf_array_append(a, 0, 1, &(int64_t){2}, "<i2", (int16_t[]){5, -6}, NULL, &err));
  OK(ndf_array_append(a, 0, 1, &(int64_t){1}, ">i4", "\0\0\0\x07", NULL, &err));
  OK(ndf_array_append(a, 0, 1, &(int64_t){0}, NULL, NULL, NULL, &err));
  ELEMENTS(a, 1, SHAPE(8), {0, 1, 2, 3, 4, 5, -6, 7});
  close_both(a, f);

  f = open_file(path, &update, &a);
  OK(ndf_array_append(a, 0, 1, &(int64_t){1}, NULL, (int32_t[]){8}, NULL, &err));
  ELEMENTS(a, 1, SHAPE(9), {0, 1, 2, 3, 4, 5, -6, 7, 8});
  OK(ndf_file_flush(f, 0, &err));
  g = open_file(path, NULL, &b); /* others see it now */
  ELEMENTS(b, 1, SHAPE(9), {0, 1, 2, 3, 4, 5, -6, 7, 8});
  close_both(b, g);
  /* what falls off is gone for good; what comes has the fill value */
  OK(ndf_array_resize(a, 1, &(int64_t){3}, &err));
  OK(ndf_array_resize(a, 1, &(int64_t){6}, &err));
  ELEMENTS(a, 1, SHAPE(6), {0, 1, 2, -7, -7, -7});
  OK(ndf_array_write(a, 1, &(int64_t){4}, &(int64_t){1}, NULL, NULL, (int32_t[]){44}, NULL, NULL, &err));
  close_both(a, f);
  f = open_file(path, NULL, &a);
  ELEMENTS(a, 1, SHAPE(6), {0, 1, 2, -7, 44, -7});
  close_both(a, f);

  /* an aborted change drops what was not flushed */
  f = open_file(path, &update, &a);
  OK(ndf_array_append(a, 0, 1, &(int64_t){1}, NULL, (int32_t[]){9}, NULL, &err));
  OK(ndf_file_abort(f, &err));
  FAILS(NDF_ERR_HANDLE, "closed", ndf_array_append(a, 0, 1, &(int64_t){1}, NULL, (int32_t[]){9}, NULL, &err));
  OK(ndf_array_close(a, &err));
  f = open_file(path, NULL, &a);
  ELEMENTS(a, 1, SHAPE(6), {0, 1, 2, -7, 44, -7});
  close_both(a, f);
}

static void test_axes(const char *path) {
  ndf_array a;
  ndf_file f = create(path, "zarr0", 2, (int64_t[]){2, 3}, &a);
  OK(ndf_array_write(a, 2, NULL, NULL, NULL, NULL, (int32_t[]){0, 1, 2, 10, 11, 12}, NULL, NULL, &err));
  close_both(a, f);
  f = open_file(path, &update, &a);
  OK(ndf_array_append(a, 1, 2, (int64_t[]){2, 2}, NULL, (int32_t[]){3, 4, 13, 14}, NULL, &err));
  OK(ndf_array_append(a, 0, 2, (int64_t[]){1, 5}, NULL, (int32_t[]){20, 21, 22, 23, 24}, NULL, &err));
  ELEMENTS(a, 2, SHAPE(3, 5), {0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24});
  OK(ndf_array_resize(a, 2, (int64_t[]){1, 2}, &err));
  OK(ndf_array_resize(a, 2, (int64_t[]){2, 6}, &err));
  ELEMENTS(a, 2, SHAPE(2, 6), {0, 1, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7});
  close_both(a, f);
  f = open_file(path, NULL, &a);
  ELEMENTS(a, 2, SHAPE(2, 6), {0, 1, -7, -7, -7, -7, -7, -7, -7, -7, -7, -7});
  close_both(a, f);
}

static void test_errors(const char *folder, const char *path) {
  ndf_array a;
  ndf_file f = open_file(path, NULL, &a);
  int64_t three = 3;
  int32_t x[3] = {1, 2, 3};
  FAILS(NDF_ERR_READ_ONLY, path, ndf_array_resize(a, 1, &three, &err));
  FAILS(NDF_ERR_READ_ONLY, path, ndf_array_append(a, 0, 1, &three, NULL, x, NULL, &err));
  FAILS(NDF_ERR_READ_ONLY, path, ndf_file_flush(f, 0, &err));
  FAILS(NDF_ERR_READ_ONLY, path, ndf_file_remove(f, "x", &err));
  close_both(a, f);
  f = open_file(path, &update, &a);
  FAILS(NDF_ERR_SHAPE, "ndim is 2", ndf_array_resize(a, 2, (int64_t[]){1, 1}, &err));
  FAILS(NDF_ERR_SHAPE, path, ndf_array_resize(a, 1, &(int64_t){-1}, &err));
  FAILS(NDF_ERR_ARGUMENT, "shape is NULL", ndf_array_resize(a, 1, NULL, &err));
  FAILS(NDF_ERR_SHAPE, "ndim is 0", ndf_array_append(a, 0, 0, &three, NULL, x, NULL, &err));
  FAILS(NDF_ERR_BOUNDS, "axis 1 of 1", ndf_array_append(a, 1, 1, &three, NULL, x, NULL, &err));
  FAILS(NDF_ERR_BOUNDS, "axis -1", ndf_array_append(a, -1, 1, &three, NULL, x, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "data is NULL", ndf_array_append(a, 0, 1, &three, NULL, NULL, NULL, &err));
  FAILS(NDF_ERR_DTYPE, path, ndf_array_append(a, 0, 1, &three, "<f8", x, NULL, &err));
  FAILS(NDF_ERR_SHAPE, "-3", ndf_array_append(a, 0, 1, &(int64_t){-3}, NULL, x, NULL, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, path, ndf_table_resize(f, 3, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, path, ndf_file_remove(f, "", &err));
  close_both(a, f);

  /* formats that write once have none of this */
  const char *ds = in_folder(folder, "resize.ds");
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<i4", .shape = &three};
  OK(ndf_file_create(ds, NULL, NULL, NULL, &f, &err));
  OK(ndf_file_add(f, "x", &spec, &a, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, "resize.ds: array \"x\"", ndf_array_resize(a, 1, &three, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, "resize.ds: array \"x\"", ndf_array_append(a, 0, 1, &three, NULL, x, NULL, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, "closed", ndf_file_flush(f, 0, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, "array \"x\"", ndf_file_remove(f, "x", &err));
  OK(ndf_file_abort(f, &err));
  OK(ndf_array_close(a, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const char *rows = in_folder(argv[1], "rows.bcolz");
  test_rows(rows);
  test_axes(in_folder(argv[1], "axes.zarr"));
  test_errors(argv[1], rows);
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
  CHECK(open == 0);
  return check_result("resize");
}
