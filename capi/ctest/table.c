/* Tables: columns, rows, conditions, reductions. Usage: table FOLDER */
#include <math.h>

#include "check.h"

static ndf_error err;

static const ndf_open_options update = {.struct_size = sizeof update, .mode = NDF_MODE_UPDATE};

enum { ROWS = 10 };
static int64_t ids[ROWS];
static double prices[ROWS];
static char names[ROWS][4];
static int32_t pairs[ROWS][2];

static void add(ndf_file f, const char *name, const char *dtype, int32_t ndim, const int64_t *shape) {
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = ndim, .dtype = dtype, .shape = shape,
                         .chunks = (int64_t[]){4, 2}, .expected_rows = 1000};
  ndf_array a = 0;
  OK(ndf_file_add(f, name, &spec, &a, &err));
  OK(ndf_array_close(a, &err));
}

static ndf_array column(ndf_file f, const char *name) {
  ndf_array a = 0;
  OK(ndf_file_array(f, name, &a, &err));
  return a;
}

static ndf_file open_file(const char *path, const ndf_open_options *options) {
  ndf_file f = 0;
  OK(ndf_file_open(path, options, &f, &err));
  return f;
}

/* Items for n rows from row on, in another order than the columns. */
static void fill_items(ndf_item items[4], int row, int64_t shapes[4][2], int64_t n) {
  static const char *const all[4] = {"pair", "name", "id", "price"}, *const dtypes[4] = {"<i4", "S4", "<i8", "<f8"};
  const void *const data[4] = {pairs[row], names[row], &ids[row], &prices[row]};
  memset(items, 0, 4 * sizeof *items);
  for (int i = 0; i < 4; i++) {
    shapes[i][0] = n, shapes[i][1] = 2;
    items[i].struct_size = sizeof items[i];
    items[i].name = all[i], items[i].dtype = dtypes[i], items[i].data = data[i];
    items[i].ndim = i == 0 ? 2 : 1, items[i].shape = shapes[i];
  }
}

static int64_t rows_of(ndf_file f) {
  ndf_file_info info = {.struct_size = sizeof info};
  OK(ndf_file_get_info(f, &info, &err));
  CHECK(info.kind == NDF_KIND_TABLE);
  return info.nrows;
}

static void make(const char *path) {
  for (int i = 0; i < ROWS; i++) {
    ids[i] = i * 10, prices[i] = i / 2.0, pairs[i][0] = i, pairs[i][1] = -i;
    sprintf(names[i], "n%d", i % 3);
  }
  prices[7] = NAN;
  ndf_file f;
  OK(ndf_file_create(path, "bcolz", NULL, NULL, &f, &err));
  add(f, "id", "<i8", 1, (int64_t[]){0});
  add(f, "price", "<f8", 1, (int64_t[]){0});
  add(f, "name", "S4", 1, (int64_t[]){0});
  add(f, "pair", "<i4", 2, (int64_t[]){0, 2});
  ndf_item items[4];
  int64_t shapes[4][2];
  fill_items(items, 0, shapes, 6);
  OK(ndf_table_append(f, items, 4, &err));
  CHECK(rows_of(f) == 6);
  OK(ndf_file_close(f, &err));

  f = open_file(path, &update);
  fill_items(items, 6, shapes, 4);
  OK(ndf_table_append(f, items, 4, &err));
  OK(ndf_file_flush(f, 0, &err));
  ndf_file g = open_file(path, NULL);
  CHECK(rows_of(g) == ROWS);
  OK(ndf_file_close(g, &err));

  /* what cannot be appended changes nothing */
  FAILS(NDF_ERR_NAME, "no item for the column", ndf_table_append(f, items, 3, &err));
  CHECK(strstr(err.message, "\"price\"") != NULL && strstr(err.message, path) != NULL);
  items[1].name = "none";
  FAILS(NDF_ERR_NAME, "\"none\"", ndf_table_append(f, items, 4, &err));
  items[1].name = "id";
  FAILS(NDF_ERR_NAME_EXISTS, "twice", ndf_table_append(f, items, 4, &err));
  items[1].name = "name", items[1].attrs_json = "{}";
  FAILS(NDF_ERR_ARGUMENT, "no mask", ndf_table_append(f, items, 4, &err));
  items[1].attrs_json = NULL, shapes[1][0] = 2;
  FAILS(NDF_ERR_SHAPE, "", ndf_table_append(f, items, 4, &err));
  shapes[1][0] = 4, items[2].dtype = "<f8";
  FAILS(NDF_ERR_DTYPE, "\"id\"", ndf_table_append(f, items, 4, &err));
  FAILS(NDF_ERR_ARGUMENT, "n is -1", ndf_table_append(f, items, -1, &err));
  FAILS(NDF_ERR_ARGUMENT, "nrows is -1", ndf_table_resize(f, -1, &err));
  CHECK(rows_of(f) == ROWS);
  OK(ndf_file_close(f, &err));
}

/* The rows for which price is at least from and the name is n1, with room for cap rows a call. */
static int64_t find(ndf_file f, const char *from, int64_t cap, int64_t *found) {
  ndf_term terms[2] = {{sizeof terms[0], NDF_OP_GE, "price", from}, {sizeof terms[0], NDF_OP_EQ, "name", "\"n1\""}};
  ndf_where_options options = {.struct_size = sizeof options};
  int64_t n = 0, next = 0, total = 0;
  while (next >= 0) {
    options.start = next;
    OK(ndf_table_where(f, terms, 2, &options, found + total, ROOM(n, cap), &next, &err));
    CHECK(n <= cap && (n == cap || next == -1));
    total += n;
    if (err.code != NDF_OK) break;
  }
  return total;
}

static void test_where(const char *path) {
  ndf_file f = open_file(path, NULL);
  int64_t rows[ROWS + 1], n = 0, next = 0;
  for (int64_t cap = 1; cap <= ROWS; cap++) {
    CHECK(find(f, "0", cap, rows) == 2 && rows[0] == 1 && rows[1] == 4); /* 7 is NaN */
    CHECK(find(f, "1.75", cap, rows) == 1 && rows[0] == 4);
    CHECK(find(f, "Infinity", cap, rows) == 0);
  }
  /* all rows; counting; skip and limit */
  OK(ndf_table_where(f, NULL, 0, NULL, rows, ROOM(n, ROWS + 1), &next, &err));
  CHECK(n == ROWS && next == -1 && rows[9] == 9);
  OK(ndf_table_where(f, NULL, 0, NULL, NULL, ROOM(n, 0), &next, &err));
  CHECK(n == ROWS && next == -1);
  ndf_where_options options = {.struct_size = sizeof options, .start = 2, .stop = 9, .skip = 1, .limit = 3};
  ndf_term ne = {sizeof ne, NDF_OP_NE, "id", "40"};
  OK(ndf_table_where(f, &ne, 1, &options, rows, ROOM(n, ROWS), &next, &err));
  CHECK(n == 3 && next == -1 && rows[0] == 3 && rows[1] == 5 && rows[2] == 6);
  OK(ndf_table_where(f, &ne, 1, &options, rows, ROOM(n, 2), &next, &err));
  CHECK(n == 2 && next == 6);

  FAILS(NDF_ERR_NAME, "\"none\"", ndf_table_where(f, &(ndf_term){sizeof ne, NDF_OP_EQ, "none", "1"}, 1, NULL, rows, ROOM(n, 9), &next, &err));
  CHECK(n == 0 && next == -1);
  FAILS(NDF_ERR_ARGUMENT, "\"id\"", ndf_table_where(f, &(ndf_term){sizeof ne, NDF_OP_EQ, "id", "\"x\""}, 1, NULL, rows, ROOM(n, 9), &next, &err));
  FAILS(NDF_ERR_ARGUMENT, "value_json", ndf_table_where(f, &(ndf_term){sizeof ne, NDF_OP_EQ, "id", "{"}, 1, NULL, rows, ROOM(n, 9), &next, &err));
  FAILS(NDF_ERR_ARGUMENT, "value_json", ndf_table_where(f, &(ndf_term){sizeof ne, NDF_OP_EQ, "id", NULL}, 1, NULL, rows, ROOM(n, 9), &next, &err));
  FAILS(NDF_ERR_ARGUMENT, "", ndf_table_where(f, &(ndf_term){sizeof ne, 0, "id", "1"}, 1, NULL, rows, ROOM(n, 9), &next, &err));
  FAILS(NDF_ERR_ARGUMENT, "op is 257", ndf_table_where(f, &(ndf_term){sizeof ne, 257, "id", "1"}, 1, NULL, rows, ROOM(n, 9), &next, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, "\"pair\"", ndf_table_where(f, &(ndf_term){sizeof ne, NDF_OP_EQ, "pair", "1"}, 1, NULL, rows, ROOM(n, 9), &next, &err));
  FAILS(NDF_ERR_ARGUMENT, "ndf_term", ndf_table_where(f, NULL, 1, NULL, rows, ROOM(n, 9), &next, &err));
  FAILS(NDF_ERR_ARGUMENT, "nrows is 9", ndf_table_where(f, NULL, 0, NULL, NULL, ROOM(n, 9), &next, &err));
  FAILS(NDF_ERR_ARGUMENT, "rows: -1", ndf_table_where(f, NULL, 0, NULL, rows, ROOM(n, -1), &next, &err));
  options.stop = 11;
  FAILS(NDF_ERR_BOUNDS, "", ndf_table_where(f, NULL, 0, &options, rows, ROOM(n, 9), &next, &err));
  OK(ndf_file_close(f, &err));
}

static void test_take(const char *path) {
  ndf_file f = open_file(path, NULL);
  ndf_array a = column(f, "pair"), id = column(f, "id");
  int32_t got[4][2], apart[4][4];
  uint8_t mask[8];
  const int64_t rows[4] = {9, 0, 9, 4};
  memset(mask, 9, sizeof mask);
  OK(ndf_array_take(a, rows, 4, NULL, got, NULL, mask, &err));
  for (int i = 0; i < 4; i++) CHECK(got[i][0] == rows[i] && got[i][1] == -rows[i] && mask[i] == 0 && mask[i + 4] == 0);
  memset(apart, 0x55, sizeof apart);
  OK(ndf_array_take(a, rows, 4, "<i4", &apart[3][2], (int64_t[]){-16, -4}, NULL, &err));
  CHECK(apart[3][2] == 9 && apart[3][1] == -9 && apart[0][2] == 4 && apart[0][1] == -4 && apart[0][0] == 0x55555555);
  double wide[2];
  OK(ndf_array_take(id, (int64_t[]){3, 2}, 2, "<i8", wide, NULL, NULL, &err));
  OK(ndf_array_take(id, NULL, 0, NULL, NULL, NULL, NULL, &err));
  FAILS(NDF_ERR_BOUNDS, "\"id\"", ndf_array_take(id, (int64_t[]){0, 10}, 2, NULL, wide, NULL, NULL, &err));
  FAILS(NDF_ERR_BOUNDS, path, ndf_array_take(id, (int64_t[]){-1}, 1, NULL, wide, NULL, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "rows is NULL", ndf_array_take(id, NULL, 1, NULL, wide, NULL, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "rows: -1", ndf_array_take(id, rows, -1, NULL, wide, NULL, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "data is NULL", ndf_array_take(id, rows, 1, NULL, NULL, NULL, NULL, &err));
  FAILS(NDF_ERR_DTYPE, "\"id\"", ndf_array_take(id, rows, 1, "<i4", wide, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_array_close(id, &err));
  OK(ndf_file_close(f, &err));
}

static double as_double(const ndf_scalar *s) {
  double v;
  memcpy(&v, s->bytes, sizeof v);
  return v;
}

static int64_t as_int64(const ndf_scalar *s) {
  int64_t v;
  memcpy(&v, s->bytes, sizeof v);
  return v;
}

static int64_t as_int32(const ndf_scalar *s) {
  int32_t v;
  memcpy(&v, s->bytes, sizeof v);
  return v;
}

static void test_reduce(const char *path) {
  ndf_file f = open_file(path, NULL);
  ndf_array id = column(f, "id"), price = column(f, "price"), pair = column(f, "pair"), name = column(f, "name");
  ndf_summary s = {.struct_size = sizeof s};
  const uint32_t all = NDF_REDUCE_COUNT | NDF_REDUCE_SUM | NDF_REDUCE_MIN | NDF_REDUCE_MAX | NDF_REDUCE_MEAN;
  OK(ndf_array_reduce(id, 1, NULL, NULL, NULL, all, &s, &err));
  CHECK(s.have == all && s.count == ROWS && as_int64(&s.sum) == 450 && as_int64(&s.min) == 0 && as_int64(&s.max) == 90);
  CHECK(as_double(&s.mean) == 45 && strcmp(s.sum.dtype, "<i8") == 0 && strcmp(s.mean.dtype, "<f8") == 0);
  OK(ndf_array_reduce(pair, 2, (int64_t[]){1, 1}, (int64_t[]){3, 1}, (int64_t[]){2, 1}, NDF_REDUCE_MIN | NDF_REDUCE_SUM, &s, &err));
  CHECK(s.count == 3 && as_int32(&s.min) == -5 && strcmp(s.min.dtype, "<i4") == 0 && as_int64(&s.sum) == -9);
  CHECK(s.have == (NDF_REDUCE_COUNT | NDF_REDUCE_SUM | NDF_REDUCE_MIN) && s.max.dtype[0] == 0 && s.mean.dtype[0] == 0);
  OK(ndf_array_reduce(price, 1, NULL, NULL, NULL, all, &s, &err));
  CHECK(isnan(as_double(&s.sum)) && isnan(as_double(&s.max)));
  OK(ndf_array_reduce(price, 1, (int64_t[]){0}, (int64_t[]){7}, NULL, NDF_REDUCE_SUM | NDF_REDUCE_MAX, &s, &err));
  CHECK(as_double(&s.sum) == 10.5 && as_double(&s.max) == 3);
  OK(ndf_array_reduce(name, 1, NULL, NULL, NULL, NDF_REDUCE_COUNT, &s, &err));
  CHECK(s.count == ROWS);
  FAILS(NDF_ERR_DTYPE, "\"name\"", ndf_array_reduce(name, 1, NULL, NULL, NULL, NDF_REDUCE_SUM, &s, &err));
  FAILS(NDF_ERR_VALUE, "\"id\"", ndf_array_reduce(id, 1, (int64_t[]){0}, (int64_t[]){0}, NULL, NDF_REDUCE_MIN, &s, &err));
  FAILS(NDF_ERR_BOUNDS, "", ndf_array_reduce(id, 1, (int64_t[]){9}, (int64_t[]){2}, NULL, NDF_REDUCE_SUM, &s, &err));
  FAILS(NDF_ERR_ARGUMENT, "unknown bits", ndf_array_reduce(id, 1, NULL, NULL, NULL, 32, &s, &err));
  s.struct_size = 0;
  FAILS(NDF_ERR_ARGUMENT, "sizeof(ndf_summary)", ndf_array_reduce(id, 1, NULL, NULL, NULL, NDF_REDUCE_SUM, &s, &err));
  OK(ndf_array_close(id, &err));
  OK(ndf_array_close(price, &err));
  OK(ndf_array_close(pair, &err));
  OK(ndf_array_close(name, &err));
  OK(ndf_file_close(f, &err));
}

/* Columns come and go while handles are open; rows fall off and come back. */
static void test_change(const char *path) {
  ndf_file f = open_file(path, &update);
  ndf_array pair = column(f, "pair"), id = column(f, "id"), late = 0;
  int32_t got[2];
  OK(ndf_file_remove(f, "pair", &err));
  FAILS(NDF_ERR_NAME, "\"pair\"", ndf_file_remove(f, "pair", &err));
  int32_t status = ndf_array_read(pair, 2, (int64_t[]){0, 0}, (int64_t[]){1, 2}, NULL, NULL, got, NULL, NULL, &err);
  CHECK((status == NDF_ERR_HANDLE || status == NDF_ERR_NAME) && strstr(err.message, "\"pair\"") != NULL);
  status = ndf_array_write(pair, 2, (int64_t[]){0, 0}, (int64_t[]){1, 2}, NULL, NULL, got, NULL, NULL, &err);
  CHECK(status == NDF_ERR_HANDLE || status == NDF_ERR_NAME);
  OK(ndf_array_close(pair, &err));

  float fill = 2.5f, late_values[ROWS] = {0};
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<f4", .shape = &(int64_t){ROWS}, .fill = &fill};
  OK(ndf_file_add(f, "late", &spec, &late, &err));
  OK(ndf_array_write(late, 1, &(int64_t){1}, &(int64_t){1}, NULL, NULL, late_values, NULL, NULL, &err));
  ndf_array_spec other = {.struct_size = sizeof other, .ndim = 1, .dtype = "<f4", .shape = &(int64_t){ROWS + 1}};
  ndf_array none = 1;
  FAILS(NDF_ERR_SHAPE, "", ndf_file_add(f, "other", &other, &none, &err));
  CHECK(none == 0);
  FAILS(NDF_ERR_NAME_EXISTS, "\"late\"", ndf_file_add(f, "late", &spec, &none, &err));

  OK(ndf_table_resize(f, 3, &err));
  OK(ndf_table_resize(f, 5, &err));
  int64_t back[5];
  OK(ndf_array_read(id, 1, NULL, NULL, NULL, NULL, back, NULL, NULL, &err));
  CHECK(back[2] == 20 && back[3] == 0 && back[4] == 0);
  CHECK(ndf_array_resize(id, 1, &(int64_t){9}, &err) == NDF_ERR_NOT_SUPPORTED);
  CHECK(ndf_array_append(id, 0, 1, &(int64_t){1}, NULL, back, NULL, &err) == NDF_ERR_NOT_SUPPORTED);
  OK(ndf_array_close(id, &err));
  OK(ndf_array_close(late, &err));
  OK(ndf_file_close(f, &err));

  f = open_file(path, NULL);
  CHECK(rows_of(f) == 5);
  late = column(f, "late");
  OK(ndf_array_read(late, 1, NULL, NULL, NULL, NULL, late_values, NULL, NULL, &err));
  CHECK(late_values[0] == 2.5f && late_values[1] == 0 && late_values[4] == 2.5f);
  FAILS(NDF_ERR_NAME, "pair", ndf_file_array(f, "pair", &none, &err));
  FAILS(NDF_ERR_READ_ONLY, path, ndf_table_resize(f, 1, &err));
  FAILS(NDF_ERR_READ_ONLY, path, ndf_table_append(f, NULL, 0, &err));
  OK(ndf_array_close(late, &err));
  OK(ndf_file_close(f, &err));

  /* the folder of a column is an array */
  char sub[512];
  snprintf(sub, sizeof sub, "%s/id", path);
  f = open_file(sub, NULL);
  ndf_file_info info = {.struct_size = sizeof info};
  OK(ndf_file_get_info(f, &info, &err));
  CHECK(info.kind == NDF_KIND_ARRAY && info.nrows == -1);
  int64_t n, next;
  FAILS(NDF_ERR_ARGUMENT, sub, ndf_table_where(f, NULL, 0, NULL, NULL, ROOM(n, 0), &next, &err));
  OK(ndf_file_close(f, &err));
}

/* A table in one call. */
static void test_one_shot(const char *path) {
  ndf_item items[2] = {{.struct_size = sizeof items[0], .ndim = 1, .name = "id", .dtype = "<i8", .shape = (int64_t[]){ROWS}, .data = ids},
                       {.struct_size = sizeof items[0], .ndim = 1, .name = "name", .dtype = "S4", .shape = (int64_t[]){ROWS}, .data = names}};
  OK(ndf_save(path, NULL, items, 2, "{\"a\": 1}", NULL, &err));
  char buf[2000];
  ndf_load_info infos[2];
  int64_t need = 0, n = 2;
  infos[0].struct_size = sizeof infos[0];
  OK(ndf_load(path, NULL, buf, ROOM(need, sizeof buf), infos, &n, &err));
  CHECK(n == 2 && strcmp(buf + infos[1].name_offset, "name") == 0 && infos[0].flags == 0);
  CHECK(memcmp(buf + infos[0].data_offset, ids, sizeof ids) == 0 && memcmp(buf + infos[1].data_offset, names, sizeof names) == 0);
  items[1].shape = (int64_t[]){ROWS - 1};
  FAILS(NDF_ERR_SHAPE, path, ndf_save(path, NULL, items, 2, NULL, NULL, &err));
}

/* Rows with missing elements, of a file that is no table. */
static void test_take_masked(const char *path) {
  const int32_t values[6] = {1, 2, 3, 4, 5, 6};
  const uint8_t missing[6] = {0, 1, 0, 0, 0, 1};
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<i4", .ndim = 2, .shape = (int64_t[]){3, 2}, .data = values, .mask = missing};
  OK(ndf_save(path, NULL, &item, 1, NULL, NULL, &err));
  ndf_file f = open_file(path, NULL);
  ndf_array a = column(f, "x");
  int32_t got[6];
  uint8_t mask[6];
  OK(ndf_array_take(a, (int64_t[]){2, 0, 1}, 3, NULL, got, NULL, mask, &err));
  CHECK(memcmp(got, (int32_t[]){5, 0, 1, 0, 3, 4}, sizeof got) == 0 && memcmp(mask, "\0\1\0\1\0\0", 6) == 0);
  OK(ndf_array_take(a, (int64_t[]){1}, 1, NULL, got, NULL, NULL, &err));
  FAILS(NDF_ERR_MASKED, "\"x\"", ndf_array_take(a, (int64_t[]){2}, 1, NULL, got, NULL, NULL, &err));
  FAILS(NDF_ERR_BOUNDS, "number 1 of the list: expected 0 to 2, found 3", ndf_array_take(a, (int64_t[]){0, 3}, 2, NULL, got, NULL, mask, &err));
  ndf_summary s = {.struct_size = sizeof s};
  OK(ndf_array_reduce(a, 2, NULL, NULL, NULL, NDF_REDUCE_SUM, &s, &err));
  CHECK(s.count == 4 && as_int64(&s.sum) == 13);
  int64_t n, next;
  FAILS(NDF_ERR_ARGUMENT, path, ndf_table_where(f, NULL, 0, NULL, NULL, ROOM(n, 0), &next, &err));
  FAILS(NDF_ERR_NOT_SUPPORTED, path, ndf_table_arrow(f, NULL, 0, &(struct ArrowArrayStream){0}, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const char *path = in_folder(argv[1], "table.bcolz");
  make(path);
  test_where(path);
  test_take(path);
  test_reduce(path);
  test_change(path);
  test_one_shot(in_folder(argv[1], "saved.bcolz"));
  test_take_masked(in_folder(argv[1], "masked.ds"));
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
  CHECK(open == 0);
  return check_result("table");
}
