/* What is written comes back: every dtype of ds, masks, strings, strides, boxes, one-shot calls.
 * Usage: roundtrip FOLDER */
#include "check.h"

static ndf_error err;
static const char *folder;

/* Reads a whole file, growing the buffers until they do. The caller frees *buf and *infos. */
static int32_t load_all(const char *path, const char *name, char **buf, ndf_load_info **infos, int64_t *n) {
  int64_t cap = 0, need = 0;
  *buf = NULL, *infos = NULL, *n = 0;
  for (;;) {
    int64_t room = *n;
    int32_t status = ndf_load(path, name, *buf, ROOM(need, cap), *infos, n, &err);
    if (status != NDF_ERR_BUFFER) return status;
    CHECK(need > cap || *n > room);
    cap = need;
    free(*buf), free(*infos);
    *buf = aligned_alloc(64, (size_t)(cap + 63) / 64 * 64);
    *infos = calloc((size_t)*n + 1, sizeof **infos);
    (*infos)->struct_size = sizeof **infos;
  }
}

/* load_all, without which the rest of a test makes no sense. */
#define LOAD(path, name, buf, infos, n)              \
  do {                                               \
    OK(load_all(path, name, buf, infos, n));         \
    if (err.code != NDF_OK) exit(1);                 \
  } while (0)

/* One array of each dtype, with extreme values, by ndf_save and by ndf_file_create. */
static const int8_t i1[] = {-128, 127, 0};
static const uint8_t u1[] = {0, 255, 1};
static const int16_t i2[] = {-32768, 32767, 0};
static const uint16_t u2[] = {0, 65535, 1};
static const int32_t i4[] = {INT32_MIN, INT32_MAX, 0};
static const uint32_t u4[] = {0, UINT32_MAX, 1};
static const int64_t i8[] = {INT64_MIN, INT64_MAX, 0};
static const uint64_t u8[] = {0, UINT64_MAX, 1};
static const uint32_t f4[] = {0x7fc00001, 0x80000000, 0x3f800000}; /* a NaN with a payload, -0, 1 */
static const uint64_t f8[] = {0x7ff8000000000001, 0x8000000000000000, 0x3ff0000000000000};
static const uint8_t b1[] = {1, 0, 1};

static const struct {
  const char *dtype;
  const void *data;
  int64_t itemsize;
} numbers[] = {
    {"|i1", i1, 1}, {"|u1", u1, 1}, {"<i2", i2, 2}, {"<u2", u2, 2}, {"<i4", i4, 4}, {"<u4", u4, 4},
    {"<i8", i8, 8}, {"<u8", u8, 8}, {"<f4", f4, 4}, {"<f8", f8, 8}, {"|b1", b1, 1},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void check_numbers(const char *path) {
  static const uint8_t mask[] = {0, 1, 0};
  char *buf;
  ndf_load_info *infos;
  int64_t n;
  LOAD(path, NULL, &buf, &infos, &n);
  CHECK(n == 2 * NUMBERS);
  for (int64_t k = 0; k < n; k++) {
    const ndf_load_info *info = &infos[k];
    int i = atoi(buf + info->name_offset + 1), masked = buf[info->name_offset] == 'm';
    CHECK(strcmp(info->dtype, numbers[i].dtype) == 0);
    CHECK(info->ndim == 1 && info->shape[0] == 3 && info->count == 3 && info->itemsize == numbers[i].itemsize);
    CHECK(info->data_len == 3 * info->itemsize && info->data_offset % 64 == 0 && info->offsets_offset == -1);
    CHECK(((info->flags & NDF_ARRAY_MASKED) != 0) == masked && (info->mask_offset >= 0) == masked);
    char want[24];
    memcpy(want, numbers[i].data, (size_t)info->data_len);
    if (masked) {
      CHECK(memcmp(buf + info->mask_offset, mask, 3) == 0);
      memset(want + info->itemsize, 0, (size_t)info->itemsize);
    }
    CHECK(memcmp(buf + info->data_offset, want, (size_t)info->data_len) == 0);
  }
  free(buf), free(infos);

  /* and through handles */
  ndf_file f;
  OK(ndf_file_open(path, NULL, &f, &err));
  for (int i = 0; i < 2 * NUMBERS; i++) {
    char name[8], got[24], want[24];
    uint8_t got_mask[3] = {9, 9, 9};
    ndf_array a;
    int masked = i >= NUMBERS;
    size_t size = 3 * (size_t)numbers[i % NUMBERS].itemsize;
    sprintf(name, "%c%d", masked ? 'm' : 'p', i % NUMBERS);
    OK(ndf_file_array(f, name, &a, &err));
    OK(ndf_array_read(a, 1, NULL, NULL, NULL, NULL, got, NULL, got_mask, &err));
    memcpy(want, numbers[i % NUMBERS].data, size);
    if (masked) {
      memset(want + size / 3, 0, size / 3);
      FAILS(NDF_ERR_MASKED, path, ndf_array_read(a, 1, NULL, NULL, NULL, NULL, got, NULL, NULL, &err));
      /* nothing is missing in this box */
      OK(ndf_array_read(a, 1, &(int64_t){2}, &(int64_t){1}, NULL, NULL, got + 2 * size / 3, NULL, NULL, &err));
    }
    CHECK(memcmp(got, want, size) == 0);
    CHECK(got_mask[0] == 0 && got_mask[1] == masked && got_mask[2] == 0);
    OK(ndf_array_close(a, &err));
  }
  OK(ndf_file_close(f, &err));
}

static void test_numbers(void) {
  static const uint8_t mask[] = {0, 1, 0};
  static char names[2 * NUMBERS][8];
  int64_t shape[1] = {3};
  ndf_item items[2 * NUMBERS];
  memset(items, 0, sizeof items);
  for (int i = 0; i < 2 * NUMBERS; i++) {
    int k = i % NUMBERS;
    sprintf(names[i], "%c%d", i < NUMBERS ? 'p' : 'm', k);
    items[i] = (ndf_item){.struct_size = sizeof *items, .ndim = 1, .name = names[i], .dtype = numbers[k].dtype,
                          .shape = shape, .data = numbers[k].data, .mask = i < NUMBERS ? NULL : mask};
  }
  const char *saved = in_folder(folder, "numbers.ds");
  OK(ndf_save(saved, NULL, items, 2 * NUMBERS, NULL, NULL, &err));
  check_numbers(saved);

  const char *created = in_folder(folder, "numbers.other");
  ndf_file f;
  OK(ndf_file_create(created, "ds", NULL, NULL, &f, &err));
  for (int i = 0; i < 2 * NUMBERS; i++) {
    ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = items[i].dtype, .shape = shape,
                           .flags = items[i].mask ? NDF_ARRAY_MASKED : 0};
    ndf_array a;
    OK(ndf_file_add(f, items[i].name, &spec, &a, &err));
    OK(ndf_array_write(a, 1, NULL, NULL, NULL, NULL, items[i].data, NULL, items[i].mask, &err));
    OK(ndf_array_close(a, &err));
  }
  OK(ndf_file_close(f, &err));
  check_numbers(created);
}

static void test_strings(void) {
  static const int64_t offsets[] = {0, 3, 3, 8};
  static const char bytes[] = "a\0b\xff\xfe\x80zz", text[] = "abc\xc3\xa9xyz";
  static const uint8_t mask[] = {0, 1, 0};
  int64_t shape[1] = {3};
  ndf_item items[3] = {
      {.struct_size = sizeof *items, .name = "bytes", .dtype = "bytes", .ndim = 1, .shape = shape, .offsets = offsets, .data = bytes},
      {.struct_size = sizeof *items, .name = "text", .dtype = "str", .ndim = 1, .shape = shape, .offsets = offsets, .data = text, .mask = mask},
      {.struct_size = sizeof *items, .name = "none", .dtype = "str", .ndim = 1, .shape = &(int64_t){0}, .offsets = offsets},
  };
  const char *path = in_folder(folder, "strings.ds");
  OK(ndf_save(path, NULL, items, 3, NULL, NULL, &err));
  char *buf;
  ndf_load_info *infos;
  int64_t n, need = -1;
  LOAD(path, "text", &buf, &infos, &n);
  CHECK(n == 1 && infos->flags == (NDF_ARRAY_STRINGS | NDF_ARRAY_MASKED) && strcmp(infos->dtype, "str") == 0);
  CHECK(infos->data_len == 8 && memcmp(buf + infos->data_offset, text, 8) == 0);
  CHECK(memcmp(buf + infos->offsets_offset, offsets, sizeof offsets) == 0 && memcmp(buf + infos->mask_offset, mask, 3) == 0);
  free(buf), free(infos);
  FAILS(NDF_ERR_NAME, "nothing", load_all(path, "nothing", &buf, &infos, &n));
  free(buf), free(infos);

  ndf_file f;
  ndf_array a;
  int64_t ends[4];
  char data[8];
  uint8_t missing[3];
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "bytes", &a, &err));
  FAILS(NDF_ERR_BUFFER, path, ndf_array_read_strings(a, 1, NULL, NULL, NULL, ends, NULL, ROOM(need, 0), NULL, &err));
  CHECK(need == 8 && memcmp(ends, offsets, sizeof ends) == 0);
  OK(ndf_array_read_strings(a, 1, NULL, NULL, NULL, ends, data, ROOM(need, sizeof data), NULL, &err));
  CHECK(memcmp(data, bytes, 8) == 0);
  /* a box with a step */
  OK(ndf_array_read_strings(a, 1, &(int64_t){0}, &(int64_t){2}, &(int64_t){2}, ends, data, ROOM(need, sizeof data), missing, &err));
  CHECK(need == 8 && ends[0] == 0 && ends[1] == 3 && ends[2] == 8 && missing[1] == 0);
  FAILS(NDF_ERR_DTYPE, "strings", ndf_array_read(a, 1, NULL, NULL, NULL, NULL, data, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_array(f, "text", &a, &err));
  FAILS(NDF_ERR_MASKED, path, ndf_array_read_strings(a, 1, NULL, NULL, NULL, ends, data, ROOM(need, sizeof data), NULL, &err));
  OK(ndf_array_read_strings(a, 1, &(int64_t){1}, &(int64_t){2}, NULL, ends, data, ROOM(need, sizeof data), missing, &err));
  CHECK(need == 5 && ends[1] == 0 && ends[2] == 5 && missing[0] == 1 && missing[1] == 0);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_array(f, "none", &a, &err));
  OK(ndf_array_read_strings(a, 1, NULL, NULL, NULL, ends, NULL, ROOM(need, 0), missing, &err));
  CHECK(need == 0 && ends[0] == 0);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));

  /* blocks of rows through a handle */
  const char *created = in_folder(folder, "strings2.ds");
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "bytes", .shape = shape, .flags = NDF_ARRAY_MASKED};
  OK(ndf_file_create(created, NULL, NULL, NULL, &f, &err));
  OK(ndf_file_add(f, "s", &spec, &a, &err));
  OK(ndf_array_write_strings(a, 1, &(int64_t){0}, &(int64_t){1}, NULL, offsets, bytes, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "offsets: entry 2", ndf_array_write_strings(a, 1, &(int64_t){1}, &(int64_t){2}, NULL, (int64_t[]){0, 3, 2}, bytes, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "offsets: entry 0", ndf_array_write_strings(a, 1, &(int64_t){1}, &(int64_t){2}, NULL, (int64_t[]){-1, 0, 0}, bytes, NULL, &err));
  OK(ndf_array_write_strings(a, 1, &(int64_t){1}, &(int64_t){2}, NULL, offsets + 1, bytes, mask + 1, &err));
  int64_t width = -1;
  OK(ndf_texts_width(3, (int64_t[]){1, 3, 6, 7}, "xab\xc3\xa4\xe2\x82\xac", &width, &err));
  CHECK(width == 2);
  FAILS(NDF_ERR_ARGUMENT, "offsets: entry 1", ndf_texts_width(1, (int64_t[]){3, 2}, "abc", &width, &err));
  OK(ndf_file_close(f, &err));
  OK(ndf_array_close(a, &err));
  LOAD(created, NULL, &buf, &infos, &n);
  CHECK(infos->data_len == 8 && memcmp(buf + infos->data_offset, bytes, 8) == 0 && buf[infos->mask_offset + 1] == 1);
  free(buf), free(infos);
}

/* A matrix of rows x columns in each layout of memory. */
static void test_strides(void) {
  enum { ROWS = 3, COLUMNS = 4 };
  int64_t shape[2] = {ROWS, COLUMNS};
  int32_t m[ROWS][COLUMNS], t[COLUMNS][ROWS], got[ROWS][COLUMNS];
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) m[i][j] = t[j][i] = 10 * i + j;
  const int64_t transposed[2] = {sizeof t[0][0], sizeof t[0]};
  const int64_t backward[2] = {-(int64_t)sizeof m[0], -(int64_t)sizeof m[0][0]};
  const int64_t constant[2] = {0, 0};
  ndf_item items[4] = {
      {.struct_size = sizeof *items, .name = "plain", .dtype = "<i4", .ndim = 2, .shape = shape, .data = m},
      {.struct_size = sizeof *items, .name = "transposed", .dtype = "<i4", .ndim = 2, .shape = shape, .data = t, .strides = transposed},
      {.struct_size = sizeof *items, .name = "backward", .dtype = "<i4", .ndim = 2, .shape = shape, .data = &m[ROWS - 1][COLUMNS - 1], .strides = backward},
      {.struct_size = sizeof *items, .name = "constant", .dtype = "<i4", .ndim = 2, .shape = shape, .data = &m[1][1], .strides = constant},
  };
  const char *path = in_folder(folder, "strides.ds");
  OK(ndf_save(path, NULL, items, 4, NULL, NULL, &err));
  ndf_file f;
  ndf_array a;
  OK(ndf_file_open(path, NULL, &f, &err));
#define READ(name, strides, data)                                                       \
  OK(ndf_file_array(f, name, &a, &err));                                                \
  OK(ndf_array_read(a, 2, NULL, NULL, NULL, NULL, data, strides, NULL, &err));          \
  OK(ndf_array_close(a, &err))
  READ("plain", NULL, got);
  CHECK(memcmp(got, m, sizeof m) == 0);
  READ("transposed", NULL, got);
  CHECK(memcmp(got, m, sizeof m) == 0);
  READ("backward", backward, &got[ROWS - 1][COLUMNS - 1]);
  CHECK(memcmp(got, m, sizeof m) == 0);
  READ("constant", NULL, got);
  CHECK(got[0][0] == 11 && got[2][3] == 11);
  int32_t turned[COLUMNS][ROWS];
  READ("plain", transposed, turned);
  CHECK(memcmp(turned, t, sizeof t) == 0);

  /* boxes, other byte order, exact widening */
  OK(ndf_file_array(f, "plain", &a, &err));
  int64_t start[2] = {1, 0}, count[2] = {2, 2}, step[2] = {1, 3};
  int32_t box[2][2];
  OK(ndf_array_read(a, 2, start, count, step, NULL, box, NULL, NULL, &err));
  CHECK(box[0][0] == 10 && box[0][1] == 13 && box[1][0] == 20 && box[1][1] == 23);
  OK(ndf_array_read(a, 2, start, count, step, ">i4", box, NULL, NULL, &err));
  CHECK((uint32_t)box[0][1] == 13u << 24);
  double wide[2][2];
  OK(ndf_array_read(a, 2, start, count, step, "<f8", wide, NULL, NULL, &err));
  CHECK(wide[1][1] == 23.0);
  FAILS(NDF_ERR_DTYPE, path, ndf_array_read(a, 2, start, count, step, "<f4", wide, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));

  /* blocks of rows, stored in the other byte order, from strided memory */
  const char *created = in_folder(folder, "blocks.ds");
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 2, .dtype = ">i4", .shape = shape, .dims_json = "[\"y\", \"x\"]"};
  OK(ndf_file_create(created, NULL, "{\"a\": 1}", NULL, &f, &err));
  OK(ndf_file_add(f, "m", &spec, &a, &err));
  int64_t rows[2] = {1, COLUMNS};
  for (int64_t i = 0; i < ROWS; i++)
    OK(ndf_array_write(a, 2, (int64_t[]){i, 0}, rows, NULL, "<i4", &t[0][i], transposed, NULL, &err));
  OK(ndf_array_set_attrs(a, "{\"units\": \"K\"}", &err));
  OK(ndf_file_set_attrs(f, "{\"b\": 2}", &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
  char *buf;
  ndf_load_info *infos;
  int64_t n, len = 100;
  LOAD(created, "m", &buf, &infos, &n);
  CHECK(strcmp(infos->dtype, "<i4") == 0 && memcmp(buf + infos->data_offset, m, sizeof m) == 0);
  free(buf), free(infos);
  char text[100];
  OK(ndf_file_open(created, NULL, &f, &err));
  OK(ndf_file_array(f, "m", &a, &err));
  OK(ndf_file_get_attrs(f, text, &len, &err));
  CHECK(strcmp(text, "{\"b\": 2}") == 0);
  len = sizeof text;
  OK(ndf_array_get_attrs(a, text, &len, &err));
  CHECK(strcmp(text, "{\"units\": \"K\"}") == 0);
  len = sizeof text;
  OK(ndf_array_get_dims(a, text, &len, &err));
  CHECK(strcmp(text, "[\"y\", \"x\"]") == 0);
  len = sizeof text;
  OK(ndf_array_get_dtype(a, text, &len, &err));
  CHECK(strcmp(text, ">i4") == 0);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

/* A file that was not written completely does not come into being, an old one stays. */
static void test_unfinished(void) {
  const char *path = in_folder(folder, "unfinished.ds");
  double x = 1, got = 0;
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .data = &x};
  OK(ndf_save(path, NULL, &item, 1, NULL, NULL, &err));
  ndf_file f;
  ndf_array a;
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<f8", .shape = &(int64_t){5}};
  OK(ndf_file_create(path, NULL, NULL, NULL, &f, &err));
  OK(ndf_file_add(f, "y", &spec, &a, &err));
  OK(ndf_array_close(a, &err));
  FAILS(NDF_ERR_ORDER, path, ndf_file_close(f, &err));
  FAILS(NDF_ERR_HANDLE, "closed", ndf_file_close(f, &err));
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "x", &a, &err));
  OK(ndf_array_read(a, 0, NULL, NULL, NULL, NULL, &got, NULL, NULL, &err));
  CHECK(got == 1);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  test_numbers();
  test_strings();
  test_strides();
  test_unfinished();
  return check_result("roundtrip");
}
