/* Arrays mapped into memory. Usage: map FOLDER */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { ELEMENTS = 100000 };

static ndf_error err;
static double x[ELEMENTS];

static ndf_array open_array(const char *path, const char *name, ndf_file *f) {
  ndf_array a = 0;
  OK(ndf_file_open(path, NULL, f, &err));
  OK(ndf_file_array(*f, name, &a, &err));
  return a;
}

static void save(const char *path, ndf_item *item) {
  int64_t shape[1] = {ELEMENTS};
  item->struct_size = sizeof *item;
  item->ndim = 1;
  item->shape = shape;
  item->data = x;
  OK(ndf_save(path, NULL, item, 1, NULL, NULL, &err));
}

static void refuses(const char *path, const char *name, const char *why) {
  ndf_file f = 0;
  ndf_array a = open_array(path, name, &f);
  const void *data = &f;
  int64_t len = 7;
  ndf_map map = 7;
  FAILS(NDF_ERR_NOT_SUPPORTED, why, ndf_array_map(a, &data, &len, &map, &err));
  CHECK(strstr(err.message, path) != NULL && data == NULL && len == 0 && map == 0);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (int i = 0; i < ELEMENTS; i++) x[i] = i;
  const char *path = in_folder(argv[1], "x.ra");
  save(path, &(ndf_item){.dtype = "<f8"});
  ndf_file f = 0;
  ndf_array a = open_array(path, "", &f);
  const void *data = NULL;
  int64_t len = 0, open = 0;
  ndf_map map = 0, second = 0;
  OK(ndf_array_map(a, &data, &len, &second, &err));
  OK(ndf_map_close(second, &err));
  OK(ndf_array_map(a, &data, &len, &map, &err));
  CHECK(map != 0 && map != second && len == sizeof x && (uintptr_t)data % 8 == 0);

  /* it outlives both, and is no handle of another kind */
  FAILS(NDF_ERR_HANDLE, "a map handle", ndf_array_close(map, &err));
  FAILS(NDF_ERR_HANDLE, "an array handle", ndf_map_close(a, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
  CHECK(memcmp(data, x, sizeof x) == 0);

  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    CHECK(memcmp(data, x, sizeof x) == 0);
    FAILS(NDF_ERR_FORKED, "", ndf_map_close(map, &err));
    _exit(check_failures != 0);
  }
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(ndf_map_close(map, &err));
  FAILS(NDF_ERR_HANDLE, "closed", ndf_map_close(map, &err));

  const char *swapped = in_folder(argv[1], "big.ds"), *masked = in_folder(argv[1], "masked.ds");
  static uint8_t mask[ELEMENTS];
  mask[5] = 1;
  save(swapped, &(ndf_item){.name = "x", .dtype = ">f8"});
  refuses(swapped, "x", "byte order");
  save(masked, &(ndf_item){.name = "x", .dtype = "<f8", .mask = mask});
  refuses(masked, "x", "missing");
  OK(ndf_handle_count(&open, &err));
  CHECK(open == 0);
  return check_result("map");
}
