/* The rules of the header: handles, closing, struct sizes, texts, errors. Usage: contract FOLDER */
#include <errno.h>
#include <stdint.h>

#include "check.h"

static ndf_error err;

static int64_t open_handles(void) {
  int64_t n = -1;
  OK(ndf_handle_count(&n, &err));
  return n;
}

/* A file with two arrays: x = {1, 2, 3} and the scalar y = 4. */
static void make_file(const char *path) {
  double x[3] = {1, 2, 3}, y = 4;
  int64_t shape[1] = {3};
  ndf_item items[2];
  memset(items, 0, sizeof items);
  items[0].struct_size = items[1].struct_size = sizeof items[0];
  items[0].name = "x", items[0].dtype = "<f8", items[0].ndim = 1, items[0].shape = shape, items[0].data = x;
  items[0].dims_json = "[\"t\\u00e9\"]", items[0].attrs_json = "{\"units\": \"K\", \"n\": [1, NaN, 1e999]}";
  items[1].name = "y", items[1].dtype = "<f8", items[1].data = &y;
  OK(ndf_save(path, NULL, items, 2, "{\"title\": \"t\", \"big\": 123456789012345678901234567890}", NULL, &err));
}

static ndf_file open_file(const char *path) {
  ndf_file f = 0;
  OK(ndf_file_open(path, NULL, &f, &err));
  CHECK(f != 0);
  return f;
}

static ndf_array open_array(ndf_file f, const char *name) {
  ndf_array a = 0;
  OK(ndf_file_array(f, name, &a, &err));
  CHECK(a != 0);
  return a;
}

static void test_library(void) {
  CHECK(strcmp(ndf_version(), NDF_VERSION) == 0);
  CHECK(strstr(ndf_build(), "ndfile " NDF_VERSION " ") == ndf_build() && strstr(ndf_build(), " go1.") != NULL);
  CHECK(strcmp(ndf_status_name(NDF_ERR_MASKED), "NDF_ERR_MASKED") == 0);
  CHECK(strcmp(ndf_status_name(NDF_OK), "NDF_OK") == 0);
  CHECK(strcmp(ndf_status_name(1), "NDF_ERR_UNKNOWN") == 0);
  CHECK(strcmp(ndf_status_name(-9999), "NDF_ERR_UNKNOWN") == 0);
  CHECK(strlen(ndf_status_text(NDF_ERR_MASKED)) > 10);
  CHECK(ndf_status_name(NDF_ERR_IO) == ndf_status_name(NDF_ERR_IO));

  int32_t n = 0, found = 0;
  OK(ndf_format_count(&n, &err));
  for (int32_t i = 0; i < n; i++) {
    ndf_format_info info;
    memset(&info, 0xff, sizeof info);
    info.struct_size = sizeof info;
    OK(ndf_format_get_info(i, &info, &err));
    if (strcmp(info.name, "ds") == 0) {
      found++;
      CHECK(strcmp(info.extensions, ".ds") == 0);
      CHECK(info.caps & NDF_CAP_CREATE);
      CHECK(info.caps & NDF_CAP_WRITE_ONCE);
    }
  }
  CHECK(found == 1);
  ndf_format_info info = {.struct_size = sizeof info};
  FAILS(NDF_ERR_BOUNDS, "format 99", ndf_format_get_info(99, &info, &err));
  FAILS(NDF_ERR_BOUNDS, "format -1", ndf_format_get_info(-1, &info, &err));
}

static void test_narrow(const char *path) {
  ndf_file f = open_file(path);
  ndf_array a = open_array(f, "x");
  ndf_array_info info = {.struct_size = sizeof info};
  double x[3];
  float y[3];
  int8_t z[3];
  OK(ndf_array_get_info(a, &info, &err));
  CHECK(info.ndim == 1 && info.shape[0] == 3);
  OK(ndf_array_read(a, 1, NULL, NULL, NULL, "f8", x, NULL, NULL, &err));
  OK(ndf_array_read_narrow(a, 1, NULL, NULL, NULL, "f4", y, NULL, NULL, &err));
  OK(ndf_array_read_narrow(a, 1, NULL, NULL, NULL, "i1", z, NULL, NULL, &err));
  for (int i = 0; i < 3; i++) CHECK(y[i] == (float)x[i] && z[i] == x[i]);
  FAILS(NDF_ERR_DTYPE, "f8", ndf_array_read_narrow(a, 1, NULL, NULL, NULL, "f2", z, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));

  char larger[1000];
  const int32_t values[3] = {1, 2, 40000};
  int64_t n = 3, start = 1, count = 2;
  snprintf(larger, sizeof larger, "%s.larger.ds", path);
  ndf_item item = {.struct_size = sizeof item, .ndim = 1, .name = "x", .dtype = "i4", .shape = &n, .data = values};
  OK(ndf_save(larger, NULL, &item, 1, NULL, NULL, &err));
  f = open_file(larger);
  a = open_array(f, "x");
  int16_t small[2];
  FAILS(NDF_ERR_VALUE, "element [2]", ndf_array_read_narrow(a, 1, &start, &count, NULL, "i2", small, NULL, NULL, &err));
  count = 1;
  OK(ndf_array_read_narrow(a, 1, &start, &count, NULL, "i2", small, NULL, NULL, &err));
  CHECK(small[0] == 2);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

static void test_nulls(const char *path) {
  ndf_file f = open_file(path);
  ndf_array a = open_array(f, "x");
  double x[3];
  char text[100];
  int64_t len = sizeof text, n = 0;
  FAILS(NDF_ERR_ARGUMENT, "ndf_file_open: path is NULL", ndf_file_open(NULL, NULL, &f, &err));
  FAILS(NDF_ERR_ARGUMENT, "ndf_file_open: file is NULL", ndf_file_open(path, NULL, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "ndf_file_array: name is NULL", ndf_file_array(f, NULL, &a, &err));
  FAILS(NDF_ERR_ARGUMENT, "ndf_handle_count: count is NULL", ndf_handle_count(NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "ndf_detect: len is NULL", ndf_detect(path, text, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "ndf_load: len is NULL", ndf_load(path, NULL, text, NULL, NULL, &n, &err));
  FAILS(NDF_ERR_ARGUMENT, "ndf_file_set_attrs: attrs_json is NULL", ndf_file_set_attrs(f, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "data is NULL", ndf_array_read(a, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "start and count", ndf_array_read(a, 1, &n, NULL, NULL, NULL, x, NULL, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "len is 5", ndf_load(path, NULL, NULL, ROOM(n, 5), NULL, &(int64_t){0}, &err));
  FAILS(NDF_ERR_ARGUMENT, "len is -1", ndf_load(path, NULL, text, ROOM(n, -1), NULL, &(int64_t){0}, &err));
  FAILS(NDF_ERR_ARGUMENT, "ninfos", ndf_load(path, NULL, NULL, ROOM(n, 0), NULL, &(int64_t){3}, &err));
  FAILS(NDF_ERR_ARGUMENT, "n is 1", ndf_save(path, NULL, NULL, 1, NULL, NULL, &err));
  /* what the error struct holds does not matter: err NULL works everywhere */
  CHECK(ndf_file_open(NULL, NULL, &f, NULL) == NDF_ERR_ARGUMENT);
  CHECK(ndf_file_close(0, NULL) == NDF_ERR_HANDLE);
  CHECK(ndf_array_get_dtype(a, text, &len, NULL) == NDF_OK);
  /* data of an empty box may be anything, also the addresses that some languages give empty arrays */
  int64_t start = 3, count = 0;
  OK(ndf_array_read(a, 1, &start, &count, NULL, NULL, NULL, NULL, NULL, &err));
  OK(ndf_array_read(a, 1, &start, &count, NULL, NULL, (void *)8, NULL, (uint8_t *)1, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

static void test_handles(const char *path) {
  int64_t before = open_handles();
  ndf_file f = open_file(path);
  ndf_array a = open_array(f, "x");
  CHECK(open_handles() == before + 2);
  ndf_file_info info = {.struct_size = sizeof info};
  char buf[64];
  int64_t len = sizeof buf;
  FAILS(NDF_ERR_HANDLE, "an array handle where the handle of a file", ndf_file_get_info(a, &info, &err));
  FAILS(NDF_ERR_HANDLE, "a file handle where the handle of an array", ndf_array_get_dtype(f, buf, &len, &err));
  FAILS(NDF_ERR_HANDLE, "a file handle where the handle of an array", ndf_array_close(f, &err));
  FAILS(NDF_ERR_HANDLE, "an array handle", ndf_file_close(a, &err));
  FAILS(NDF_ERR_HANDLE, "0 where", ndf_file_close(0, &err));
  FAILS(NDF_ERR_HANDLE, "no handle", ndf_file_close(~(uint64_t)0, &err));
  FAILS(NDF_ERR_HANDLE, "no handle", ndf_file_close(12345678, &err));
  FAILS(NDF_ERR_HANDLE, "closed", ndf_file_close(f + (1u << 24), &err)); /* a later generation */
  CHECK(open_handles() == before + 2);

  OK(ndf_array_close(a, &err));
  FAILS(NDF_ERR_HANDLE, "closed already", ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
  FAILS(NDF_ERR_HANDLE, "closed already", ndf_file_close(f, &err));
  FAILS(NDF_ERR_HANDLE, "closed already", ndf_file_abort(f, &err));

  /* the slots are used again, by other handles; the old ones stay refused */
  ndf_file f2 = open_file(path);
  ndf_array a2 = open_array(f2, "y");
  CHECK(f2 != f && a2 != a);
  FAILS(NDF_ERR_HANDLE, "", ndf_file_get_info(f, &info, &err));
  FAILS(NDF_ERR_HANDLE, "", ndf_array_get_dtype(a, buf, &len, &err));
  OK(ndf_array_close(a2, &err));
  OK(ndf_file_close(f2, &err));
  CHECK(open_handles() == before);
}

static void test_close_order(const char *folder, const char *path) {
  int64_t before = open_handles();
  double x[3] = {0}, y = 0;
  ndf_file f = open_file(path);
  ndf_array a = open_array(f, "x"), b = open_array(f, "y"), c;
  OK(ndf_file_close(f, &err));
  FAILS(NDF_ERR_HANDLE, "closed already", ndf_file_array(f, "x", &c, &err));
  CHECK(c == 0);
  OK(ndf_array_read(a, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
  CHECK(x[2] == 3);
  OK(ndf_array_close(a, &err));
  OK(ndf_array_read(b, 0, NULL, NULL, NULL, NULL, &y, NULL, NULL, &err));
  CHECK(y == 4);
  OK(ndf_array_close(b, &err));
  CHECK(open_handles() == before);

  /* abort ends reading too */
  f = open_file(path);
  a = open_array(f, "x");
  OK(ndf_file_abort(f, &err));
  FAILS(NDF_ERR_HANDLE, "closed", ndf_array_read(a, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));

  /* a created file is committed by its own handle; its arrays then refuse */
  const char *made = in_folder(folder, "order.ds");
  remove(made); /* of an earlier run */
  int64_t shape[1] = {3};
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<f8", .shape = shape};
  OK(ndf_file_create(made, NULL, NULL, NULL, &f, &err));
  OK(ndf_file_add(f, "x", &spec, &a, &err));
  FAILS(NDF_ERR_NAME_EXISTS, "order.ds", ndf_file_add(f, "x", &spec, &b, &err));
  OK(ndf_array_write(a, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
  CHECK(fopen(made, "r") == NULL);
  OK(ndf_file_close(f, &err));
  ndf_array_info info = {.struct_size = sizeof info};
  OK(ndf_array_get_info(a, &info, &err));
  CHECK(info.shape[0] == 3);
  FAILS(NDF_ERR_HANDLE, "closed", ndf_array_write(a, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
  f = open_file(made);
  OK(ndf_file_close(f, &err));

  /* nothing is left of an aborted file */
  const char *aborted = in_folder(folder, "aborted.ds");
  OK(ndf_file_create(aborted, NULL, NULL, NULL, &f, &err));
  OK(ndf_file_abort(f, &err));
  FAILS(NDF_ERR_NOT_FOUND, aborted, ndf_file_open(aborted, NULL, &f, &err));
  CHECK(err.os_error == ENOENT);
  CHECK(f == 0);
  CHECK(open_handles() == before);
}

static void test_struct_sizes(const char *path) {
  ndf_file f = open_file(path);
  ndf_array a = open_array(f, "x");
  struct {
    ndf_file_info info;
    char canary[16];
  } big;

  /* smaller than ours: filled as far as it goes */
  memset(&big, 0x55, sizeof big);
  big.info.struct_size = 16;
  OK(ndf_file_get_info(f, &big.info, &err));
  CHECK(big.info.struct_size == 16);
  CHECK(big.info.kind == NDF_KIND_DATASET && big.info.narrays == 2);
  CHECK(big.info.caps == 0x55555555 && big.info.format[0] == 0x55);
  /* larger than ours: the rest stays as it is */
  big.info.struct_size = sizeof big;
  OK(ndf_file_get_info(f, &big.info, &err));
  CHECK(strcmp(big.info.format, "ds") == 0 && big.canary[0] == 0x55 && big.canary[15] == 0x55);
  /* no size at all */
  for (uint32_t size = 0; size < 8; size++) {
    big.info.struct_size = size;
    FAILS(NDF_ERR_ARGUMENT, "sizeof(ndf_file_info)", ndf_file_get_info(f, &big.info, &err));
  }
  big.info.struct_size = 0xffffffff;
  FAILS(NDF_ERR_ARGUMENT, "sizeof(ndf_file_info)", ndf_file_get_info(f, &big.info, &err));

  /* an input struct that ends early: the missing fields are zero */
  ndf_file g;
  ndf_open_options open = {.struct_size = 8, .format = "nonsense"};
  OK(ndf_file_open(path, &open, &g, &err));
  OK(ndf_file_close(g, &err));
  open.struct_size = sizeof open;
  FAILS(NDF_ERR_FORMAT, "nonsense", ndf_file_open(path, &open, &g, &err));
  open.format = "ds", open.max_header = 10;
  FAILS(NDF_ERR_LIMIT, path, ndf_file_open(path, &open, &g, &err));
  open.max_header = -1;
  FAILS(NDF_ERR_ARGUMENT, "max_header", ndf_file_open(path, &open, &g, &err));

  /* options of a newer program: what the library does not know must not be asked for */
  struct {
    ndf_open_options options;
    int64_t more;
  } newest = {{.struct_size = sizeof newest}, 0};
  OK(ndf_file_open(path, &newest.options, &g, &err));
  OK(ndf_file_close(g, &err));
  newest.more = (int64_t)1 << 32;
  FAILS(NDF_ERR_NOT_SUPPORTED, "ndf_open_options: byte ", ndf_file_open(path, &newest.options, &g, &err));

  /* arrays of structs: one size for all */
  ndf_item items[2] = {{.struct_size = sizeof items[0], .dtype = "<f8", .name = "a", .ndim = 1, .shape = &(int64_t){0}},
                       {.struct_size = 96, .dtype = "<f8", .name = "b"}};
  FAILS(NDF_ERR_ARGUMENT, "differs", ndf_save(path, NULL, items, 2, NULL, NULL, &err));
  items[0].struct_size = 100;
  FAILS(NDF_ERR_ARGUMENT, "multiple of 8", ndf_save(path, NULL, items, 2, NULL, NULL, &err));

  /* infos of a newer and of an older program */
  double buf[64];
  int64_t need, n;
  struct {
    ndf_load_info info;
    int64_t more;
  } newer[2];
  memset(newer, 0x55, sizeof newer);
  newer[0].info.struct_size = sizeof newer[0];
  n = 2;
  OK(ndf_load(path, NULL, buf, ROOM(need, sizeof buf), &newer[0].info, &n, &err));
  CHECK(n == 2 && newer[0].info.shape[0] == 3 && newer[1].info.ndim == 0 && newer[1].info.count == 1);
  CHECK(newer[0].more == 0x5555555555555555 && newer[1].more == 0x5555555555555555);
  CHECK(buf[newer[0].info.data_offset / 8 + 2] == 3 && buf[newer[1].info.data_offset / 8] == 4);
  struct {
    uint32_t struct_size;
    int32_t ndim;
    uint32_t flags, reserved;
    int64_t count;
  } older[3];
  memset(older, 0x55, sizeof older);
  older[0].struct_size = sizeof older[0];
  n = 2;
  OK(ndf_load(path, NULL, buf, ROOM(need, sizeof buf), (ndf_load_info *)older, &n, &err));
  CHECK(older[0].ndim == 1 && older[0].count == 3 && older[1].ndim == 0 && older[1].count == 1);
  CHECK(older[2].count == 0x5555555555555555);

  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

static void test_texts(const char *path) {
  ndf_file f = open_file(path);
  ndf_array a = open_array(f, "x");
  char buf[8];
  int64_t len = 0;
  FAILS(NDF_ERR_BUFFER, "", ndf_array_get_dtype(a, NULL, &len, &err));
  CHECK(len == 4);
  memset(buf, 'x', sizeof buf);
  len = 3; /* the NUL has no room */
  FAILS(NDF_ERR_BUFFER, "", ndf_array_get_dtype(a, buf, &len, &err));
  CHECK(len == 4 && buf[0] == 'x');
  OK(ndf_array_get_dtype(a, buf, &len, &err));
  CHECK(len == 3 && strcmp(buf, "<f8") == 0 && buf[4] == 'x');
  len = -1;
  FAILS(NDF_ERR_ARGUMENT, "len is -1", ndf_array_get_dtype(a, buf, &len, &err));
  len = 5;
  FAILS(NDF_ERR_ARGUMENT, "len is 5", ndf_array_get_dtype(a, NULL, &len, &err));

  char text[200];
#define TEXT(call, want)            \
  len = sizeof text;                \
  OK(call);                         \
  CHECK(strcmp(text, want) == 0 && len == (int64_t)strlen(want))
  TEXT(ndf_detect(path, text, &len, &err), "ds");
  TEXT(ndf_file_get_name(f, 1, text, &len, &err), "y");
  TEXT(ndf_array_get_dims(a, text, &len, &err), "[\"t\\u00e9\"]");
  TEXT(ndf_array_get_attrs(a, text, &len, &err), "{\"units\": \"K\", \"n\": [1, NaN, Infinity]}");
  TEXT(ndf_file_get_attrs(f, text, &len, &err), "{\"title\": \"t\", \"big\": 123456789012345678901234567890}");
  len = sizeof text;
  OK(ndf_array_get_extra(a, text, &len, &err));
  CHECK(text[0] == '{');
  FAILS(NDF_ERR_BOUNDS, "array 2 of 2", ndf_file_get_name(f, 2, text, &len, &err));
  FAILS(NDF_ERR_BOUNDS, "array -1", ndf_file_get_name(f, -1, text, &len, &err));
  FAILS(NDF_ERR_READ_ONLY, path, ndf_file_set_attrs(f, "{}", &err));
  FAILS(NDF_ERR_READ_ONLY, path, ndf_array_set_attrs(a, "{}", &err));
  OK(ndf_array_close(a, &err));
  a = open_array(f, "y");
  TEXT(ndf_array_get_dims(a, text, &len, &err), "null");
  TEXT(ndf_array_get_attrs(a, text, &len, &err), "{}");
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

static void test_errors(const char *folder, const char *path) {
  /* on success only the code is written */
  memset(&err, 0x55, sizeof err);
  int64_t n;
  CHECK(ndf_handle_count(&n, &err) == NDF_OK && err.code == NDF_OK);
  for (size_t i = sizeof err.code; i < sizeof err; i++) CHECK(((unsigned char *)&err)[i] == 0x55);

  /* path, array, and what is wrong are in the message */
  ndf_file f = open_file(path);
  ndf_array a = open_array(f, "x"), b = 1;
  double x[4];
  int64_t start = 2, count = 2, step = 0;
  FAILS(NDF_ERR_BOUNDS, path, ndf_array_read(a, 1, &start, &count, NULL, NULL, x, NULL, NULL, &err));
  CHECK(strstr(err.message, "array \"x\"") != NULL);
  FAILS(NDF_ERR_BOUNDS, path, ndf_array_read(a, 1, &start, &(int64_t){1}, &step, NULL, x, NULL, NULL, &err));
  FAILS(NDF_ERR_BOUNDS, path, ndf_array_read(a, 1, &start, &(int64_t){-1}, NULL, NULL, x, NULL, NULL, &err));
  FAILS(NDF_ERR_BOUNDS, path, ndf_array_read(a, 1, &(int64_t){INT64_MAX}, &(int64_t){INT64_MAX}, NULL, NULL, x, NULL, NULL, &err));
  FAILS(NDF_ERR_SHAPE, "ndim is 2", ndf_array_read(a, 2, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
  FAILS(NDF_ERR_SHAPE, "ndim is -1", ndf_array_read(a, -1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
  FAILS(NDF_ERR_SHAPE, "", ndf_array_read(a, 1, NULL, NULL, NULL, NULL, x, &(int64_t){INT64_MIN}, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "out of memory", ndf_array_read(a, 1, NULL, NULL, NULL, NULL, x, &(int64_t){-INT64_MAX / 2}, NULL, &err));
  FAILS(NDF_ERR_DTYPE, path, ndf_array_read(a, 1, NULL, NULL, NULL, "<i4", x, NULL, NULL, &err));
  FAILS(NDF_ERR_DTYPE, "nonsense", ndf_array_read(a, 1, NULL, NULL, NULL, "nonsense", x, NULL, NULL, &err));
  FAILS(NDF_ERR_DTYPE, "", ndf_array_read(a, 1, NULL, NULL, NULL, "str", x, NULL, NULL, &err));
  FAILS(NDF_ERR_DTYPE, "ndf_array_read", ndf_array_read_strings(a, 1, NULL, NULL, NULL, &n, x, ROOM(n, 1), NULL, &err));
  FAILS(NDF_ERR_NAME, "nothing", ndf_file_array(f, "nothing", &b, &err));
  CHECK(b == 0 && strstr(err.message, path) != NULL);
  FAILS(NDF_ERR_READ_ONLY, path, ndf_array_write(a, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
  ndf_array_spec spec = {.struct_size = sizeof spec, .dtype = "<f8"};
  FAILS(NDF_ERR_READ_ONLY, path, ndf_file_add(f, "z", &spec, &b, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));

  FAILS(NDF_ERR_NOT_FOUND, "no-such", ndf_file_open(in_folder(folder, "no-such.ds"), NULL, &f, &err));
  CHECK(err.os_error == ENOENT && err.offset == -1);
  ndf_open_options update = {.struct_size = sizeof update, .mode = NDF_MODE_UPDATE};
  FAILS(NDF_ERR_NOT_SUPPORTED, path, ndf_file_open(path, &update, &f, &err));
  update.mode = 7;
  FAILS(NDF_ERR_ARGUMENT, "mode", ndf_file_open(path, &update, &f, &err));
  ndf_write_options exclusive = {.struct_size = sizeof exclusive, .exclusive = 1};
  FAILS(NDF_ERR_EXISTS, path, ndf_save(path, NULL, NULL, 0, NULL, &exclusive, &err));
  exclusive.commit = 9;
  FAILS(NDF_ERR_ARGUMENT, "commit", ndf_save(path, NULL, NULL, 0, NULL, &exclusive, &err));
  FAILS(NDF_ERR_FORMAT, "x.unknown", ndf_save(in_folder(folder, "x.unknown"), NULL, NULL, 0, NULL, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "attrs_json", ndf_save(path, NULL, NULL, 0, "{\"a\": }", NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "attrs_json", ndf_save(path, NULL, NULL, 0, "[]", NULL, &err));
  static const char *const bad_dims[] = {"{}", "1", "\"a\"", "[1]", "[null]", "[\"a\"],\"b\":1", "[\"a\"]}", "[", ""};
  for (size_t i = 0; i < sizeof bad_dims / sizeof *bad_dims; i++) {
    ndf_item item = {.struct_size = sizeof item, .name = "q", .dtype = "<f8", .data = x, .dims_json = bad_dims[i]};
    FAILS(NDF_ERR_ARGUMENT, "dims_json", ndf_save(in_folder(folder, "dims.ds"), NULL, &item, 1, NULL, NULL, &err));
    CHECK(strstr(err.message, "dims.ds") && strstr(err.message, "\"q\""));
  }

  /* a long message is cut between characters, and NUL-terminated */
  char name[4000];
  for (int cut = 0; cut < 3; cut++) {
    memset(name, 'a', sizeof name);
    for (int i = cut; i + 3 < (int)sizeof name; i += 3) memcpy(name + i, "\xe2\x82\xac", 3);
    name[sizeof name - 1] = 0;
    CHECK(ndf_detect(name, NULL, &(int64_t){0}, &err) < 0);
    size_t len = strlen(err.message);
    CHECK(len <= sizeof err.message - 1 && len >= sizeof err.message - 3);
    CHECK((unsigned char)err.message[len - 1] == 0xac && (unsigned char)err.message[len - 3] == 0xe2);
  }
  /* a path need not be UTF-8, the message is */
  FAILS(NDF_ERR_NOT_FOUND, "b\xef\xbf\xbd" "d.ds", ndf_file_open(in_folder(folder, "b\xff" "d.ds"), NULL, &f, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const char *path = in_folder(argv[1], "contract.ds");
  make_file(path);
  test_library();
  test_narrow(path);
  test_nulls(path);
  test_handles(path);
  test_close_order(argv[1], path);
  test_struct_sizes(path);
  test_texts(path);
  test_errors(argv[1], path);
  CHECK(open_handles() == 0);
  return check_result("contract");
}
