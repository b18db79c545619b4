/* A thousand threads call in, in waves, and end. Usage: pthreads1000 FOLDER */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { WAVES = 10, WAVE = 100 };

static const char *path;
static atomic_int right;

static void *call(void *argument) {
  ndf_error err;
  double x[16];
  ndf_load_info info = {.struct_size = sizeof info};
  int64_t need, n = 1;
  ndf_file f;
  (void)argument;
  if (ndf_load(path, "x", x, ROOM(need, sizeof x), &info, &n, &err) == NDF_OK && x[info.data_offset / 8] == 5 &&
      ndf_file_open(path, NULL, &f, &err) == NDF_OK && ndf_file_close(f, &err) == NDF_OK)
    right++;
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  ndf_error err;
  double x = 5;
  path = in_folder(argv[1], "x.ds");
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .data = &x};
  OK(ndf_save(path, NULL, &item, 1, NULL, NULL, &err));
  for (int wave = 0; wave < WAVES; wave++) {
    pthread_t threads[WAVE];
    for (int i = 0; i < WAVE; i++)
      if (pthread_create(&threads[i], NULL, call, NULL) != 0) return 2;
    for (int i = 0; i < WAVE; i++) pthread_join(threads[i], NULL);
  }
  CHECK(right == WAVES * WAVE);
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
  CHECK(open == 0);
  return check_result("pthreads1000");
}
