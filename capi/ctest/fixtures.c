/* Prints what files and folders hold, in a form that is easy to compare. Usage: fixtures PATH...
 *
 *   file PATH
 *   array NAME-IN-HEX DTYPE SHAPE MASKED
 *   ELEMENT...        the bytes of each element in native byte order, in hex; "-" where it is missing
 *   huge NAME-IN-HEX DTYPE SHAPE     an array of 1 GiB or more, whose elements are not printed
 *   nodata NAME-IN-HEX
 *   error STATUS MESSAGE
 *
 * Every array is read through handles and by ndf_load; the two must agree. */
#include "check.h"

static ndf_error err;

static const int64_t huge = 1 << 30;

static void *allocate(int64_t n) {
  void *p = n >= 0 && n < huge + 64 ? malloc((size_t)n + 1) : NULL;
  if (p == NULL) abort();
  return p;
}

static void print_hex(const char *bytes, int64_t n) {
  for (int64_t i = 0; i < n; i++) printf("%02x", (unsigned char)bytes[i]);
}

static int32_t fail(int32_t status) {
  printf("error %s %s\n", ndf_status_name(status), err.message);
  return status;
}

/* The elements of one array as handles give them. */
struct elements {
  char *data;
  int64_t size; /* bytes of data */
  int64_t *offsets;
  uint8_t *mask;
};

static int32_t read_elements(ndf_array a, const ndf_array_info *info, struct elements *e) {
  e->mask = allocate(info->count);
  if (info->flags & NDF_ARRAY_STRINGS) {
    e->offsets = allocate((info->count + 1) * 8);
    int32_t status = ndf_array_read_strings(a, info->ndim, NULL, NULL, NULL, e->offsets, NULL, ROOM(e->size, 0), e->mask, &err);
    if (status != NDF_OK && status != NDF_ERR_BUFFER) return status;
    e->data = allocate(e->size);
    return ndf_array_read_strings(a, info->ndim, NULL, NULL, NULL, e->offsets, e->data, &e->size, e->mask, &err);
  }
  e->size = info->count * info->itemsize;
  e->data = allocate(e->size);
  return ndf_array_read(a, info->ndim, NULL, NULL, NULL, NULL, e->data, NULL, e->mask, &err);
}

/* The bytes that an array takes, by ndf_load: it has looked at the file, so they can be allocated. */
static int32_t measure(const char *path, const char *name, int64_t *need) {
  ndf_load_info loaded = {.struct_size = sizeof loaded};
  int64_t n = 1;
  *need = 0;
  return ndf_load(path, name, NULL, need, &loaded, &n, &err);
}

/* ndf_load of the same array gives the same. */
static void check_load(const char *path, const char *name, int64_t need, const ndf_array_info *info, const struct elements *e) {
  ndf_load_info loaded = {.struct_size = sizeof loaded};
  int64_t n = 1;
  char *buf = allocate(need);
  OK(ndf_load(path, name, buf, &need, &loaded, &n, &err));
  CHECK(n == 1 && loaded.ndim == info->ndim && loaded.count == info->count);
  CHECK(loaded.flags == (info->flags & ~(uint32_t)(NDF_ARRAY_CHUNKED | NDF_ARRAY_FILL)));
  CHECK(memcmp(loaded.shape, info->shape, (size_t)info->ndim * 8) == 0);
  CHECK(strcmp(buf + loaded.name_offset, name) == 0);
  CHECK(loaded.data_len == e->size && memcmp(buf + loaded.data_offset, e->data, (size_t)e->size) == 0);
  CHECK((loaded.mask_offset >= 0) == ((info->flags & NDF_ARRAY_MASKED) != 0));
  CHECK((loaded.offsets_offset >= 0) == (e->offsets != NULL));
  if (loaded.mask_offset >= 0) CHECK(memcmp(buf + loaded.mask_offset, e->mask, (size_t)info->count) == 0);
  if (e->offsets != NULL) CHECK(memcmp(buf + loaded.offsets_offset, e->offsets, (size_t)(info->count + 1) * 8) == 0);
  free(buf);
}

/* Prints name, dtype and shape of an array. */
static void print_head(const char *kind, const char *name, ndf_array a, const ndf_array_info *info) {
  int64_t len = 0;
  CHECK(ndf_array_get_dtype(a, NULL, &len, &err) == NDF_ERR_BUFFER);
  char *dtype = allocate(len);
  OK(ndf_array_get_dtype(a, dtype, &len, &err));
  printf("%s ", kind);
  print_hex(name, (int64_t)strlen(name));
  printf(" %s (", dtype);
  for (int32_t i = 0; i < info->ndim; i++) printf("%s%lld", i ? "," : "", (long long)info->shape[i]);
  printf(")");
  free(dtype);
}

static int32_t dump_array(const char *path, ndf_file f, int64_t index) {
  ndf_array a = 0;
  char *name;
  int64_t len = 0;
  int32_t status = ndf_file_get_name(f, index, NULL, &len, &err);
  if (status != NDF_ERR_BUFFER) return fail(status);
  name = allocate(len);
  OK(ndf_file_get_name(f, index, name, &len, &err));
  if ((status = ndf_file_array(f, name, &a, &err)) != NDF_OK) return fail(status);
  ndf_array_info info = {.struct_size = sizeof info};
  OK(ndf_array_get_info(a, &info, &err));
  if (info.flags & NDF_ARRAY_NO_DATA) {
    FAILS(NDF_ERR_NO_DATA, path, ndf_array_read(a, info.ndim, NULL, NULL, NULL, NULL, name, NULL, NULL, &err));
    printf("nodata ");
    print_hex(name, len);
    printf("\n");
  } else {
    struct elements e = {0};
    int64_t need = 0;
    status = measure(path, name, &need);
    int is_huge = status == NDF_ERR_BUFFER && need >= huge;
    if (status == NDF_ERR_BUFFER) status = is_huge ? NDF_OK : read_elements(a, &info, &e);
    if (status != NDF_OK) {
      fail(status);
    } else if (is_huge) {
      print_head("huge", name, a, &info);
      printf("\n");
    } else {
      print_head("array", name, a, &info);
      printf(" %s\n", info.flags & NDF_ARRAY_MASKED ? "masked" : "plain");
      for (int64_t i = 0; i < info.count; i++) {
        int64_t from = e.offsets ? e.offsets[i] : i * info.itemsize, to = e.offsets ? e.offsets[i + 1] : from + info.itemsize;
        if (e.mask[i])
          printf("-");
        else
          print_hex(e.data + from, to - from);
        printf("\n");
      }
      check_load(path, name, need, &info, &e);
    }
    free(e.data), free(e.offsets), free(e.mask);
  }
  OK(ndf_array_close(a, &err));
  free(name);
  return status;
}

static int32_t dump(const char *path) {
  ndf_file f;
  ndf_file_info info = {.struct_size = sizeof info};
  printf("file %s\n", path);
  int32_t status = ndf_file_open(path, NULL, &f, &err);
  if (status != NDF_OK) return fail(status);
  OK(ndf_file_get_info(f, &info, &err));
  for (int64_t i = 0; i < info.narrays && status == NDF_OK; i++) status = dump_array(path, f, i);
  err.code = NDF_OK;
  OK(ndf_file_close(f, &err));
  return status;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) dump(argv[i]);
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
  CHECK(open == 0);
  return check_failures > 0;
}
