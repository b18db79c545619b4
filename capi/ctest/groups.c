/* Groups: made, listed, renamed, removed, with attributes. Usage: groups FOLDER */
#include "check.h"

static ndf_error err;

static int64_t groups(ndf_file f) {
  ndf_file_info info = {.struct_size = sizeof info};
  OK(ndf_file_get_info(f, &info, &err));
  return info.ngroups;
}

static void add(ndf_file f, const char *name, int32_t value) {
  ndf_array a = 0;
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<i4", .shape = (int64_t[]){1}};
  OK(ndf_file_add(f, name, &spec, &a, &err));
  OK(ndf_array_write(a, 1, NULL, NULL, NULL, NULL, &value, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
}

static void check_value(ndf_file f, const char *name, int32_t want, int line) {
  ndf_array a = 0;
  int32_t got = 0;
  OK(ndf_file_array(f, name, &a, &err));
  OK(ndf_array_read(a, 1, NULL, NULL, NULL, NULL, &got, NULL, NULL, &err));
  if (got != want) {
    check_failures++;
    fprintf(stderr, "%s:%d: %s is %d\n", __FILE__, line, name, (int)got);
  }
  OK(ndf_array_close(a, &err));
}
#define VALUE(f, name, want) check_value(f, name, want, __LINE__)

static void check_text(int32_t status, const char *got, const int64_t *length, const char *want, int line) {
  const int64_t len = *length;
  if (status != NDF_OK || len != (int64_t)strlen(want) || memcmp(got, want, strlen(want)) != 0) {
    check_failures++;
    fprintf(stderr, "%s:%d: status %d, %.*s, expected %s\n", __FILE__, line, (int)status, (int)len, got, want);
  }
}

#define TEXT(call, want) check_text(call, buf, &len, want, __LINE__)

static void test_tree(const char *path, const char *format) {
  char buf[100];
  int64_t len;
  ndf_file f = 0;
  OK(ndf_file_create(path, format, NULL, NULL, &f, &err));
  OK(ndf_file_add_group(f, "air/high", "{\"k\": 1}", &err));
  add(f, "ocean/salt", 35);
  CHECK(groups(f) == 3);
  OK(ndf_file_consolidate(f, 1, &err));
  OK(ndf_file_close(f, &err));

  ndf_open_options update = {.struct_size = sizeof update, .mode = NDF_MODE_UPDATE};
  OK(ndf_file_open(path, &update, &f, &err));
  CHECK(groups(f) == 3);
  len = sizeof buf;
  TEXT(ndf_file_get_group_name(f, 1, buf, &len, &err), "air/high");
  CHECK(ndf_file_get_group_name(f, 3, buf, &len, &err) == NDF_ERR_BOUNDS);
  len = sizeof buf;
  TEXT(ndf_group_get_attrs(f, "air/high", buf, &len, &err), "{\"k\": 1}");
  CHECK(ndf_group_get_attrs(f, "none", buf, &len, &err) == NDF_ERR_NAME);
  OK(ndf_group_set_attrs(f, "ocean", "{\"wet\": true}", &err));
  CHECK(ndf_file_add_group(f, "ocean", NULL, &err) == NDF_ERR_NAME_EXISTS);
  CHECK(ndf_file_add_group(f, "a//b", NULL, &err) == NDF_ERR_ARGUMENT);
  OK(ndf_file_rename(f, "ocean", "sea/deep", &err));
  CHECK(ndf_file_rename(f, "ocean", "other", &err) == NDF_ERR_NAME);
  VALUE(f, "sea/deep/salt", 35);
  OK(ndf_file_remove(f, "air", &err));
  CHECK(groups(f) == 2);
  OK(ndf_file_close(f, &err));

  OK(ndf_file_open(path, NULL, &f, &err));
  VALUE(f, "sea/deep/salt", 35);
  len = sizeof buf;
  TEXT(ndf_group_get_attrs(f, "sea/deep", buf, &len, &err), "{\"wet\": true}");
  CHECK(ndf_file_add_group(f, "x", NULL, &err) == NDF_ERR_READ_ONLY);
  OK(ndf_file_close(f, &err));
}

static void test_none(const char *path) {
  ndf_file f = 0;
  OK(ndf_file_create(path, "ds", NULL, NULL, &f, &err));
  CHECK(groups(f) == 0);
  CHECK(ndf_file_add_group(f, "a", NULL, &err) == NDF_ERR_NOT_SUPPORTED);
  OK(ndf_file_abort(f, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  test_tree(in_folder(argv[1], "two.zarr"), "zarr2");
  test_tree(in_folder(argv[1], "three.zarr"), "zarr3");
  test_none(in_folder(argv[1], "none.ds"));
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
  CHECK(open == 0);
  return check_result("groups");
}
