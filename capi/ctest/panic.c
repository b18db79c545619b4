/* A panic inside the library is a status, and the library goes on; a codec is one file. Only with a library built with
 * -tags ndfpanic, which has a format that panics and a toy codec. Usage: panic FOLDER */
#include "check.h"

/* The toy codec of this library works in a format like any other: what is stored are the elements' bytes, all bits
 * flipped. */
static void test_codec(const char *folder, const char *format) {
  ndf_error err;
  ndf_file f;
  ndf_array a;
  const char *path = in_folder(folder, format);
  uint8_t x[4] = {0, 1, 2, 255}, y[4], raw[16];
  char text[200] = "";
  int64_t len;
  OK(ndf_file_create(path, format, NULL, NULL, &f, &err));
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "|u1", .shape = &(int64_t){4}, .codecs_json = "[\"invert\"]"};
  OK(ndf_file_add(f, "", &spec, &a, &err));
  OK(ndf_array_write(a, 1, NULL, NULL, NULL, "|u1", x, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "", &a, &err));
  OK(ndf_array_read(a, 1, NULL, NULL, NULL, "|u1", y, NULL, NULL, &err));
  CHECK(memcmp(x, y, sizeof x) == 0);
  OK(ndf_array_read_chunk(a, 1, &(int64_t){0}, raw, ROOM(len, sizeof raw), NULL, &err));
  CHECK(len == 4 && raw[0] == 255 && raw[1] == 254 && raw[3] == 0);
  OK(ndf_array_get_codecs(a, text, ROOM(len, sizeof text), &err));
  CHECK(strstr(text, "\"invert\"") != NULL);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
}

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
  test_codec(argv[1], "zarr2");
  test_codec(argv[1], "zarr3");
  return check_result("panic");
}
