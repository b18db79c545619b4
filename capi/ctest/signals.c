/* The program's signal handlers stay its own: those from before the library was loaded, and those from after it.
 * Usage: signals FOLDER */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

static sigjmp_buf back;
static volatile sig_atomic_t faults, interrupts;

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info, (void)context;
  faults++;
  siglongjmp(back, 1);
}

static void on_interrupt(int signal) {
  (void)signal;
  interrupts++;
}

static void install(void) {
  struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  struct sigaction interrupt = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART | SA_ONSTACK};
  CHECK(sigaction(SIGSEGV, &fault, NULL) == 0 && sigaction(SIGINT, &interrupt, NULL) == 0);
}

/* Both handlers run. */
static void expect_ours(void) {
  volatile int faults_before = faults, interrupts_before = interrupts;
  volatile char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sigsetjmp(back, 1) == 0) *none = 1;
  CHECK(faults == faults_before + 1);
  raise(SIGINT);
  kill(getpid(), SIGINT);
  for (int i = 0; i < 1000 && interrupts < interrupts_before + 2; i++) usleep(1000);
  CHECK(interrupts == interrupts_before + 2);
}

/* The library is loaded here and not by the program's start, to come after the first handlers. */
static int32_t (*load_file)(const char *, const char *, void *, int64_t *, ndf_load_info *, int64_t *, ndf_error *);
static int32_t (*save_file)(const char *, const char *, const ndf_item *, int64_t, const char *, const ndf_write_options *, ndf_error *);

static void use(const char *path) {
  ndf_error err;
  double x = 5, buf[32];
  int64_t need, n = 1;
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .data = &x};
  ndf_load_info info = {.struct_size = sizeof info};
  CHECK(save_file(path, NULL, &item, 1, NULL, NULL, &err) == NDF_OK);
  CHECK(load_file(path, "x", buf, ROOM(need, sizeof buf), &info, &n, &err) == NDF_OK);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const char *path = in_folder(argv[1], "signals.ds");
  install();
  expect_ours();
  void *library = dlopen(argv[2], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "signals: %s\n", dlerror());
    return 1;
  }
  *(void **)&load_file = dlsym(library, "ndf_load");
  *(void **)&save_file = dlsym(library, "ndf_save");
  expect_ours();
  for (int i = 0; i < 100; i++) use(path);
  expect_ours(); /* Go hands on what it does not cause */
  install();
  expect_ours();
  for (int i = 0; i < 100; i++) use(path);
  expect_ours(); /* and does not take handlers back */
  struct sigaction now;
  CHECK(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == on_fault);
  CHECK(sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == on_interrupt);
  if (check_failures > 0) {
    fprintf(stderr, "signals: %d checks failed\n", check_failures);
    return 1;
  }
  puts("signals: ok");
  return 0;
}
