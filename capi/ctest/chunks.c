/* Chunks as they are stored, and how they are made. Usage: chunks FOLDER */
#include "check.h"

static ndf_error err;

static void close_both(ndf_array a, ndf_file f) {
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

/* A new file of 10 x 6 float32 in chunks of 4 x 6, and what it holds. */
static float elements[60];

static ndf_file create(const char *path, const char *format, ndf_array *a) {
  float fill = 1.5f;
  ndf_blosc_params lz4 = {.struct_size = sizeof lz4, .codec = "lz4", .level = 5, .shuffle = NDF_BLOSC_BITSHUFFLE};
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 2, .dtype = "<f4", .shape = (int64_t[]){10, 6},
                         .chunks = (int64_t[]){4, 6}, .compression = &lz4, .fill = &fill};
  ndf_file f = 0;
  OK(ndf_file_create(path, format, NULL, NULL, &f, &err));
  OK(ndf_file_add(f, "", &spec, a, &err));
  return f;
}

static ndf_file make(const char *path, const char *format, ndf_array *a) {
  for (int i = 0; i < 60; i++) elements[i] = (float)i / 4;
  ndf_file f = create(path, format, a);
  OK(ndf_array_write(*a, 2, (int64_t[]){0, 0}, (int64_t[]){8, 6}, NULL, NULL, elements, NULL, NULL, &err));
  close_both(*a, f);
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "", a, &err));
  return f;
}

static void test_info(ndf_array a) {
  ndf_array_info info = {.struct_size = sizeof info};
  OK(ndf_array_get_info(a, &info, &err));
  CHECK(info.flags == (NDF_ARRAY_SINGLE | NDF_ARRAY_CHUNKED | NDF_ARRAY_FILL));
  CHECK(info.chunks[0] == 4 && info.chunks[1] == 6 && info.chunks[2] == 0 && info.chunks[63] == 0);
  CHECK(strcmp(info.codec, "lz4") == 0 && info.level == 5 && info.shuffle == NDF_BLOSC_BITSHUFFLE);
  float fill = 0;
  int64_t len = 3;
  FAILS(NDF_ERR_BUFFER, "fill value", ndf_array_get_fill(a, &fill, &len, &err));
  CHECK(len == 4);
  OK(ndf_array_get_fill(a, &fill, &len, &err));
  CHECK(len == 4 && fill == 1.5f);
  FAILS(NDF_ERR_ARGUMENT, "len is 4", ndf_array_get_fill(a, NULL, &len, &err));
  char text[16];
  len = sizeof text;
  OK(ndf_array_get_chunk_encoding(a, text, &len, &err));
  CHECK(strcmp(text, "blosc1") == 0);

  /* a program that knows nothing of chunks */
  struct {
    ndf_array_info info;
  } old;
  memset(&old, 0x55, sizeof old);
  old.info.struct_size = 608; /* of the first version */
  OK(ndf_array_get_info(a, &old.info, &err));
  CHECK(old.info.shape[1] == 6 && old.info.chunks[0] == 0x5555555555555555);
}

static void test_read(ndf_array a, int sparse) {
  char raw[400];
  float got[24];
  int64_t need = -1, size = -1, n = 0;
  FAILS(NDF_ERR_BUFFER, "the chunk takes", ndf_array_read_chunk(a, 2, (int64_t[]){1, 0}, NULL, ROOM(need, 0), &size, &err));
  CHECK(need > 16 && need < (int64_t)sizeof raw && size == 96);
  memset(raw, 0x55, sizeof raw);
  OK(ndf_array_read_chunk(a, 2, (int64_t[]){1, 0}, raw, ROOM(need, sizeof raw), NULL, &err));
  CHECK(raw[need] == 0x55);
  OK(ndf_blosc_decompress(raw, need, 0, got, ROOM(n, sizeof got), &err));
  CHECK(n == 96 && memcmp(got, elements + 24, 96) == 0);
  ndf_blosc_info info = {.struct_size = sizeof info};
  OK(ndf_blosc_get_info(raw, need, &info, &err));
  CHECK(info.typesize == 4 && strcmp(info.codec, "lz4") == 0);

  need = -1;
  if (sparse) OK(ndf_array_read_chunk(a, 2, (int64_t[]){2, 0}, NULL, ROOM(need, 0), &size, &err));
  if (sparse) CHECK(need == 0);
  FAILS(NDF_ERR_BOUNDS, "", ndf_array_read_chunk(a, 2, (int64_t[]){3, 0}, raw, ROOM(need, sizeof raw), &size, &err));
  FAILS(NDF_ERR_BOUNDS, "", ndf_array_read_chunk(a, 2, (int64_t[]){0, -1}, raw, ROOM(need, sizeof raw), &size, &err));
  FAILS(NDF_ERR_SHAPE, "ndim is 1", ndf_array_read_chunk(a, 1, (int64_t[]){0}, raw, ROOM(need, sizeof raw), &size, &err));
  FAILS(NDF_ERR_ARGUMENT, "index is NULL", ndf_array_read_chunk(a, 2, NULL, raw, ROOM(need, sizeof raw), &size, &err));
  FAILS(NDF_ERR_ARGUMENT, "len is -1", ndf_array_read_chunk(a, 2, (int64_t[]){0, 0}, raw, ROOM(need, -1), &size, &err));
}

/* Chunks travel from one array into another as they are. */
static void test_write(ndf_array from, const char *path, const char *format) {
  ndf_array a;
  ndf_file f = create(path, format, &a);
  char raw[400];
  float got[60];
  int64_t need, n = 0;
  for (int64_t i = 1; i >= 0; i--) {
    OK(ndf_array_read_chunk(from, 2, (int64_t[]){i, 0}, raw, ROOM(need, sizeof raw), NULL, &err));
    OK(ndf_array_write_chunk(a, 2, (int64_t[]){i, 0}, raw, need, &err));
  }
  FAILS(NDF_ERR_BOUNDS, "", ndf_array_write_chunk(a, 2, (int64_t[]){3, 0}, raw, need, &err));
  CHECK(ndf_array_write_chunk(a, 2, (int64_t[]){1, 0}, "nonsense, no chunk at all", 25, &err) != NDF_OK);
  ndf_blosc_params short_chunk = {.struct_size = sizeof short_chunk, .level = 5, .typesize = 4};
  OK(ndf_blosc_compress(elements, 40, &short_chunk, raw, ROOM(n, sizeof raw), &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, "", ndf_array_write_chunk(a, 2, (int64_t[]){1, 0}, raw, n, &err));
  FAILS(NDF_ERR_ARGUMENT, "data is NULL", ndf_array_write_chunk(a, 2, (int64_t[]){1, 0}, NULL, 5, &err));
  close_both(a, f);
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "", &a, &err));
  OK(ndf_array_read(a, 2, NULL, NULL, NULL, NULL, got, NULL, NULL, &err));
  CHECK(memcmp(got, elements, 48 * 4) == 0 && got[48] == 1.5f && got[59] == 1.5f);
  FAILS(NDF_ERR_READ_ONLY, path, ndf_array_write_chunk(a, 2, (int64_t[]){0, 0}, raw, 5, &err));
  close_both(a, f);
}

/* The fill value comes and goes in native byte order, whatever that of the elements is. */
static void test_fill_order(const char *path, const char *format, const char *dtype) {
  const int16_t fill[2] = {0x0102, 0x0304};
  int16_t got[6] = {0};
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = dtype, .shape = &(int64_t){3}, .fill = &fill};
  ndf_file f;
  ndf_array a;
  OK(ndf_file_create(path, format, NULL, NULL, &f, &err));
  OK(ndf_file_add(f, "", &spec, &a, &err));
  close_both(a, f);
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "", &a, &err));
  OK(ndf_array_read(a, 1, NULL, NULL, NULL, NULL, got, NULL, NULL, &err));
  ndf_array_info info = {.struct_size = sizeof info};
  OK(ndf_array_get_info(a, &info, &err));
  for (int i = 0; i < 3; i++) CHECK(memcmp((char *)got + i * info.itemsize, fill, (size_t)info.itemsize) == 0);
  int64_t len = sizeof got;
  memset(got, 0, sizeof got);
  OK(ndf_array_get_fill(a, got, &len, &err));
  CHECK(len == info.itemsize && memcmp(got, fill, (size_t)len) == 0);
  close_both(a, f);
}

static void test_errors(const char *folder) {
  const char *path = in_folder(folder, "plain.ds");
  double x[2] = {1, 2};
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .ndim = 1, .shape = &(int64_t){2}, .data = x};
  OK(ndf_save(path, NULL, &item, 1, NULL, NULL, &err));
  ndf_file f;
  ndf_array a;
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "x", &a, &err));
  ndf_array_info info = {.struct_size = sizeof info};
  OK(ndf_array_get_info(a, &info, &err));
  CHECK(!(info.flags & (NDF_ARRAY_CHUNKED | NDF_ARRAY_FILL)) && info.chunks[0] == 0 && info.codec[0] == 0);
  int64_t need = -1, len = sizeof x;
  FAILS(NDF_ERR_NOT_SUPPORTED, "the format ds has no chunks", ndf_array_read_chunk(a, 1, &(int64_t){0}, x, ROOM(need, sizeof x), NULL, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, path, ndf_array_get_chunk_encoding(a, (char *)x, &len, &err));
  OK(ndf_array_get_fill(a, x, &len, &err));
  CHECK(len == 0);
  close_both(a, f);

  /* wrong storage */
  const char *bad = in_folder(folder, "bad.bcolz");
  ndf_blosc_params params = {.struct_size = sizeof params, .codec = "nonsense", .level = 5};
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<f8", .shape = &(int64_t){2}, .compression = &params};
  OK(ndf_file_create(bad, "bcolz", NULL, NULL, &f, &err));
  FAILS(NDF_ERR_ARGUMENT, "nonsense", ndf_file_add(f, "", &spec, &a, &err));
  params.codec = "lz4", params.shuffle = 3;
  FAILS(NDF_ERR_ARGUMENT, "shuffle is 3", ndf_file_add(f, "", &spec, &a, &err));
  params.shuffle = 1, params.level = 10;
  CHECK(ndf_file_add(f, "", &spec, &a, &err) != NDF_OK && a == 0);
  params.level = 5, params.struct_size = 0;
  FAILS(NDF_ERR_ARGUMENT, "sizeof(ndf_blosc_params)", ndf_file_add(f, "", &spec, &a, &err));
  params.struct_size = sizeof params, spec.chunks = &(int64_t){0};
  CHECK(ndf_file_add(f, "", &spec, &a, &err) != NDF_OK && a == 0);
  spec.chunks = NULL, spec.expected_rows = -1;
  FAILS(NDF_ERR_ARGUMENT, "expected_rows is -1", ndf_file_add(f, "", &spec, &a, &err));
  OK(ndf_file_abort(f, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (int sparse = 0; sparse < 2; sparse++) {
    const char *format = sparse ? "zarr0" : "bcolz";
    ndf_array a;
    ndf_file f = make(in_folder(argv[1], format), format, &a);
    test_info(a);
    test_read(a, sparse);
    test_write(a, in_folder(argv[1], sparse ? "copy.zarr" : "copy.bcolz"), format);
    close_both(a, f);
  }
  test_fill_order(in_folder(argv[1], "big.zarr"), "zarr0", ">i2");
  test_fill_order(in_folder(argv[1], "little.zarr"), "zarr0", "<i2");
  test_fill_order(in_folder(argv[1], "mixed.zarr"), "zarr2", "[[\"a\", \"<i2\"], [\"b\", \">i2\"]]");
  test_errors(argv[1]);
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
  CHECK(open == 0);
  return check_result("chunks");
}
