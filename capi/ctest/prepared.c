/* ndf_load_prepared and ndf_save_prepared: arguments that are used again, and layouts. Usage: prepared FOLDER */
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static ndf_error err;
static const char *folder;
static double x[3];
static int32_t y = 7;
static const int64_t shape[1] = {3};
static char buf[1 << 10];
static ndf_load_info infos[2];
static ndf_load_args load;

/* Saves x, which begins with value, and y, under these names; without a name no y. */
static const char *file_of(const char *file, const char *name_x, const char *name_y, double value) {
  const char *path = in_folder(folder, file);
  const ndf_write_options direct = {.struct_size = sizeof direct, .commit = NDF_COMMIT_DIRECT};
  const ndf_item items[2] = {
      {.struct_size = sizeof *items, .name = name_x, .dtype = "<f8", .ndim = 1, .shape = shape, .data = x},
      {.struct_size = sizeof *items, .name = name_y, .dtype = "<i4", .data = &y}};
  const ndf_save_args args = {.struct_size = sizeof args, .items = items, .nitems = name_y == NULL ? 1 : 2,
                              .attrs_json = "{\"a\": 1}", .options = &direct};
  x[0] = value;
  OK(ndf_save_prepared(path, &args, &err));
  return path;
}

/* Whether the first array of what was loaded is the one that file_of has saved. */
static int holds(const char *name, double value) {
  double first;
  memcpy(&first, buf + infos[0].data_offset, sizeof first);
  return infos[0].count == 3 && first == value && strcmp(buf + infos[0].name_offset, name) == 0;
}

static void test_again(void) {
  const char *one = file_of("one.ds", "x", NULL, 1.5), *two = file_of("two.ds", "x", NULL, 2.5);
  OK(ndf_load_prepared(one, &load, &err));
  CHECK(load.ninfos == 1 && load.need > 0 && load.need <= load.cap && load.max_infos == 2 && holds("x", 1.5));
  OK(ndf_load_prepared(two, &load, &err));
  CHECK(load.ninfos == 1 && holds("x", 2.5));

  /* the same as ndf_load gives */
  static char buf2[sizeof buf];
  ndf_load_info infos2[2] = {{.struct_size = sizeof *infos2}};
  int64_t need, n = 2;
  OK(ndf_load(two, NULL, buf2, ROOM(need, sizeof buf2), infos2, &n, &err));
  CHECK(n == load.ninfos && need == load.need && memcmp(buf, buf2, (size_t)need) == 0);
  CHECK(memcmp(infos, infos2, offsetof(ndf_load_info, shape) + sizeof shape) == 0);
}

static void test_series(void) {
  const char *one = file_of("one.ds", "x", "y", 1.5), *two = file_of("two.ds", "x", "y", 2.5);
  const char *other = file_of("other.ds", "w", "y", 3.5);
  OK(ndf_load_prepared(one, &load, &err));
  int64_t series = load.series;
  CHECK(series != 0 && load.ninfos == 2);
  OK(ndf_load_prepared(two, &load, &err));
  CHECK(load.series == series && holds("x", 2.5));
  OK(ndf_load_prepared(other, &load, &err));
  CHECK(load.series != series && holds("w", 3.5));
  load.name = "x";
  OK(ndf_load_prepared(one, &load, &err));
  CHECK(load.series != series && load.ninfos == 1 && holds("x", 1.5));
  load.name = NULL;

  /* a file whose places its header does not tell has none */
  const int64_t offsets[2] = {0, 2};
  const ndf_item item = {.struct_size = sizeof item, .name = "s", .dtype = "str", .data = "ab", .offsets = offsets};
  const char *text = in_folder(folder, "text.ds");
  OK(ndf_save(text, NULL, &item, 1, NULL, NULL, &err));
  OK(ndf_load_prepared(text, &load, &err));
  CHECK(load.series == 0 && infos[0].data_len == 2);

  /* a child of fork has layouts of its own */
  OK(ndf_load_prepared(one, &load, &err));
  series = load.series;
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    check_failures = 0;
    for (int i = 0; i < 100; i++) {
      OK(ndf_load_prepared(i % 2 == 0 ? other : one, &load, &err));
      CHECK(load.series != 0 && load.series != series);
    }
    _exit(check_failures != 0);
  }
  int status = -1;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

static void test_errors(void) {
  const char *one = file_of("one.ds", "x", "y", 1.5), *missing = in_folder(folder, "missing.ds");
  ndf_save_args save = {.struct_size = sizeof save, .nitems = 1};
  FAILS(NDF_ERR_ARGUMENT, "ndf_load_prepared: path is NULL", ndf_load_prepared(NULL, &load, &err));
  FAILS(NDF_ERR_ARGUMENT, "ndf_load_prepared: args is NULL", ndf_load_prepared(one, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "ndf_save_prepared: args is NULL", ndf_save_prepared(one, NULL, &err));
  FAILS(NDF_ERR_ARGUMENT, "n is 1", ndf_save_prepared(one, &save, &err));
  save.struct_size = 0;
  FAILS(NDF_ERR_ARGUMENT, "ndf_save_args: struct_size", ndf_save_prepared(one, &save, &err));

  /* errors leave args as it was */
  OK(ndf_load_prepared(one, &load, &err));
  ndf_load_args before = load;
  FAILS(NDF_ERR_NOT_FOUND, missing, ndf_load_prepared(missing, &load, &err));
  load.name = "no";
  FAILS(NDF_ERR_NAME, "no", ndf_load_prepared(one, &load, &err));
  load.name = NULL;
  CHECK(memcmp(&load, &before, sizeof load) == 0);

  /* but where there is no room */
  load.cap = 8;
  FAILS(NDF_ERR_BUFFER, "8 bytes", ndf_load_prepared(one, &load, &err));
  CHECK(load.need == before.need && load.ninfos == 2 && load.cap == 8 && load.series == 0);
  load.cap = sizeof buf;
  load.max_infos = 1;
  FAILS(NDF_ERR_BUFFER, "1 infos", ndf_load_prepared(one, &load, &err));
  CHECK(load.ninfos == 2);
  load.max_infos = -1;
  FAILS(NDF_ERR_ARGUMENT, "ninfos is -1", ndf_load_prepared(one, &load, &err));
  load.max_infos = 2;
}

/* Metadata with the elements and without, of a path and of an open file, as a whole and array by array. */
static void test_metadata(void) {
  const ndf_write_options direct = {.struct_size = sizeof direct, .commit = NDF_COMMIT_DIRECT};
  const ndf_item items[2] = {{.struct_size = sizeof *items, .name = "x", .dtype = ">f8", .ndim = 1, .shape = shape, .data = x,
                              .dims_json = "[\"t\"]", .attrs_json = "{\"units\": \"m\"}"},
                             {.struct_size = sizeof *items, .name = "y", .dtype = "<i4", .data = &y}};
  const char *path = in_folder(folder, "meta.ds");
  OK(ndf_save(path, NULL, items, 2, "{\"a\": 1}", &direct, &err));
  const char *all = "[{\"a\": 1}, {\"attrs\": {\"units\": \"m\"}, \"dims\": [\"t\"], \"dtype\": \">f8\"}, {\"attrs\": {}}]";
  ndf_load_args args = load;
  args.flags = NDF_LOAD_META;
  OK(ndf_load_prepared(path, &args, &err));
  CHECK(args.ninfos == 2 && args.narrays == 2 && args.meta_len == (int64_t)strlen(all));
  CHECK(strcmp(buf + args.meta_offset, all) == 0);
  CHECK(strncmp(buf + infos[0].dims_offset, "[\"t\"]", (size_t)infos[0].dims_len) == 0 && infos[0].dims_len == 5);
  CHECK(strncmp(buf + infos[0].attrs_offset, "{\"units\": \"m\"}", (size_t)infos[0].attrs_len) == 0);
  CHECK(infos[0].stored_len == 3 && memcmp(buf + infos[0].stored_offset, ">f8", 3) == 0);
  CHECK(infos[0].meta_len > 0 && buf[infos[0].meta_offset] == '{' && buf[infos[0].meta_offset + infos[0].meta_len - 1] == '}');
  CHECK(infos[1].dims_len == 0 && infos[1].stored_len == 0 && infos[1].data_len == 4);

  ndf_file f;
  OK(ndf_file_open(path, NULL, &f, &err));
  args.flags = NDF_LOAD_META | NDF_LOAD_BARE;
  OK(ndf_file_load(f, &args, &err));
  CHECK(args.ninfos == 2 && strcmp(buf + args.meta_offset, all) == 0 && infos[0].data_len == 0 && args.series == 0);
  args.flags = NDF_LOAD_NAMES;
  OK(ndf_file_load(f, &args, &err));
  CHECK(args.ninfos == 2 && strcmp(buf + infos[1].name_offset, "y") == 0);
  args.flags = NDF_LOAD_SOME;
  args.max_infos = 1;
  OK(ndf_file_load(f, &args, &err));
  CHECK(args.ninfos == 1 && args.narrays == 2 && strcmp(buf + infos[0].name_offset, "x") == 0);
  args.first = 1;
  OK(ndf_file_load(f, &args, &err));
  CHECK(args.ninfos == 1 && memcmp(buf + infos[0].data_offset, &y, sizeof y) == 0);
  args.first = 2;
  OK(ndf_file_load(f, &args, &err));
  CHECK(args.ninfos == 0);
  args.first = 0;
  args.cap = 4;
  FAILS(NDF_ERR_BUFFER, "4 bytes", ndf_file_load(f, &args, &err));
  CHECK(args.need > 4);
  args.flags = 64;
  FAILS(NDF_ERR_ARGUMENT, "unknown flags", ndf_file_load(f, &args, &err));
  args.flags = 0;
  args.first = -1;
  FAILS(NDF_ERR_ARGUMENT, "first is -1", ndf_file_load(f, &args, &err));
  OK(ndf_file_close(f, &err));
  FAILS(NDF_ERR_HANDLE, "closed already", ndf_file_load(f, &load, &err));
}

/* A file is opened with what is at hand of it. */
static void test_open_load(void) {
  const ndf_write_options direct = {.struct_size = sizeof direct, .commit = NDF_COMMIT_DIRECT};
  static double many[4000];
  const int64_t n = 4000;
  const ndf_item items[2] = {{.struct_size = sizeof *items, .name = "x", .dtype = "<f8", .ndim = 1, .shape = shape, .data = x},
                             {.struct_size = sizeof *items, .name = "y", .dtype = "<f8", .ndim = 1, .shape = &n, .data = many}};
  const char *small = in_folder(folder, "small.ds"), *large = in_folder(folder, "large.ds");
  OK(ndf_save(small, NULL, items, 1, "{\"a\": 1}", &direct, &err));
  OK(ndf_save(large, NULL, items, 2, NULL, &direct, &err));
  ndf_load_args args = load;
  args.flags = NDF_LOAD_META;
  ndf_file_info info = {.struct_size = sizeof info};
  ndf_file f, g;
  OK(ndf_file_open_load(small, NULL, &args, &info, &f, &err));
  CHECK(args.ninfos == 1 && args.narrays == 1 && info.narrays == 1 && strcmp(info.format, "ds") == 0 && args.series == 0);
  CHECK(strcmp(buf + args.meta_offset, "[{\"a\": 1}, {\"attrs\": {}}]") == 0);
  CHECK(infos[0].data_len == infos[0].count * 8 && memcmp(buf + infos[0].data_offset, x, (size_t)infos[0].data_len) == 0);
  args.flags = 0;
  OK(ndf_file_load(f, &args, &err));
  CHECK(args.ninfos == 1 && memcmp(buf + infos[0].data_offset, x, (size_t)infos[0].data_len) == 0);
  OK(ndf_file_close(f, &err));

  OK(ndf_file_open_load(large, NULL, &args, &info, &f, &err));
  CHECK(args.ninfos == 2 && infos[0].data_offset == -1 && infos[1].data_offset == -1 && infos[1].count == n);
  args.max_infos = 1;
  OK(ndf_file_open_load(large, NULL, &args, &info, &g, &err));
  CHECK(args.ninfos == 1 && info.narrays == 2);
  OK(ndf_file_close(g, &err));
  args.cap = 1;
  OK(ndf_file_open_load(large, NULL, &args, &info, &g, &err));
  CHECK(args.ninfos == 0 && info.narrays == 2);
  OK(ndf_file_close(g, &err));
  OK(ndf_file_close(f, &err));
  args.max_infos = -1;
  FAILS(NDF_ERR_ARGUMENT, "ninfos is -1", ndf_file_open_load(large, NULL, &args, &info, &f, &err));
  CHECK(f == 0);
  FAILS(NDF_ERR_NOT_FOUND, "none.ds", ndf_file_open_load(in_folder(folder, "none.ds"), NULL, &args, &info, &f, &err));
}

/* The structs of an older program, which end earlier, and of a newer one. */
static void test_sizes(void) {
  const char *one = file_of("one.ds", "x", "y", 1.5);
  ndf_load_args older = load;
  older.struct_size = offsetof(ndf_load_args, series);
  older.series = 0x55;
  OK(ndf_load_prepared(one, &older, &err));
  CHECK(older.ninfos == 2 && older.series == 0x55 && older.struct_size == offsetof(ndf_load_args, series));
  struct {
    ndf_load_args args;
    int64_t more;
  } newer = {load, 0};
  newer.args.struct_size = sizeof newer;
  OK(ndf_load_prepared(one, &newer.args, &err));
  CHECK(newer.args.ninfos == 2 && newer.more == 0 && newer.args.struct_size == sizeof newer);
  newer.more = 1; /* asks for what this library does not know */
  newer.args.ninfos = 7;
  FAILS(NDF_ERR_NOT_SUPPORTED, "ndf_load_args: byte 104 is not 0", ndf_load_prepared(one, &newer.args, &err));
  CHECK(newer.args.ninfos == 7 && newer.more == 1);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  infos[0].struct_size = sizeof infos[0];
  load = (ndf_load_args){.struct_size = sizeof load, .buf = buf, .cap = sizeof buf, .infos = infos, .max_infos = 2};
  test_again();
  test_series();
  test_errors();
  test_metadata();
  test_open_load();
  test_sizes();
  return check_result("prepared");
}
