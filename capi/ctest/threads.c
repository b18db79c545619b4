/* Many threads on one handle, on files of their own, and on handles that come and go. Usage: threads FOLDER */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 16, ROUNDS = 300, ELEMENTS = 1000 };

static const char *folder;
static ndf_file shared_file;
static ndf_array shared_array;
static _Atomic uint64_t passed_on; /* a handle that any thread may close */

/* Status of a call that may lose a race against closing: success, or a refused handle. */
static void expect(int32_t status, int32_t other, const ndf_error *err, int line) {
  if (status == NDF_OK || status == other) return;
  fprintf(stderr, "threads.c:%d: %s: %s\n", line, ndf_status_name(status), err->message);
  abort();
}
#define MUST(call) expect((call), NDF_OK, &err, __LINE__)
#define MAY(call) expect((call), NDF_ERR_HANDLE, &err, __LINE__)

static void save(const char *path, int seed) {
  ndf_error err;
  double x[ELEMENTS];
  int64_t shape[1] = {ELEMENTS};
  for (int i = 0; i < ELEMENTS; i++) x[i] = seed + i;
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .ndim = 1, .shape = shape, .data = x};
  MUST(ndf_save(path, NULL, &item, 1, NULL, NULL, &err));
}

static void *work(void *argument) {
  int id = *(int *)argument;
  ndf_error err;
  char name[32];
  sprintf(name, "thread%d.ds", id);
  const char *path = in_folder(folder, name);
  for (int i = 0; i < ROUNDS; i++) {
    double x[ELEMENTS], y[3];
    ndf_file f;
    ndf_array a;

    /* the array that all share */
    int64_t start = (id * 37 + i) % (ELEMENTS - 3), count = 3;
    MUST(ndf_array_read(shared_array, 1, &start, &count, NULL, NULL, y, NULL, NULL, &err));
    if (y[0] != (double)start || y[2] != (double)start + 2) abort();

    /* a file of our own */
    if (i % 10 == 0) save(path, id + i);
    MUST(ndf_file_open(path, NULL, &f, &err));
    MUST(ndf_file_array(f, "x", &a, &err));
    MUST(ndf_file_close(f, &err));
    MUST(ndf_array_read(a, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
    if (x[ELEMENTS - 1] - x[0] != ELEMENTS - 1) abort();
    MUST(ndf_array_close(a, &err));

    /* arrays of the shared file, and a handle that others close while we use it */
    MUST(ndf_file_array_at(shared_file, 0, &a, &err));
    uint64_t old = atomic_exchange(&passed_on, a);
    if (old != 0) MAY(ndf_array_close(old, &err));
    MAY(ndf_array_read(a, 1, &start, &count, NULL, NULL, y, NULL, NULL, &err));
    if (i % 3 == 0) MAY(ndf_array_close(a, &err));

    /* and in one call */
    ndf_load_info info = {.struct_size = sizeof info};
    int64_t need, n = 1;
    double buf[ELEMENTS + 64];
    MUST(ndf_load(path, "x", buf, ROOM(need, sizeof buf), &info, &n, &err));
    if (n != 1 || info.count != ELEMENTS || buf[info.data_offset / 8] != x[0]) abort();
  }
  return NULL;
}

/* Closing waits for calls that are running: the data of a read is whole, or the handle is refused. */
static ndf_file race_file;
static ndf_array race_array;

static void *race(void *argument) {
  ndf_error err;
  double x[ELEMENTS];
  (void)argument;
  for (;;) {
    memset(x, 0xff, sizeof x);
    int32_t status = ndf_array_read(race_array, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err);
    if (status != NDF_OK) {
      MAY(status);
      return NULL;
    }
    if (x[0] != 0 || x[ELEMENTS - 1] != ELEMENTS - 1) abort();
  }
}

/* Writers of elements of the same chunks lose nothing, readers see old elements or new ones, and the shape changes
 * between calls. */
static void *write_shared(void *argument) {
  int id = *(int *)argument;
  ndf_error err;
  for (int i = id; i < ELEMENTS; i += THREADS) {
    int64_t at = i, count = 1, back = -1, twice[2] = {0, 0};
    MUST(ndf_array_write(shared_array, 1, &at, &count, NULL, NULL, &at, NULL, NULL, &err));
    MUST(ndf_array_read(shared_array, 1, &at, &count, NULL, NULL, &back, NULL, NULL, &err));
    if (back != i) abort();
    MUST(ndf_array_take(shared_array, (int64_t[]){i, i}, 2, NULL, twice, NULL, NULL, &err));
    if (twice[0] != i || twice[1] != i) abort();
    if (i % 50 == 0) {
      int64_t length = ELEMENTS + i;
      MUST(ndf_array_resize(shared_array, 1, &length, &err));
      MUST(ndf_array_append(shared_array, 0, 1, &count, NULL, &at, NULL, &err));
      MUST(ndf_file_flush(shared_file, 0, &err));
    }
  }
  return NULL;
}

static void test_chunks(const char *path) {
  ndf_error err;
  pthread_t threads[THREADS];
  int ids[THREADS];
  int64_t shape[1] = {ELEMENTS}, chunks[1] = {100}, got[ELEMENTS];
  const ndf_open_options update = {.struct_size = sizeof update, .mode = NDF_MODE_UPDATE};
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<i8", .shape = shape, .chunks = chunks};
  MUST(ndf_file_create(path, "bcolz", NULL, NULL, &shared_file, &err));
  MUST(ndf_file_add(shared_file, "", &spec, &shared_array, &err));
  MUST(ndf_array_close(shared_array, &err));
  MUST(ndf_file_close(shared_file, &err));
  MUST(ndf_file_open(path, &update, &shared_file, &err));
  MUST(ndf_file_array(shared_file, "", &shared_array, &err));
  for (int i = 0; i < THREADS; i++) {
    ids[i] = i;
    if (pthread_create(&threads[i], NULL, write_shared, &ids[i]) != 0) abort();
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  MUST(ndf_array_close(shared_array, &err));
  MUST(ndf_file_close(shared_file, &err));
  MUST(ndf_file_open(path, NULL, &shared_file, &err));
  MUST(ndf_file_array(shared_file, "", &shared_array, &err));
  MUST(ndf_array_read(shared_array, 1, (int64_t[]){0}, shape, NULL, NULL, got, NULL, NULL, &err));
  for (int i = 0; i < ELEMENTS; i++) CHECK(got[i] == i);
  MUST(ndf_array_close(shared_array, &err));
  MUST(ndf_file_close(shared_file, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  ndf_error err;
  const char *path = in_folder(folder, "shared.ds");
  save(path, 0);
  MUST(ndf_file_open(path, NULL, &shared_file, &err));
  MUST(ndf_file_array(shared_file, "x", &shared_array, &err));
  pthread_t threads[THREADS];
  int ids[THREADS];
  for (int i = 0; i < THREADS; i++) {
    ids[i] = i;
    if (pthread_create(&threads[i], NULL, work, &ids[i]) != 0) return 2;
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  uint64_t left = atomic_exchange(&passed_on, 0);
  MAY(ndf_array_close(left, &err));

  for (int round = 0; round < 20; round++) {
    MUST(ndf_file_open(path, NULL, &race_file, &err));
    MUST(ndf_file_array(race_file, "x", &race_array, &err));
    for (int i = 0; i < 4; i++)
      if (pthread_create(&threads[i], NULL, race, NULL) != 0) return 2;
    if (round % 2) MUST(ndf_file_abort(race_file, &err));
    MUST(ndf_array_close(race_array, &err));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    if (round % 2 == 0) MUST(ndf_file_close(race_file, &err));
  }

  MUST(ndf_array_close(shared_array, &err));
  MUST(ndf_file_close(shared_file, &err));
  test_chunks(in_folder(folder, "shared.bcolz"));
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
  CHECK(open == 0);
  return check_result("threads");
}
