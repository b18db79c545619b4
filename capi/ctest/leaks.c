/* Nothing of the library is a leak: everything that a program can ask for, once, under a checker of leaks that sees only
 * the memory of C. Usage: leaks FOLDER */
#include "check.h"

static ndf_error err;

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (int32_t status = 1; status > -40; status--) {
    CHECK(*ndf_status_name(status) != 0 && *ndf_status_text(status) != 0);
    CHECK(ndf_status_name(status) == ndf_status_name(status));
  }
  CHECK(strcmp(ndf_version(), NDF_VERSION) == 0);
  CHECK(strncmp(ndf_build(), "ndfile ", 7) == 0 && ndf_build() == ndf_build());

  const char *path = in_folder(argv[1], "x.ds");
  double x[3] = {1, 2, 3}, back[64];
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .ndim = 1, .shape = &(int64_t){3}, .data = x};
  OK(ndf_save(path, NULL, &item, 1, "{\"a\": 1}", NULL, &err));
  ndf_load_info info = {.struct_size = sizeof info};
  int64_t len, n = 1;
  OK(ndf_load(path, NULL, back, ROOM(len, sizeof back), &info, &n, &err));
  ndf_file f = 0;
  ndf_array a = 0;
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "x", &a, &err));
  OK(ndf_array_read(a, 1, NULL, NULL, NULL, "<f8", back, NULL, NULL, &err));
  struct ArrowArrayStream stream;
  struct ArrowArray batch;
  OK(ndf_array_arrow(a, 0, &stream, &err));
  CHECK(stream.get_next(&stream, &batch) == 0 && batch.length == 3);
  batch.release(&batch);
  stream.release(&stream);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
  CHECK(ndf_status_name(ndf_file_open("/no/such", NULL, &f, &err)) != NULL);
  free((void *)path);
  return check_result("leaks");
}
