/* Many files in one call: order, errors, room, progress, cancelling, settings. Usage: many FOLDER */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { AGAIN = 100000, FILES = 500, LARGE = 100000 }; /* file 7 has LARGE elements, the others their number modulo 10 */

static ndf_error err;
static const char *paths[FILES];
static ndf_load_info *infos;
static ndf_load_result results[FILES];
static double large[LARGE];

static int64_t elements(int i) { return i == 7 ? LARGE : i % 10; }

static pthread_t caller;
static int64_t calls, last_done, cancel_at, total_expected;
static int32_t progress(void *user, int64_t done, int64_t total) {
  CHECK(pthread_equal(pthread_self(), caller) && user == &calls);
  CHECK(total == total_expected && done >= last_done && done <= total);
  CHECK(calls > 0 || done == 0);
  last_done = done;
  return ++calls == cancel_at;
}

static ndf_many_options with_progress(int64_t cancel) {
  calls = last_done = 0;
  total_expected = FILES;
  cancel_at = cancel;
  return (ndf_many_options){.struct_size = sizeof(ndf_many_options), .progress = progress, .user = &calls};
}

static void save_all(const ndf_many_options *many) {
  static ndf_save_file files[FILES];
  static ndf_item items[FILES];
  static int64_t shapes[FILES][1];
  static int32_t statuses[FILES];
  for (int i = 0; i < FILES; i++) {
    shapes[i][0] = elements(i);
    items[i] = (ndf_item){.struct_size = sizeof *items, .name = "x", .dtype = "<f8", .ndim = 1, .shape = shapes[i], .data = large + i};
    files[i] = (ndf_save_file){.struct_size = sizeof *files, .path = paths[i], .items = &items[i], .nitems = 1, .attrs_json = "{\"a\": 1}"};
    statuses[i] = 1;
  }
  items[7].data = large;
  OK(ndf_save_many(files, FILES, NULL, statuses, NULL, many, &err));
  for (int i = 0; i < FILES; i++) CHECK(statuses[i] == NDF_OK);

  static ndf_error errors[3];
  files[1].path = "/no/such/folder/x.ds";
  files[2].format = "nonsense";
  memset(errors, 0x55, sizeof errors);
  FAILS(NDF_ERR_NOT_FOUND, "/no/such", ndf_save_many(files, 3, NULL, statuses, errors, many, &err));
  CHECK(statuses[0] == NDF_OK && statuses[1] == NDF_ERR_NOT_FOUND && statuses[2] == NDF_ERR_FORMAT);
  CHECK(errors[0].code == 0x55555555 && strstr(errors[1].message, "/no/such") && strstr(errors[2].message, "nonsense"));
  OK(ndf_save_many(NULL, 0, NULL, NULL, NULL, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "n is -1", ndf_save_many(files, -1, NULL, NULL, NULL, NULL, &err));
}

/* The result of path i is its array. */
static void check_one(const char *buf, int64_t used, int i) {
  CHECK(results[i].status == NDF_OK && results[i].ninfos == 1);
  const ndf_load_info *info = &infos[results[i].first_info];
  CHECK(info->ndim == 1 && info->shape[0] == elements(i) && info->count == elements(i) && strcmp(info->dtype, "<f8") == 0);
  CHECK(strcmp(buf + info->name_offset, "x") == 0 && info->data_offset % 64 == 0 && info->data_offset + info->data_len <= used);
  CHECK(memcmp(buf + info->data_offset, i == 7 ? large : large + i, (size_t)info->data_len) == 0);
}

static void load_all(const ndf_many_options *many) {
  int64_t need = 0, n = 0, more;
  results[0].struct_size = sizeof *results;
  FAILS(NDF_ERR_BUFFER, "", ndf_load_many(paths, FILES, NULL, NULL, ROOM(need, 0), NULL, &n, results, NULL, many, &err));
  CHECK(n == FILES && need > LARGE * 8 && results[5].status == NDF_ERR_BUFFER);
  char *buf = aligned_alloc(64, (size_t)(need + 63) / 64 * 64);
  infos = calloc((size_t)n, sizeof *infos);
  if (buf == NULL || infos == NULL) abort();
  infos[0].struct_size = sizeof *infos;
  OK(ndf_load_many(paths, FILES, NULL, buf, ROOM(more, need), infos, &n, results, NULL, many, &err));
  CHECK(more == need && n == FILES);
  for (int i = 0; i < FILES; i++) check_one(buf, need, i);

  /* errors have their path and their reason, and the others are there */
  const char *good[2] = {paths[3], paths[4]};
  static ndf_error errors[FILES];
  paths[3] = "/no/such.ds", paths[4] = NULL;
  FAILS(NDF_ERR_NOT_FOUND, "/no/such.ds", ndf_load_many(paths, FILES, "x", buf, ROOM(more, need), infos, &n, results, errors, many, &err));
  CHECK(results[3].status == NDF_ERR_NOT_FOUND && strstr(errors[3].message, "/no/such.ds"));
  CHECK(results[4].status == NDF_ERR_ARGUMENT && strstr(errors[4].message, "path 4 is NULL"));
  CHECK(results[3].ninfos == 0 && errors[5].code == 0 && n == FILES - 2);
  for (int i = 5; i < FILES; i++) check_one(buf, need, i);
  paths[3] = good[0], paths[4] = good[1];

  /* with room for a part, that part is there */
  n = FILES;
  FAILS(NDF_ERR_BUFFER, "", ndf_load_many(paths, FILES, NULL, buf, ROOM(more, 10000), infos, &n, results, NULL, many, &err));
  CHECK(more == need && n == FILES);
  int there = 0;
  for (int i = 0; i < FILES; i++) {
    if (results[i].status == NDF_ERR_BUFFER) continue;
    check_one(buf, 10000, i);
    there++;
  }
  CHECK(there > 10 && there < FILES);

  FAILS(NDF_ERR_ARGUMENT, "results", ndf_load_many(paths, FILES, NULL, buf, ROOM(more, need), infos, &n, NULL, NULL, many, &err));
  CHECK(more == -1);
  FAILS(NDF_ERR_ARGUMENT, "len is -1", ndf_load_many(paths, FILES, NULL, buf, ROOM(more, -1), infos, &n, results, NULL, many, &err));
  n = -1;
  FAILS(NDF_ERR_ARGUMENT, "ninfos", ndf_load_many(paths, FILES, NULL, buf, ROOM(more, need), infos, &n, results, NULL, many, &err));
  n = 0;
  OK(ndf_load_many(NULL, 0, NULL, NULL, ROOM(more, 0), NULL, &n, NULL, NULL, NULL, &err));
  CHECK(more == 0 && n == 0);
  free(buf);
  free(infos);
}

/* Nothing is loaded after the start has said no. Later, what has no NDF_ERR_CANCELED is there. */
static void cancel(void) {
  int64_t need, n = 0;
  ndf_many_options many = with_progress(1);
  FAILS(NDF_ERR_CANCELED, "", ndf_load_many(paths, FILES, NULL, NULL, ROOM(need, 0), NULL, &n, results, NULL, &many, &err));
  CHECK(calls == 1 && need == 0 && n == 0 && results[0].status == NDF_ERR_CANCELED && results[FILES - 1].status == NDF_ERR_CANCELED);

  many = with_progress(0);
  n = 0;
  FAILS(NDF_ERR_BUFFER, "", ndf_load_many(paths, FILES, NULL, NULL, ROOM(need, 0), NULL, &n, results, NULL, &many, &err));
  CHECK(calls >= 2 && last_done == FILES);

  /* In the middle: one file, written again and again. */
  static ndf_save_file again[AGAIN];
  static int32_t statuses[AGAIN];
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .data = large};
  for (int i = 0; i < AGAIN; i++) again[i] = (ndf_save_file){.struct_size = sizeof *again, .path = paths[0], .items = &item, .nitems = 1};
  ndf_write_options direct = {.struct_size = sizeof direct, .commit = NDF_COMMIT_DIRECT};
  for (int threads = 1; threads <= 2; threads++) {
    many = with_progress(3);
    many.threads = threads;
    total_expected = AGAIN;
    FAILS(NDF_ERR_CANCELED, "", ndf_save_many(again, AGAIN, &direct, statuses, NULL, &many, &err));
    int64_t done = 0;
    for (int i = 0; i < AGAIN; i++) {
      CHECK(statuses[i] == NDF_OK || statuses[i] == NDF_ERR_CANCELED);
      done += statuses[i] == NDF_OK;
    }
    CHECK(calls == 3 && done >= last_done && done < AGAIN && statuses[0] == NDF_OK && statuses[AGAIN - 1] == NDF_ERR_CANCELED);
  }
}

/* Settings count in children too. */
static void settings(void) {
  int64_t need, n = 1;
  char buf[1000];
  ndf_load_info info = {.struct_size = sizeof info};
  ndf_file f;
  FAILS(NDF_ERR_ARGUMENT, "threads is -1", ndf_set_threads(-1, &err));
  FAILS(NDF_ERR_ARGUMENT, "max_header is -1", ndf_set_limits(-1, 0, &err));
  FAILS(NDF_ERR_ARGUMENT, "max_chunk is -1", ndf_set_limits(0, -1, &err));
  OK(ndf_set_limits(5, 0, &err));
  for (int child = 0; child < 2; child++) {
    fflush(NULL);
    if (child && fork() != 0) break;
    FAILS(NDF_ERR_LIMIT, paths[0], ndf_load(paths[0], NULL, buf, ROOM(need, sizeof buf), &info, &n, &err));
    FAILS(NDF_ERR_LIMIT, paths[0], ndf_file_open(paths[0], NULL, &f, &err));
    ndf_open_options own = {.struct_size = sizeof own, .max_header = 10000};
    OK(ndf_file_open(paths[0], &own, &f, &err));
    OK(ndf_file_close(f, &err));
    if (child) _exit(check_failures != 0);
  }
  int status = -1;
  CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(ndf_set_limits(0, 0, &err));
  OK(ndf_load(paths[0], NULL, buf, ROOM(need, sizeof buf), &info, &n, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  caller = pthread_self();
  for (int i = 0; i < LARGE; i++) large[i] = i;
  for (int i = 0; i < FILES; i++) {
    char name[32];
    sprintf(name, "%d.ds", i);
    paths[i] = in_folder(argv[1], name);
  }
  for (int threads = 0; threads < 4; threads++) {
    OK(ndf_set_threads(threads, &err));
    save_all(NULL);
    load_all(NULL);
  }
  cancel();
  settings();
  return check_result("many");
}
