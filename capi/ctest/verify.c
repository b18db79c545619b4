/* Checking and repairing. Usage: verify FOLDER */
#include "check.h"

static ndf_error err;

static const int64_t rows = 12;

/* A carray or table of 12 rows in chunks of 4. */
static void add(ndf_file f, const char *name) {
  int32_t values[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  ndf_array_spec spec = {.struct_size = sizeof spec, .ndim = 1, .dtype = "<i4", .shape = &rows, .chunks = (int64_t[]){4}};
  ndf_array a = 0;
  OK(ndf_file_add(f, name, &spec, &a, &err));
  OK(ndf_array_write(a, 1, NULL, NULL, NULL, NULL, values, NULL, NULL, &err));
  OK(ndf_array_close(a, &err));
}

static void make(const char *path) {
  ndf_file f = 0;
  OK(ndf_file_create(path, "bcolz", NULL, NULL, &f, &err));
  add(f, "a");
  add(f, "b");
  OK(ndf_file_close(f, &err));
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* What was reported. */
struct seen {
  int n, stop_after, harmless, repairable, repaired;
  ndf_problem last;
  char path[512], array[64], message[512];
};

static int32_t on_problem(void *user, const ndf_problem *p) {
  struct seen *s = user;
  CHECK(p->struct_size == sizeof *p && p->path != NULL && p->message != NULL && p->message[0] != 0 &&
        p->problem_class <= NDF_PROBLEM_FOREIGN);
  s->n++;
  s->last = *p;
  s->harmless += p->code == NDF_ERR_VALUE;
  s->repairable += p->repair != NULL;
  s->repaired += p->repaired == 1;
  snprintf(s->path, sizeof s->path, "%s", p->path);
  snprintf(s->array, sizeof s->array, "%s", p->array ? p->array : "(none)");
  snprintf(s->message, sizeof s->message, "%s", p->message);
  return s->n == s->stop_after;
}

static struct seen verify(const char *path, const ndf_verify_options *options, int want) {
  struct seen s;
  memset(&s, 0, sizeof s);
  int64_t n = -1;
  OK(ndf_verify(path, options, on_problem, &s, &n, &err));
  CHECK(n == s.n);
  if (n != want) {
    check_failures++;
    fprintf(stderr, "%s: %d problems, expected %d; the last: %s: %s\n", path, (int)n, want, s.path, s.message);
  }
  n = -1;
  if (options == NULL) OK(ndf_verify(path, NULL, NULL, NULL, &n, &err)); /* counting only */
  if (options == NULL) CHECK(n == want);
  return s;
}

/* Notes the progress; cancels at a step. */
struct steps {
  int calls;
  int64_t done, total, cancel_at;
};

static int32_t on_progress(void *user, int64_t done, int64_t total) {
  struct steps *s = user;
  CHECK(done >= s->done && done <= total);
  s->calls++;
  s->done = done, s->total = total;
  return s->cancel_at >= 0 && done >= s->cancel_at;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const char *path = in_folder(argv[1], "store.bcolz");
  make(path);
  verify(path, NULL, 0);
  struct steps steps = {.cancel_at = -1};
  ndf_verify_options options = {.struct_size = sizeof options, .format = "bcolz", .progress = on_progress, .user = &steps};
  verify(path, &options, 0);
  CHECK(steps.calls > 0 && steps.total > 0 && steps.done == steps.total);
  steps = (struct steps){.cancel_at = 0};
  int64_t n = -1;
  FAILS(NDF_ERR_CANCELED, path, ndf_verify(path, &options, NULL, NULL, &n, &err));
  options.progress = NULL;

  /* two damaged chunks */
  write_file(in_folder(path, "a/data/__0.blp"), "nonsense");
  write_file(in_folder(path, "b/data/__1.blp"), "nonsense");
  struct seen s = verify(path, NULL, 2);
  CHECK(s.last.code == NDF_ERR_CORRUPT && strcmp(s.array, "b") == 0 && strstr(s.path, "b/data/__1.blp") != NULL);
  CHECK(s.repairable == 0);
  memset(&s, 0, sizeof s);
  s.stop_after = 1;
  FAILS(NDF_ERR_CANCELED, path, ndf_verify(path, NULL, on_problem, &s, &n, &err));
  CHECK(s.n == 1 && n >= 1);

  /* a repair removes what is left over, and says so */
  const char *other = in_folder(argv[1], "stale.bcolz");
  make(other);
  write_file(in_folder(other, "a/data/__9.blp"), "of an earlier time");
  s = verify(other, NULL, 1);
  CHECK(s.harmless == 1 && s.repairable == 1 && s.repaired == 0);
  options.repair = 1;
  s = verify(other, &options, 1);
  CHECK(s.repaired == 1);
  verify(other, NULL, 0);

  /* formats that are only read */
  const char *ds = in_folder(argv[1], "x.ds");
  double x[2] = {1, 2};
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .ndim = 1, .shape = (int64_t[]){2}, .data = x};
  OK(ndf_save(ds, NULL, &item, 1, NULL, NULL, &err));
  verify(ds, NULL, 0);
  FILE *file = fopen(ds, "r+b");
  CHECK(file != NULL && fputs("ds-1.0\n{\"x\": nonsense", file) >= 0 && fclose(file) == 0);
  s = verify(ds, NULL, 1);
  CHECK(s.last.code == NDF_ERR_CORRUPT && strcmp(s.path, ds) == 0);

  FAILS(NDF_ERR_NOT_FOUND, "no-such", ndf_verify(in_folder(argv[1], "no-such"), NULL, NULL, NULL, &n, &err));
  CHECK(n == 0);
  FAILS(NDF_ERR_ARGUMENT, "path is NULL", ndf_verify(NULL, NULL, NULL, NULL, &n, &err));
  FAILS(NDF_ERR_ARGUMENT, "nproblems is NULL", ndf_verify(ds, NULL, NULL, NULL, NULL, &err));
  options.format = "nonsense";
  FAILS(NDF_ERR_FORMAT, "nonsense", ndf_verify(ds, &options, NULL, NULL, &n, &err));
  options.max_header = -1;
  FAILS(NDF_ERR_ARGUMENT, "max_header is -1", ndf_verify(ds, &options, NULL, NULL, &n, &err));
  return check_result("verify");
}
