/* Two copies of the library in one process, each with a Go runtime, handles and forks of its own; unloading does
 * nothing. Usage: two_copies FOLDER */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static ndf_error err;

typedef struct {
  void *handle;
  int32_t (*save)(const char *, const char *, const ndf_item *, int64_t, const char *, const ndf_write_options *, ndf_error *);
  int32_t (*open)(const char *, const ndf_open_options *, ndf_file *, ndf_error *);
  int32_t (*close)(ndf_file, ndf_error *);
  int32_t (*count)(int64_t *, ndf_error *);
} library;

static library load(const char *path) {
  library l = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
  if (l.handle == NULL) {
    fprintf(stderr, "two_copies: %s\n", dlerror());
    exit(1);
  }
  *(void **)&l.save = dlsym(l.handle, "ndf_save");
  *(void **)&l.open = dlsym(l.handle, "ndf_file_open");
  *(void **)&l.close = dlsym(l.handle, "ndf_file_close");
  *(void **)&l.count = dlsym(l.handle, "ndf_handle_count");
  return l;
}

static void copy_file(const char *from, const char *to) {
  char buf[1 << 16];
  size_t n;
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  if (in == NULL || out == NULL) exit(1);
  while ((n = fread(buf, 1, sizeof buf, in)) > 0) CHECK(fwrite(buf, 1, n, out) == n);
  fclose(in);
  CHECK(fclose(out) == 0);
}

/* Opens a file by one copy and expects that the other has nothing open. */
static void use(library *l, library *other, const char *path) {
  ndf_file f = 0;
  int64_t n = -1;
  double x = 5;
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .data = &x};
  OK(l->save(path, NULL, &item, 1, NULL, NULL, &err));
  OK(l->open(path, NULL, &f, &err));
  OK(l->count(&n, &err));
  CHECK(n == 1);
  OK(other->count(&n, &err));
  CHECK(n == 0);
  OK(l->close(f, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  Dl_info own;
  const char *(*version)(void) = ndf_version;
  if (dladdr(*(void **)&version, &own) == 0) return 2;
  const char *second = in_folder(argv[1], "second.so"), *path = in_folder(argv[1], "two.ds");
  copy_file(own.dli_fname, second);
  library a = load(own.dli_fname), b = load(second);
  CHECK(a.save != b.save);
  use(&a, &b, path);
  use(&b, &a, path);

  CHECK(dlclose(b.handle) == 0);
  use(&b, &a, path); /* it stays */
  CHECK(remove(second) == 0);
  use(&b, &a, path);

  /* The file of the second is gone, but not for a child. */
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    use(&a, &b, path);
    use(&b, &a, path);
    _exit(check_failures != 0);
  }
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return check_result("two_copies");
}
