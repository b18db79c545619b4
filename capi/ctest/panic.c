/* A panic inside the library is a status, and the library goes on. Only with a library built with -tags ndfpanic,
 * which has a format that panics. Usage: panic FOLDER */
#include "check.h"

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  ndf_error err;
  ndf_file f = 7;
  ndf_write_options options = {.struct_size = sizeof options};
  for (int i = 0; i < 3; i++) {
    FAILS(NDF_ERR_INTERNAL, "panics", ndf_file_create(in_folder(argv[1], "x.panic"), "panic", NULL, &options, &f, &err));
    FAILS(NDF_ERR_INTERNAL, "panics", ndf_save(in_folder(argv[1], "x.panic"), NULL, NULL, 0, NULL, NULL, &err));
  }
  const char *path = in_folder(argv[1], "calm.ds");
  OK(ndf_save(path, NULL, NULL, 0, NULL, NULL, &err));
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_close(f, &err));
  return check_result("panic");
}
