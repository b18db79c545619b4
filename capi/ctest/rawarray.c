/* RawArray through the C ABI: the caller's own structs, bytes after the data, and the files of its author's package
 * written again. Usage: rawarray FOLDER [FILE.ra], which is rewritten byte for byte. */
#include "check.h"

/* The user-defined structure of the RawArray specification: 80 bytes, which dtype "V80" stores as they are. */
struct foo {
  char info[12];
  uint32_t index;
  double v[8];
};

static ndf_error err;
static const char *folder;

static void test_structs(void) {
  const char *path = in_folder(folder, "foo.ra");
  struct foo foos[3] = {{"first", 1, {0.5}}, {"second", 2, {1.5, -2}}, {"third", 3, {0, 0, 0, 0, 0, 0, 0, 9}}}, got[2];
  int64_t n = 3, start = 1, count = 2;
  ndf_item item = {.struct_size = sizeof item, .ndim = 1, .dtype = "V80", .shape = &n, .data = foos};
  OK(ndf_save(path, NULL, &item, 1, NULL, NULL, &err));

  ndf_file f;
  ndf_array a;
  ndf_array_info info = {.struct_size = sizeof info};
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "", &a, &err));
  OK(ndf_array_get_info(a, &info, &err));
  CHECK(strcmp(info.dtype, "|V80") == 0 && info.itemsize == sizeof(struct foo));
  CHECK((info.flags & NDF_ARRAY_SINGLE) != 0 && info.ndim == 1 && info.shape[0] == 3);
  OK(ndf_array_read(a, 1, &start, &count, NULL, NULL, got, NULL, NULL, &err));
  CHECK(memcmp(got, foos + 1, sizeof got) == 0);
  /* the same bytes by the names of their parts */
  memset(got, 0, sizeof got);
  OK(ndf_array_read(a, 1, &start, &count, NULL, "[[\"info\", \"S12\"], [\"index\", \"<u4\"], [\"v\", \"<f8\", [8]]]", got,
                    NULL, NULL, &err));
  CHECK(memcmp(got, foos + 1, sizeof got) == 0);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

static void test_trailing(void) {
  const char *path = in_folder(folder, "trailing.ra");
  int16_t x = 5;
  char text[16];
  int64_t len = sizeof text;
  ndf_item item = {.struct_size = sizeof item, .dtype = "<i2", .data = &x};
  ndf_write_options options = {.struct_size = sizeof options, .trailing = "note", .trailing_len = 4};
  OK(ndf_save(path, NULL, &item, 1, NULL, &options, &err));
  ndf_file f;
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_get_trailing(f, text, &len, &err));
  CHECK(len == 4 && memcmp(text, "note", 4) == 0);
  len = 3;
  FAILS(NDF_ERR_BUFFER, "4 bytes", ndf_file_get_trailing(f, text, &len, &err));
  CHECK(len == 4);
  OK(ndf_file_close(f, &err));

  OK(ndf_save(path, NULL, &item, 1, NULL, NULL, &err));
  OK(ndf_file_open(path, NULL, &f, &err));
  len = 0;
  OK(ndf_file_get_trailing(f, NULL, &len, &err));
  CHECK(len == 0);
  OK(ndf_file_close(f, &err));
  item.name = "x";
  FAILS(NDF_ERR_NOT_SUPPORTED, "x.ds", ndf_save(in_folder(folder, "x.ds"), NULL, &item, 1, NULL, &options, &err));
}

static char *content(const char *path, long *n) {
  FILE *f = fopen(path, "rb");
  if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (*n = ftell(f)) < 0) abort();
  char *bytes = malloc((size_t)*n + 1);
  rewind(f);
  if (bytes == NULL || fread(bytes, 1, (size_t)*n, f) != (size_t)*n) abort();
  fclose(f);
  return bytes;
}

static void test_rewrite(const char *file) {
  const char *path = in_folder(folder, "again.ra");
  static _Alignas(64) char buf[4096];
  ndf_load_info info = {.struct_size = sizeof info};
  int64_t need, n = 1;
  OK(ndf_load(file, NULL, buf, ROOM(need, sizeof buf), &info, &n, &err));
  ndf_item item = {.struct_size = sizeof item, .ndim = info.ndim, .dtype = info.dtype, .shape = info.shape,
                   .data = buf + info.data_offset};
  OK(ndf_save(path, NULL, &item, 1, NULL, NULL, &err));
  long before, after;
  char *one = content(file, &before), *two = content(path, &after);
  CHECK(before == after && memcmp(one, two, (size_t)before) == 0);
  free(one);
  free(two);
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) return 2;
  folder = argv[1];
  test_structs();
  test_trailing();
  if (argc == 3) test_rewrite(argv[2]);
  return check_result("rawarray");
}
