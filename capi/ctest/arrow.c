/* The Arrow stream of a table, consumed by hand. Usage: arrow FOLDER */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static ndf_error err;

enum { ROWS = 10 };
#define NAT INT64_MIN

/* The columns: what is stored, and as what it comes. */
static const struct {
  const char *name, *dtype, *format;
  int inner; /* elements of a row, in one more axis; 0: there is none */
} columns[] = {
    {"bool", "|b1", "b", 0},        {"i1", "|i1", "c", 0},         {"u2", "<u2", "S", 0},
    {"i8", "<i8", "l", 0},          {"f2", "<f2", "e", 0},         {"f4be", ">f4", "f", 0},
    {"f8", "<f8", "g", 0},          {"s", "|S4", "z", 0},          {"u", "<U2", "u", 0},
    {"ns", "<M8[ns]", "tsn:", 0},   {"hours", "<M8[h]", "tss:", 0}, {"days", "<M8[D]", "tdD", 0},
    {"weeks", "<M8[W]", "tdD", 0},  {"ms", "<m8[ms]", "tDm", 0},   {"minutes", "<m8[m]", "tDs", 0},
    {"v", "|V3", "w:3", 0},         {"pair", "<i2", "s", 2},       {"flags", "|b1", "b", 3},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void add(ndf_file f, const char *name, const char *dtype, int64_t rows, int inner, const void *data) {
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = inner ? 2 : 1, .dtype = dtype,
                         .shape = (int64_t[]){rows, inner}, .chunks = (int64_t[]){4, inner}};
  ndf_array a = 0;
  OK(ndf_file_add(f, name, &spec, &a, &err));
  OK(ndf_array_write(a, spec.ndim, NULL, NULL, NULL, dtype, data, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
}

static void make(const char *path) {
  ndf_file f;
  OK(ndf_file_create(path, "bcolz", NULL, NULL, &f, &err));
  uint8_t bools[ROWS], flags[ROWS * 3], v[ROWS * 3];
  int8_t i1[ROWS];
  uint16_t u2[ROWS], f2[ROWS];
  int64_t i8[ROWS], times[ROWS];
  uint8_t f4be[ROWS * 4];
  double f8[ROWS];
  char s[ROWS][4];
  uint32_t u[ROWS][2];
  int16_t pair[ROWS * 2];
  for (int i = 0; i < ROWS; i++) {
    bools[i] = i % 3 == 0, i1[i] = (int8_t)-i, u2[i] = (uint16_t)(65535 - i), i8[i] = INT64_MAX - i, f2[i] = (uint16_t)(0x3c00 + i);
    float value = (float)i / 2;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    for (int k = 0; k < 4; k++) f4be[i * 4 + k] = (uint8_t)(bits >> (24 - 8 * k));
    f8[i] = i / 8.0;
    memset(s[i], 0, 4), memset(s[i], 'a' + i, (size_t)(i % 5)); /* 0 to 4 letters */
    u[i][0] = i % 2 ? 0x20ac : 0, u[i][1] = i % 4 == 3 ? 0x1f600 : 0;
    times[i] = i == 2 || i == 7 ? NAT : i - 5;
    for (int k = 0; k < 3; k++) v[i * 3 + k] = (uint8_t)(i * 3 + k), flags[i * 3 + k] = (i + k) % 2;
    pair[i * 2] = (int16_t)i, pair[i * 2 + 1] = (int16_t)-i;
  }
  const void *const data[COLUMNS] = {bools, i1, u2, i8, f2, f4be, f8, s, u, times, times, times, times, times, times, v, pair, flags};
  for (int i = 0; i < COLUMNS; i++) add(f, columns[i].name, columns[i].dtype, ROWS, columns[i].inner, data[i]);
  OK(ndf_file_close(f, &err));
}

static ndf_file open_file(const char *path) {
  ndf_file f = 0;
  OK(ndf_file_open(path, NULL, &f, &err));
  return f;
}

static struct ArrowArrayStream stream_of(ndf_file f, const char *names, int64_t batch_rows) {
  struct ArrowArrayStream s;
  memset(&s, 0x55, sizeof s);
  OK(ndf_table_arrow(f, names, batch_rows, &s, &err));
  CHECK(s.release != NULL);
  return s;
}

static void check_schema(struct ArrowArrayStream *s) {
  struct ArrowSchema schema;
  for (int again = 0; again < 2; again++) {
    CHECK(s->get_schema(s, &schema) == 0);
    CHECK(strcmp(schema.format, "+s") == 0 && schema.n_children == COLUMNS && schema.dictionary == NULL);
    for (int i = 0; i < COLUMNS; i++) {
      const struct ArrowSchema *c = schema.children[i];
      CHECK(strcmp(c->name, columns[i].name) == 0 && (c->flags & ARROW_FLAG_NULLABLE));
      if (columns[i].inner) {
        char list[8];
        snprintf(list, sizeof list, "+w:%d", columns[i].inner);
        CHECK(strcmp(c->format, list) == 0 && c->n_children == 1);
        c = c->children[0];
      }
      if (strcmp(c->format, columns[i].format) != 0 || c->n_children != 0) {
        check_failures++;
        fprintf(stderr, "%s: %s instead of %s\n", columns[i].name, c->format, columns[i].format);
      }
    }
    schema.release(&schema);
    CHECK(schema.release == NULL);
  }
}

static int bit(const void *bits, int64_t i) { return ((const uint8_t *)bits)[i / 8] >> (i % 8) & 1; }

/* Rows first to first + rows of the table are right. */
static void check_batch(const struct ArrowArray *batch, int64_t first) {
  CHECK(batch->n_children == COLUMNS && batch->n_buffers == 1 && batch->buffers[0] == NULL && batch->offset == 0);
  for (int i = 0; i < COLUMNS; i++) {
    const struct ArrowArray *c = batch->children[i];
    CHECK(c->length == batch->length && c->offset == 0);
    if (columns[i].inner) {
      CHECK(c->n_children == 1 && c->children[0]->length == batch->length * columns[i].inner);
      c = c->children[0];
    }
    CHECK(c->n_buffers == (strcmp(columns[i].format, "z") == 0 || strcmp(columns[i].format, "u") == 0 ? 3 : 2));
    int64_t nulls = 0;
    for (int64_t b = 0; b < c->n_buffers; b++) CHECK((uintptr_t)c->buffers[b] % 64 == 0);
    if (c->buffers[0] != NULL)
      for (int64_t r = 0; r < c->length; r++) nulls += !bit(c->buffers[0], r);
    CHECK(c->null_count == nulls);
  }
#define COLUMN(i) (batch->children[i])
#define VALUES(i, type) ((const type *)COLUMN(i)->buffers[1])
  for (int64_t k = 0; k < batch->length; k++) {
    int64_t r = first + k;
    CHECK(bit(COLUMN(0)->buffers[1], k) == (r % 3 == 0));
    CHECK(VALUES(1, int8_t)[k] == -r && VALUES(2, uint16_t)[k] == 65535 - r && VALUES(3, int64_t)[k] == INT64_MAX - r);
    CHECK(VALUES(4, uint16_t)[k] == 0x3c00 + r && VALUES(5, float)[k] == (float)r / 2 && VALUES(6, double)[k] == (double)r / 8);
    const char *text = (const char *)COLUMN(7)->buffers[2] + VALUES(7, int32_t)[k];
    int32_t length = VALUES(7, int32_t)[k + 1] - VALUES(7, int32_t)[k];
    CHECK(length == r % 5 && (length == 0 || (text[0] == 'a' + r && text[length - 1] == 'a' + r)));
    text = (const char *)COLUMN(8)->buffers[2] + VALUES(8, int32_t)[k];
    length = VALUES(8, int32_t)[k + 1] - VALUES(8, int32_t)[k];
    const char *want = r % 4 == 3 ? "\xe2\x82\xac\xf0\x9f\x98\x80" : r % 2 ? "\xe2\x82\xac" : "";
    CHECK(length == (int32_t)strlen(want) && memcmp(text, want, (size_t)length) == 0);
    const int64_t scale[6] = {1, 3600, 1, 7, 1, 60}, t = r - 5;
    for (int i = 0; i < 6; i++) {
      const struct ArrowArray *c = COLUMN(9 + i);
      int valid = c->buffers[0] == NULL || bit(c->buffers[0], k);
      int64_t value = i == 2 || i == 3 ? VALUES(9 + i, int32_t)[k] : VALUES(9 + i, int64_t)[k];
      CHECK(valid == (r != 2 && r != 7));
      CHECK(!valid || value == t * scale[i]);
    }
    for (int b = 0; b < 3; b++) {
      CHECK(VALUES(15, uint8_t)[k * 3 + b] == (uint8_t)(r * 3 + b));
      CHECK(bit(COLUMN(17)->children[0]->buffers[1], k * 3 + b) == (r + b) % 2);
    }
    const int16_t *pair = COLUMN(16)->children[0]->buffers[1];
    CHECK(pair[k * 2] == r && pair[k * 2 + 1] == -r);
  }
}

/* Reads all batches, which have so many rows, the last one fewer. */
static void consume(struct ArrowArrayStream *s, int64_t batch_rows) {
  int64_t at = 0;
  for (;;) {
    struct ArrowArray batch;
    memset(&batch, 0x55, sizeof batch);
    CHECK(s->get_next(s, &batch) == 0 && s->get_last_error(s) == NULL);
    if (batch.release == NULL) break;
    CHECK(batch.length == (ROWS - at < batch_rows ? ROWS - at : batch_rows));
    check_batch(&batch, at);
    at += batch.length;
    batch.release(&batch);
    CHECK(batch.release == NULL);
  }
  CHECK(at == ROWS);
  struct ArrowArray batch; /* the end stays the end */
  CHECK(s->get_next(s, &batch) == 0 && batch.release == NULL);
}

static int64_t handle_count(void) {
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
  return open;
}

static void test_all(const char *path) {
  const int64_t batches[] = {0, 1, 3, 4, 8, 10, 1000};
  for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
    ndf_file f = open_file(path);
    struct ArrowArrayStream s = stream_of(f, NULL, batches[i]);
    CHECK(handle_count() == 2);
    if (i % 2) check_schema(&s);
    OK(ndf_file_close(f, &err)); /* the stream keeps the file open */
    consume(&s, batches[i] ? batches[i] : 1000);
    check_schema(&s);
    s.release(&s);
    CHECK(s.release == NULL && handle_count() == 0);
  }
}

/* A column that is moved out of a batch outlives it, and a batch outlives the stream. */
static void test_ownership(const char *path) {
  ndf_file f = open_file(path);
  struct ArrowArrayStream s = stream_of(f, "[\"pair\", \"i8\"]", 4);
  struct ArrowArray first, second, column;
  CHECK(s.get_next(&s, &first) == 0 && first.n_children == 2);
  CHECK(s.get_next(&s, &second) == 0);
  s.release(&s); /* before the end */
  OK(ndf_file_close(f, &err));
  CHECK(handle_count() == 0);
  column = *first.children[1];
  first.children[1]->release = NULL;
  first.release(&first);
  CHECK(((const int64_t *)column.buffers[1])[3] == INT64_MAX - 3);
  column.release(&column);
  CHECK(((const int16_t *)second.children[0]->children[0]->buffers[1])[2] == 5);
  second.release(&second);

  /* no columns, and one twice */
  f = open_file(path);
  s = stream_of(f, "[]", 0);
  struct ArrowSchema schema;
  CHECK(s.get_schema(&s, &schema) == 0 && schema.n_children == 0);
  schema.release(&schema);
  CHECK(s.get_next(&s, &first) == 0 && first.length == ROWS && first.n_children == 0);
  first.release(&first);
  s.release(&s);
  OK(ndf_file_close(f, &err));
}

static void *consume_elsewhere(void *stream) {
  consume(stream, 3);
  return NULL;
}

static void test_thread(const char *path) {
  ndf_file f = open_file(path);
  struct ArrowArrayStream s = stream_of(f, NULL, 3);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, consume_elsewhere, &s) == 0);
  pthread_join(thread, NULL);
  s.release(&s);
  OK(ndf_file_close(f, &err));
}

/* A child of fork() gets an error, not a hang, and can open the file itself. */
static void test_fork(const char *path) {
  ndf_file f = open_file(path);
  struct ArrowArrayStream s = stream_of(f, NULL, 0);
  for (int depth = 0; depth < 2; depth++) { /* the second time in a child that has a library of its own */
    fflush(NULL);
    pid_t child = fork();
    if (child != 0) {
      int status = -1;
      waitpid(child, &status, 0);
      CHECK(status == 0);
      if (depth > 0) _exit(check_failures);
      break;
    }
    alarm(20);
    struct ArrowArray batch;
    struct ArrowSchema schema;
    CHECK(s.get_next(&s, &batch) != 0 && batch.release == NULL && strstr(s.get_last_error(&s), "fork") != NULL);
    CHECK(s.get_schema(&s, &schema) != 0 && schema.release == NULL);
    s.release(&s);
    f = open_file(path);
    s = stream_of(f, NULL, 0);
    if (depth > 0) {
      consume(&s, 1000);
      s.release(&s);
      _exit(check_failures);
    }
  }
  consume(&s, 1000);
  s.release(&s);
  OK(ndf_file_close(f, &err));
}

/* A stream of the table, which fails at the batch that has the text in its reason, after n good ones. */
static void fails_after(const char *path, const char *names, int64_t batch_rows, int n, int want, const char *text) {
  ndf_file f = open_file(path);
  struct ArrowArrayStream s = stream_of(f, names, batch_rows);
  struct ArrowArray batch;
  for (int i = 0; i < n; i++) {
    CHECK(s.get_next(&s, &batch) == 0 && batch.release != NULL);
    batch.release(&batch);
  }
  for (int again = 0; again < 2; again++) {
    int code = s.get_next(&s, &batch);
    if (code != want || batch.release != NULL || s.get_last_error(&s) == NULL || strstr(s.get_last_error(&s), text) == NULL) {
      check_failures++;
      fprintf(stderr, "%s: error %d instead of %d: %s\n", path, code, want, s.get_last_error(&s));
    }
  }
  s.release(&s);
  OK(ndf_file_close(f, &err));
}

static void test_errors(const char *folder, const char *path) {
  struct ArrowArrayStream s;
  ndf_file f = open_file(path);
  memset(&s, 0x55, sizeof s);
  FAILS(NDF_ERR_NAME, "\"none\"", ndf_table_arrow(f, "[\"none\"]", 0, &s, &err));
  CHECK(s.release == NULL);
  FAILS(NDF_ERR_ARGUMENT, "columns_json", ndf_table_arrow(f, "{\"i8\": 1}", 0, &s, &err));
  FAILS(NDF_ERR_ARGUMENT, "columns_json", ndf_table_arrow(f, "null", 0, &s, &err));
  FAILS(NDF_ERR_ARGUMENT, "columns_json", ndf_table_arrow(f, "[1]", 0, &s, &err));
  FAILS(NDF_ERR_ARGUMENT, "columns_json", ndf_table_arrow(f, "[", 0, &s, &err));
  FAILS(NDF_ERR_ARGUMENT, "batch_rows is -1", ndf_table_arrow(f, NULL, -1, &s, &err));
  FAILS(NDF_ERR_ARGUMENT, "stream is NULL", ndf_table_arrow(f, NULL, 0, NULL, &err));
  FAILS(NDF_ERR_HANDLE, "0 where", ndf_table_arrow(0, NULL, 0, &s, &err));
  CHECK(handle_count() == 1);
  /* a stream is no file and no array, and its handle not the caller's: nobody can close it but its release */
  OK(ndf_file_close(f, &err));

  /* types that Arrow does not have: the column is named */
  const char *odd = in_folder(folder, "odd.bcolz");
  OK(ndf_file_create(odd, "bcolz", NULL, NULL, &f, &err));
  int64_t days[3] = {0, (int64_t)1 << 31, 1}, hours[3] = {0, 1, INT64_MAX / 2};
  double complex_numbers[6] = {0};
  uint32_t texts[3] = {'a', 0xd800, 'b'};
  add(f, "c", "<c16", 3, 0, complex_numbers);
  add(f, "years", "<M8[Y]", 3, 0, hours);
  add(f, "days", "<M8[D]", 3, 0, days);
  add(f, "hours", "<M8[h]", 3, 0, hours);
  add(f, "u", "<U1", 3, 0, texts);
  OK(ndf_file_close(f, &err));
  f = open_file(odd);
  FAILS(NDF_ERR_DTYPE, "array \"c\"", ndf_table_arrow(f, NULL, 0, &s, &err));
  FAILS(NDF_ERR_DTYPE, "array \"years\"", ndf_table_arrow(f, "[\"days\", \"years\"]", 0, &s, &err));
  OK(ndf_file_close(f, &err));
  /* values that do not fit: the row is named */
  fails_after(odd, "[\"hours\", \"days\"]", 1, 1, EINVAL, "\"days\": row 1");
  fails_after(odd, "[\"hours\"]", 1, 2, EINVAL, "\"hours\": row 2");
  fails_after(odd, "[\"u\"]", 3, 0, EINVAL, "\"u\": row 1");
  CHECK(handle_count() == 0);
}

/* A chunk that cannot be read is an I/O error that names its file; the batches before it come. */
static void test_damage(const char *folder) {
  const char *path = in_folder(folder, "damaged.bcolz");
  int64_t values[12] = {0};
  ndf_file f;
  OK(ndf_file_create(path, "bcolz", NULL, NULL, &f, &err));
  add(f, "a", "<i8", 12, 0, values);
  add(f, "b", "<i8", 12, 0, values);
  OK(ndf_file_close(f, &err));
  FILE *chunk = fopen(in_folder(path, "b/data/__1.blp"), "wb");
  CHECK(chunk != NULL && fputs("nonsense", chunk) >= 0 && fclose(chunk) == 0);
  fails_after(path, NULL, 4, 1, EIO, "b/data/__1.blp");
}

/* Of a file that is changed the stream sees what was appended, until the file is closed. */
static void test_update(const char *path) {
  const ndf_open_options update = {.struct_size = sizeof update, .mode = NDF_MODE_UPDATE};
  ndf_file f = 0;
  OK(ndf_file_open(path, &update, &f, &err));
  struct ArrowArrayStream s = stream_of(f, "[\"i8\"]", 4);
  struct ArrowArray batch;
  CHECK(s.get_next(&s, &batch) == 0 && batch.length == 4);
  batch.release(&batch);
  OK(ndf_file_close(f, &err));
  CHECK(s.get_next(&s, &batch) == EINVAL && batch.release == NULL && strstr(s.get_last_error(&s), "closed") != NULL);
  s.release(&s);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const char *path = in_folder(argv[1], "table.bcolz");
  make(path);
  test_all(path);
  test_ownership(path);
  test_thread(path);
  test_fork(path);
  test_errors(argv[1], path);
  test_damage(argv[1]);
  test_update(path);
  CHECK(handle_count() == 0);
  return check_result("arrow");
}
