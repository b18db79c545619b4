/* Every request for large memory fails once, and all from each on: a status each time, and the process lives.
 * Usage: memory FOLDER. It runs itself again with NDFILE_TEST_MEMORY, which is read when the library is loaded. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { N = 3 << 16 };

static ndf_error err;
static const char *folder;
static double values[N], got[N];
static int64_t chosen[N];
static volatile int64_t *shared; /* requests seen, the one that fails, whether those behind it do */

static int64_t shape[1] = {N};
static const ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .ndim = 1, .shape = shape, .data = values};

/* The operations: each gives the status of the call that failed. */
static int32_t save(const char *name, const char *format) {
  return ndf_save(in_folder(folder, name), format, &item, 1, NULL, NULL, &err);
}
static int32_t save_npz(void) { return save("f.npz", "npz"); }
static int32_t save_bcolz(void) { return save("t.bcolz", "bcolz"); }

static int32_t load(void) {
  static char buf[sizeof values + 4096];
  int64_t len = sizeof buf, n = 1;
  ndf_load_info info = {.struct_size = sizeof info};
  return ndf_load(in_folder(folder, "t.bcolz"), "x", buf, &len, &info, &n, &err);
}
static int32_t verify(void) {
  int64_t problems = 0;
  int32_t status = ndf_verify(in_folder(folder, "t.bcolz"), NULL, NULL, NULL, &problems, &err);
  CHECK(problems == 0);
  return status;
}
static int32_t convert(void) {
  ndf_convert_options to = {.struct_size = sizeof to, .to = "zarr3", .overwrite = 1};
  return ndf_convert(in_folder(folder, "f.npz"), in_folder(folder, "c"), &to, NULL, NULL, &err);
}

/* What an open table is asked, one after the other until one fails. */
static int32_t ask(int32_t (*what)(ndf_file f, ndf_array a), uint32_t mode) {
  ndf_open_options options = {.struct_size = sizeof options, .mode = mode};
  ndf_error ignored;
  ndf_file f = 0;
  ndf_array a = 0;
  int32_t status = ndf_file_open(in_folder(folder, "t.bcolz"), &options, &f, &err);
  if (status != NDF_OK) return status;
  status = ndf_file_array(f, "x", &a, &err);
  if (status == NDF_OK) status = what(f, a);
  if (status != NDF_OK || mode == NDF_MODE_READ) {
    ndf_array_close(a, &ignored);
    ndf_file_abort(f, &ignored);
    return status;
  }
  return ndf_file_close(f, &err);
}
static int32_t read_third(ndf_file f, ndf_array a) {
  (void)f;
  return ndf_array_read(a, 1, (int64_t[]){0}, (int64_t[]){N / 3}, (int64_t[]){3}, NULL, got, NULL, NULL, &err);
}
static int32_t take(ndf_file f, ndf_array a) {
  (void)f;
  return ndf_array_take(a, chosen, N, NULL, got, NULL, NULL, &err);
}
static int32_t reduce(ndf_file f, ndf_array a) {
  (void)f;
  ndf_summary sum = {.struct_size = sizeof sum};
  return ndf_array_reduce(a, 1, NULL, NULL, NULL, NDF_REDUCE_SUM | NDF_REDUCE_MIN, &sum, &err);
}
static int32_t where(ndf_file f, ndf_array a) {
  (void)a;
  static int64_t rows[N];
  int64_t n = N, next = 0;
  ndf_term term = {.struct_size = sizeof term, .op = NDF_OP_GT, .column = "x", .value_json = "10"};
  return ndf_table_where(f, &term, 1, NULL, rows, &n, &next, &err);
}
static int32_t write_most(ndf_file f, ndf_array a) {
  (void)f;
  return ndf_array_write(a, 1, (int64_t[]){5}, (int64_t[]){N - 9}, NULL, "<f8", values + 5, NULL, NULL, &err);
}
static int32_t append(ndf_file f, ndf_array a) {
  (void)a;
  return ndf_table_append(f, &item, 1, &err);
}
static int32_t ask_third(void) { return ask(read_third, NDF_MODE_READ); }
static int32_t ask_take(void) { return ask(take, NDF_MODE_READ); }
static int32_t ask_sum(void) { return ask(reduce, NDF_MODE_READ); }
static int32_t ask_where(void) { return ask(where, NDF_MODE_READ); }
static int32_t ask_write(void) { return ask(write_most, NDF_MODE_UPDATE); }
static int32_t ask_append(void) {
  int32_t status = save_bcolz();
  return status != NDF_OK ? status : ask(append, NDF_MODE_UPDATE);
}

static char packed[sizeof values + 4096];
static int64_t packed_len;
static int32_t compress(void) {
  packed_len = sizeof packed;
  return ndf_blosc_compress(values, sizeof values, NULL, packed, &packed_len, &err);
}
static int32_t decompress(void) {
  int64_t len = sizeof got;
  return ndf_blosc_decompress(packed, packed_len, 0, got, &len, &err);
}

static int64_t tried, failed;

/* Do it once, a request failing. The number of requests that there were. */
static int64_t attempt(const char *name, int32_t (*operation)(void), int64_t first, int64_t onwards) {
  shared[0] = 0, shared[1] = first, shared[2] = onwards;
  int32_t status = operation();
  int64_t seen = shared[0];
  shared[1] = 0;
  if (status != NDF_OK && (first == 0 || status != NDF_ERR_NO_MEMORY || err.message[0] == 0)) {
    check_failures++;
    fprintf(stderr, "%s, request %lld: %s: %s\n", name, (long long)first, ndf_status_name(status), err.message);
  }
  tried++, failed += status != NDF_OK;
  return seen;
}

static void each(const char *name, int32_t (*operation)(void)) {
  int64_t most = getenv("NDFILE_TORTURE") != NULL ? 1000 : 4, n = attempt(name, operation, 0, 0);
  for (int64_t i = 0; i < (n < most ? n : most); i++) {
    int64_t first = n <= most ? 1 + i : 1 + i * (n - 1) / (most - 1);
    attempt(name, operation, first, 0);
    attempt(name, operation, first, 1);
  }
  attempt(name, operation, 0, 0);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  const char *file = in_folder(folder, "memory.shared");
  if (getenv("NDFILE_TEST_MEMORY") == NULL) {
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, 24) != 0 || setenv("NDFILE_TEST_MEMORY", file, 1) != 0) return 2;
    execv("/proc/self/exe", argv);
    return 2;
  }
  shared = mmap(NULL, 24, PROT_READ | PROT_WRITE, MAP_SHARED, open(file, O_RDWR), 0);
  if (shared == MAP_FAILED) return 2;
  for (int i = 0; i < N; i++) values[i] = i, chosen[i] = (int64_t)i * 7919 % N;

  each("save npz", save_npz);
  each("save bcolz", save_bcolz);
  each("load", load);
  each("verify", verify);
  each("convert", convert);
  each("read", ask_third);
  each("take", ask_take);
  each("reduce", ask_sum);
  each("where", ask_where);
  each("write", ask_write);
  each("append", ask_append);
  each("compress", compress);
  each("decompress", decompress);
  CHECK(memcmp(got, values, sizeof values) == 0);
  CHECK(failed > 20);
  printf("memory: %lld of %lld failed\n", (long long)failed, (long long)tried);
  return check_result("memory");
}
